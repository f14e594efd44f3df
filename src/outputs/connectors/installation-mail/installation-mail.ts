// Mail of the installation: sends what a delivery contains; one global connector exists from the start (contract 39).
import type { MailFile } from '../../../model/mail.ts';
import type { ConnectorType } from '../connector-type.ts';
import { isPermanentRejection } from '../mail/mail.ts';
import { attempt, PermanentRefusal } from '../send-failure.ts';

export const installationMail: ConnectorType<never> = {
  vendorName: null,
  properties: null,
  defaultScope: 'RULE_ACTION',
  defaultSendConsecutiveAlerts: false,
  needsJsonPayload: false,
  missingSetting: ({ mails }) => ('missingSetting' in mails ? mails.missingSetting : undefined),
  check: () => {},
  checkRecord: () => {},
  open(_properties, { mails, mailContent }) {
    if ('missingSetting' in mails) throw new Error(`${mails.missingSetting} is not set`);
    return {
      async send({ deliveryId: id, context: { mail } }, signal) {
        if (mail === undefined)
          return { ok: false, retry: false, reason: 'the delivery contains no mail' };
        const { to, subject, text, html, contentId, unsubscribe } = mail;
        const send = async () => {
          const [body, ...files] = contentId === undefined ? [] : await mailContent(contentId);
          if (contentId !== undefined && body === undefined)
            throw new PermanentRefusal('The content of this mail is no longer kept');
          return mails.send({
            id,
            to,
            subject,
            text,
            html: html ?? htmlOf(body),
            files,
            unsubscribe,
          });
        };
        const outcome = await attempt(signal, send, isPermanentRejection);
        return { ...outcome, sent: `To: ${to.join(', ')}\nSubject: ${subject}\n\n${text}` };
      },
      close: async () => {},
    };
  },
};

function htmlOf(body: MailFile | undefined): string | undefined {
  return body && Buffer.from(body.content).toString('utf8');
}
