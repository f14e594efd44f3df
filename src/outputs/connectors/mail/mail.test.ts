// Mail against an SMTP server: what arrives, and what the server rejects.
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterEach, expect, test } from 'vitest';
import { closeTargets, message, targetOf, trySend } from '../testing-targets.ts';
import { mail } from './mail.ts';
import { MailSender } from './mail-sender.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  await closeTargets();
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
const sample = message('delivery-1', { data: { t: 21.5 } });

test('mail: subject, body and recipients reach the server; a permanent rejection is not retried', async () => {
  const mails: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: ({ address }, _, done) =>
      done(
        address.startsWith('bad')
          ? Object.assign(new Error('no such user'), { responseCode: 550 })
          : null,
      ),
    onData(stream, _, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        mails.push(Buffer.concat(chunks).toString());
        done();
      });
    },
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => new Promise<void>((resolve) => server.close(resolve)));
  const { port } = server.server.address() as AddressInfo;
  const sender = new MailSender({ smtpUrl: `smtp://127.0.0.1:${port}`, from: 'h@example.org' });
  cleanups.push(() => sender.close());
  const properties = {
    subjectTemplate: 'Hot in {{device.name}}',
    messageTemplate: '{{data.t}} degrees',
    recipients: ['a@example.org'],
  };
  const bad = { ...properties, recipients: ['bad@example.org'] };
  expect(
    await trySend(targetOf(mail, properties, undefined, { mails: sender }), sample),
  ).toMatchObject({
    ok: true,
    sent: 'Subject: Hot in Kitchen\n\n21.5 degrees',
  });
  expect(mails[0]).toMatch(/^X-Delivery-ID: delivery-1\r\n/i);
  expect(mails[0]).toContain('Subject: Hot in Kitchen');
  expect(mails[0]).toContain('21.5 degrees');
  expect(await trySend(targetOf(mail, bad, undefined, { mails: sender }), sample)).toMatchObject({
    ok: false,
    retry: false,
  });
});
