// Mail sender: sends mail through the SMTP server of the operator (`SMTP_URL`, `MAIL_FROM`).
import type { Transporter } from 'nodemailer';
import type { MailFile } from '../../../model/mail.ts';

const mailLimits = {
  connectionsMax: 4,
  timeoutMs: 9_000,
} as const;

/** Names the environment variable without which no mail can be sent. */
export interface MissingMailSetting {
  readonly missingSetting: string;
}

/** Creates a mail sender, or names the setting that it needs. */
export function createConfiguredMails({
  smtpUrl,
  mailFrom,
}: {
  readonly smtpUrl: string | undefined;
  readonly mailFrom: string | undefined;
}): MailSender | MissingMailSetting {
  if (smtpUrl === undefined) return { missingSetting: 'SMTP_URL' };
  if (mailFrom === undefined) return { missingSetting: 'MAIL_FROM' };
  return new MailSender({ smtpUrl, from: mailFrom });
}

/** Connects when the first mail is sent. `from` is the address of the sender. */
export class MailSender {
  readonly #smtpUrl: string;
  readonly #from: string;
  readonly #domain: string;
  #transport: Promise<Transporter> | undefined;

  constructor({
    smtpUrl,
    from,
  }: {
    readonly smtpUrl: string;
    readonly from: string;
  }) {
    this.#smtpUrl = smtpUrl;
    this.#from = from;
    this.#domain = domainOf(from);
  }

  readonly close = async (): Promise<void> => {
    const opened = await this.#transport?.catch(() => undefined);
    opened?.close();
  };

  /** Resolves with the answer of the server. Rejects with its rejection or with a network error. */
  async send({
    id,
    to,
    subject,
    text,
    html,
    files = [],
    unsubscribe,
  }: {
    /** The same for every attempt, so that servers and readers can recognize a repeated mail. */
    readonly id: string;
    readonly to: readonly string[];
    readonly subject: string;
    /** At least one of both bodies. */
    readonly text?: string | undefined;
    readonly html?: string | undefined;
    readonly files?: readonly MailFile[];
    /** Address that takes a POST of mail readers (RFC 8058). */
    readonly unsubscribe?: string | undefined;
  }): Promise<string> {
    this.#transport ??= openTransport(this.#smtpUrl);
    const opened = await this.#transport;
    const info = (await opened.sendMail({
      from: this.#from,
      to: [...to],
      subject: subject.replaceAll(/\p{Cc}+/gu, ' '),
      ...(text !== undefined && { text }),
      ...(html !== undefined && { html }),
      messageId: `<${id}@${this.#domain}>`,
      headers: {
        'X-Delivery-Id': id,
        ...(unsubscribe !== undefined && {
          'List-Unsubscribe': `<${unsubscribe}>`,
          'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
        }),
      },
      attachments: files.map(attachmentOf),
    })) as { readonly response?: string };
    return info.response ?? 'accepted';
  }
}

/** Pictures of the body are in line with it, so that readers load nothing. */
function attachmentOf({ name, contentType, cid, content }: MailFile) {
  const shown = cid === null ? {} : { cid, contentDisposition: 'inline' as const };
  return { filename: name, contentType, content: Buffer.from(content), ...shown };
}

function domainOf(address: string): string {
  const domain = address.split('@').at(-1) ?? '';
  return domain.replaceAll(/[^\w.-]/g, '') || 'localhost';
}

async function openTransport(url: string): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  const { timeoutMs, connectionsMax } = mailLimits;
  return createTransport({
    url,
    pool: true,
    maxConnections: connectionsMax,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    // A mail must not name files or addresses for the server to fetch.
    disableFileAccess: true,
    disableUrlAccess: true,
  } as never);
}
