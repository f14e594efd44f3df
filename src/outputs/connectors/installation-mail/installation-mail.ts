// Mail of the installation: sends what a delivery contains; one global connector exists from the start (contract 39).
import type { ConnectorType } from '../connector-type.ts';
import { isPermanentRejection } from '../mail/mail.ts';
import { attempt } from '../send-failure.ts';

export const installationMail: ConnectorType<never> = {
  vendorName: null,
  properties: null,
  defaultScope: 'RULE_ACTION',
  defaultSendConsecutiveAlerts: false,
  needsJsonPayload: false,
  missingSetting: ({ mails }) => ('missingSetting' in mails ? mails.missingSetting : undefined),
  check: () => {},
  checkRecord: () => {},
  open(_properties, { mails }) {
    if ('missingSetting' in mails) throw new Error(`${mails.missingSetting} is not set`);
    return {
      async send({ deliveryId: id, context: { mail } }, signal) {
        if (mail === undefined)
          return { ok: false, retry: false, reason: 'the delivery contains no mail' };
        const outcome = await attempt(
          signal,
          () => mails.send({ id, ...mail }),
          isPermanentRejection,
        );
        const { to, subject, text } = mail;
        return { ...outcome, sent: `To: ${to.join(', ')}\nSubject: ${subject}\n\n${text}` };
      },
      close: async () => {},
    };
  },
};
