// Output by mail: subject and text are templates (contract 9).
import type { MailProperties } from '../../model/message-properties.ts';
import { renderTemplate } from '../../templates/render-template.ts';
import { parseTemplate } from '../../templates/template.ts';
import type { OutboundConnector } from '../target.ts';
import type { MailSender } from './mail-sender.ts';
import { attempt } from '../send-failure.ts';

const where = 'body mailProperties';

/** The server's address is the operator's, so the guard is not asked. */
export function mailConnector(mails: MailSender): OutboundConnector {
  return {
    type: 'MAIL',
    check(properties) {
      const { subjectTemplate, messageTemplate } = properties as unknown as MailProperties;
      parseTemplate(subjectTemplate, 'text', `${where}.subjectTemplate`);
      parseTemplate(messageTemplate, placeOf(messageTemplate), `${where}.messageTemplate`);
    },
    open(properties) {
      const mail = properties as unknown as MailProperties;
      const subject = parseTemplate(mail.subjectTemplate, 'text');
      const text = parseTemplate(mail.messageTemplate, placeOf(mail.messageTemplate));
      const isHtml = placeOf(mail.messageTemplate) === 'html';
      return {
        async send({ deliveryId, context }, signal) {
          const filled = {
            subject: renderTemplate(subject, context),
            text: renderTemplate(text, context),
          };
          const sent = `Subject: ${filled.subject}\n\n${filled.text}`;
          const send = () => mails.send({ id: deliveryId, to: mail.recipients, ...filled, isHtml });
          return { ...(await attempt(signal, send, isRefusal)), sent };
        },
        close: async () => {},
      };
    },
  };
}

/** In HTML a value is text and never markup: what a device sends must not become a link in an alert. */
function placeOf(messageTemplate: string): 'html' | 'text' {
  return /^\s*<(!|[a-z][\w-]*[\s/>])/i.test(messageTemplate) ? 'html' : 'text';
}

/** The server refused this mail, not us and not for now: 5xx after the sender or the recipients were named. */
function isRefusal(error: unknown): boolean {
  const { responseCode, command } = error as { responseCode?: number; command?: string };
  return (responseCode ?? 0) >= 500 && ['MAIL FROM', 'RCPT TO', 'DATA'].includes(command ?? '');
}
