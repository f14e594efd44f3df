// Sends mail through the operator's SMTP server (`SMTP_URL`, `MAIL_FROM`).
import type { Transporter } from 'nodemailer';

const mailLimits = {
  connectionsMax: 4,
  timeoutMs: 9_000,
} as const;

export interface Mail {
  /** Makes repetitions one mail for servers and readers that look at it. */
  readonly id: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** The text is HTML. */
  readonly isHtml?: boolean;
}

export interface MailSender {
  /** Resolves with what the server answered; rejects with its refusal or the network's error. */
  send(mail: Mail): Promise<string>;
  close(): Promise<void>;
}

/** Opens connections when the first mail is sent. */
export function createMailSender({
  smtpUrl,
  from,
}: {
  readonly smtpUrl: string;
  readonly from: string;
}): MailSender {
  let transport: Promise<Transporter> | undefined;

  async function opened(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer');
    const { timeoutMs, connectionsMax } = mailLimits;
    return createTransport({
      url: smtpUrl,
      pool: true,
      maxConnections: connectionsMax,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      // A text must not name files or addresses for the server to fetch.
      disableFileAccess: true,
      disableUrlAccess: true,
    } as never);
  }

  return {
    async send({ id, to, subject, text, isHtml = false }) {
      transport ??= opened();
      const domain =
        from
          .split('@')
          .at(-1)
          ?.replace(/[^\w.-]/g, '') || 'localhost';
      const info = (await (
        await transport
      ).sendMail({
        from,
        to: [...to],
        subject: subject.replaceAll(/[\r\n]+/g, ' '),
        ...(isHtml ? { html: text } : { text }),
        messageId: `<${id}@${domain}>`,
        headers: { 'X-Delivery-Id': id },
      })) as { readonly response?: string };
      return info.response ?? 'accepted';
    },
    async close() {
      const open = await transport?.catch(() => undefined);
      open?.close();
    },
  };
}
