// Mail: subject and body are templates, sent through the SMTP server of the operator (contract 9).
import Type from 'typebox';
import { isMailAddress } from '../../../model/mail.ts';
import { parseTemplate, renderTemplate, type TemplatePlace } from '../../templates/template.ts';
import { connectorType } from '../connector-type.ts';
import { anyText, type PropertyReader, text } from '../properties.ts';
import { attempt } from '../send-failure.ts';
import type { Target } from '../target.ts';
import type { MailSender } from './mail-sender.ts';

const recipientsMax = 50;

type MailProperties = {
  readonly subjectTemplate: string;
  readonly messageTemplate: string;
  readonly recipients: readonly string[];
};

export const mail = connectorType({
  vendorName: 'MAIL',
  propertiesKey: 'mailProperties',
  properties: {
    subjectTemplate: text('Template of the subject.'),
    messageTemplate: text('Template of the body.'),
    recipients: Type.Array(anyText, { minItems: 1, maxItems: recipientsMax }),
  },
  secrets: [],
  missingSetting: ({ mails }) => ('missingSetting' in mails ? mails.missingSetting : undefined),
  parse(sent): MailProperties {
    const recipients = parseRecipients(sent);
    return {
      subjectTemplate: sent.needed('subjectTemplate'),
      messageTemplate: sent.needed('messageTemplate'),
      recipients,
    };
  },
  check({ subjectTemplate, messageTemplate }, checks) {
    checks.template('subjectTemplate', subjectTemplate);
    checks.template('messageTemplate', messageTemplate, textKind(messageTemplate));
  },
  open(properties, { mails }) {
    if ('missingSetting' in mails) throw new Error(`${mails.missingSetting} is not set`);
    return createMailTarget(properties, mails);
  },
});

function parseRecipients(sent: PropertyReader<'recipients'>): readonly string[] {
  return sent.list('recipients', recipientsMax).map((recipient, i) => {
    if (typeof recipient === 'string' && isMailAddress(recipient)) return recipient;
    return sent.refuse(`recipients.${i}`, 'must be an email address');
  });
}

/** The egress guard does not check the server, because its address comes from the operator. */
function createMailTarget(properties: MailProperties, mails: MailSender): Target {
  const { subjectTemplate, messageTemplate, recipients: to } = properties;
  const kind = textKind(messageTemplate);
  const subjectOf = parseTemplate(subjectTemplate, 'text');
  const textOf = parseTemplate(messageTemplate, kind);
  return {
    async send({ deliveryId: id, context }, signal) {
      const subject = renderTemplate(subjectOf, context);
      const text = renderTemplate(textOf, context);
      const body = kind === 'html' ? { html: text } : { text };
      const send = () => mails.send({ id, to, subject, ...body });
      const outcome = await attempt(signal, send, isPermanentRejection);
      return { ...outcome, sent: `Subject: ${subject}\n\n${text}` };
    },
    close: async () => {},
  };
}

/** In HTML, values are escaped, so that what a device sends cannot become a link in an alert. */
function textKind(messageTemplate: string): TemplatePlace {
  return /^\s*<(!|[a-z][\w-]*[\s/>])/i.test(messageTemplate) ? 'html' : 'text';
}

/**
 * Whether the server rejected this mail permanently: 5xx after the sender or the recipients were
 * named.
 */
export function isPermanentRejection(error: unknown): boolean {
  const { responseCode = 0, command = '' } = error as { responseCode?: number; command?: string };
  return responseCode >= 500 && ['MAIL FROM', 'RCPT TO', 'DATA'].includes(command);
}
