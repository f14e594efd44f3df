// Mail box: a real mail server for tests, and the received mails.
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { expect } from 'vitest';

export interface Mail {
  readonly to: string;
  readonly text: string;
  /** As it was sent. */
  readonly raw: string;
}

export interface MailBox {
  readonly mails: Mail[];
  /** Addresses that the server refuses for good. */
  readonly refused: Set<string>;
  readonly url: string;
  /** Resolves with the newest mail to the address, `beyond` this number of earlier ones. */
  newest(address: string, beyond?: number): Promise<Mail>;
  close(): Promise<void>;
}

export async function openMailBox(): Promise<MailBox> {
  const mails: Mail[] = [];
  const refused = new Set<string>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo({ address }, _session, done) {
      if (!refused.has(address)) return done();
      done(Object.assign(new Error('No such mailbox'), { responseCode: 550 }));
    },
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        // Long lines are folded by a sign of equality at their end.
        const raw = Buffer.concat(chunks).toString();
        const text = raw.replaceAll('=\r\n', '').replaceAll('=3D', '=').replaceAll('\r', '');
        mails.push({ to: envelope.rcptTo.map(({ address }) => address).join(), text, raw });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  const of = (address: string) => mails.filter(({ to }) => to === address);
  return {
    mails,
    refused,
    url: `smtp://127.0.0.1:${port}`,
    async newest(address, beyond = 0) {
      await expect.poll(() => of(address).length, { timeout: 60_000 }).toBeGreaterThan(beyond);
      return of(address).at(-1)!;
    },
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  };
}
