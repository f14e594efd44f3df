// Connectors that send messages against real receivers: webhooks in every mood, an SMTP sink, an SMS gateway.
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SMTPServer } from 'smtp-server';
import { afterEach, expect, test } from 'vitest';
import type { ConnectorServices } from '../../src/connectors/connector-services.ts';
import type { ConnectorType } from '../../src/connectors/connector-type.ts';
import { mail } from '../../src/connectors/mail/mail.ts';
import { createMailSender } from '../../src/connectors/mail/mail-sender.ts';
import { msTeams } from '../../src/connectors/ms-teams/ms-teams.ts';
import { slack } from '../../src/connectors/slack/slack.ts';
import { sms } from '../../src/connectors/sms/sms.ts';
import type { OutboundMessage } from '../../src/connectors/target.ts';
import { plainOptions, testServices } from '../../src/connectors/testing-services.ts';
import { webhook } from '../../src/connectors/webhook/webhook.ts';
import { createEgressGuard } from '../../src/egress/guard.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { makeCertificate } from '../servers/certificate.ts';
import { type Answering, startReceiver } from './receivers.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const context = { data: { t: 21.5 }, device: { name: 'Kitchen' }, deviceId: 'p 1' };
const message: OutboundMessage = {
  deliveryId: 'delivery-1',
  deviceId: '02aa',
  payload: JSON.stringify(context),
  contentType: 'application/json',
  context,
};

const webhookProperties = {
  method: 'POST',
  contentType: 'JSON',
  headers: {},
  authType: 'NONE',
  authHeaders: {},
  basicCredentials: null,
  bearerToken: null,
  oauth2: null,
  hmacSecret: null,
  hmacHeader: 'X-Signature',
  caCertificate: null,
  customPayload: null,
  useCustomPayload: false,
};

async function receiver() {
  const made = await startReceiver();
  cleanups.push(() => made.close());
  return made;
}

type Configured = Partial<ConnectorServices> & { readonly allow?: string[] };

function send(
  connector: ConnectorType,
  properties: JsonObject,
  timeoutMs = 5_000,
  { allow = ['127.0.0.0/8'], ...configured }: Configured = {},
) {
  const egress = createEgressGuard({ allow });
  const target = connector.open(properties, testServices(egress, configured), plainOptions);
  cleanups.push(
    () => egress.close(),
    () => target.close(),
  );
  return target.send(message, AbortSignal.timeout(timeoutMs));
}

const status =
  (code: number, headers = {}) =>
  (_: unknown, response: Parameters<Answering>[1]) =>
    void response.writeHead(code, headers).end('said');

const moods: readonly (readonly [string, Answering, object])[] = [
  ['204', status(204), { ok: true, answer: 'HTTP 204' }],
  ['500', status(500), { ok: false, retry: true, reason: 'answered 500' }],
  [
    '429 with Retry-After',
    status(429, { 'retry-after': '7' }),
    { ok: false, retry: true, retryAfterMs: 7_000 },
  ],
  ['408', status(408), { ok: false, retry: true }],
  ['404', status(404), { ok: false, retry: false, answer: 'HTTP 404\nsaid' }],
  [
    'redirecting',
    status(302, { location: 'http://127.0.0.1:1/' }),
    {
      ok: false,
      retry: false,
      reason:
        'answered 302, a redirect, which is never followed: give the output connector the final address',
      answer: 'HTTP 302\nsaid',
    },
  ],
  [
    'closing half-way',
    (_, response) =>
      void (response.writeHead(200, { 'content-length': '99' }),
      response.write('x'),
      setImmediate(() => response.destroy())),
    { ok: false, retry: true },
  ],
  [
    'hanging',
    () => {},
    { ok: false, retry: true, reason: expect.stringContaining('no answer in time') },
  ],
];

for (const [name, answering, expected] of moods) {
  test(`contract 35: a webhook that answers ${name}`, async () => {
    const target = await receiver();
    target.answering = answering;
    expect(
      await send(
        webhook,
        { ...webhookProperties, uri: target.url },
        name === 'hanging' ? 200 : 5_000,
      ),
    ).toMatchObject(expected);
    expect(target.received).toHaveLength(1);
  });
}

for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
  test(`contract 9: method ${method}, signed and with headers`, async () => {
    const target = await receiver();
    const properties = {
      ...webhookProperties,
      uri: `${target.url}/{{deviceId}}`,
      method,
      hmacSecret: 's',
      headers: { 'x-b': 'c' },
    };
    expect(await send(webhook, properties)).toMatchObject({ ok: true });
    const [request] = target.received;
    const body = method === 'GET' ? '' : message.payload;
    expect(request).toMatchObject({
      method,
      url: '/p%201',
      text: body,
      headers: { 'x-b': 'c', 'x-delivery-id': 'delivery-1' },
    });
    expect(request?.headers['x-signature']).toBe(
      `sha256=${createHmac('sha256', 's').update(body).digest('hex')}`,
    );
  });
}

test('OAuth2 client credentials: one token for many, a new one when it is refused', async () => {
  const target = await receiver();
  let given = 0;
  target.answering = (request, response) => {
    if (request.url === '/token')
      return void response.end(JSON.stringify({ access_token: `t${++given}`, expires_in: 900 }));
    response.writeHead(request.headers.authorization === 'Bearer t2' ? 200 : 401).end();
  };
  const oauth2 = { tokenUrl: `${target.url}/token`, clientId: 'a', clientSecret: 'b', scope: null };
  expect(
    await send(webhook, { ...webhookProperties, uri: target.url, authType: 'OAUTH2', oauth2 }),
  ).toMatchObject({
    ok: true,
  });
  expect(target.received.map(({ url }) => url)).toEqual(['/token', '/', '/token', '/']);
});

test('a webhook with a forbidden address fails permanently, and nothing reaches it', async () => {
  const target = await receiver();
  expect(
    await send(webhook, { ...webhookProperties, uri: target.url }, 5_000, { allow: [] }),
  ).toMatchObject({
    ok: false,
    retry: false,
  });
  expect(target.received).toEqual([]);
});

test('a webhook over TLS is trusted only by its own authority', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tls-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  const { cert, key } = makeCertificate(folder);
  const target = await startReceiver({ cert, key });
  cleanups.push(() => target.close());
  expect(await send(webhook, { ...webhookProperties, uri: target.url })).toMatchObject({
    ok: false,
    retry: true,
  });
  expect(target.received).toEqual([]);
  expect(
    await send(webhook, { ...webhookProperties, uri: target.url, caCertificate: cert }),
  ).toMatchObject({
    ok: true,
  });
});

test('Slack and Teams get the text filled in', async () => {
  const target = await receiver();
  const text = 'It is {{data.t}} in "{{device.name}}"';
  await send(slack, { message: text, webhookUrl: target.url });
  await send(msTeams, { message: text, notificationUrl: target.url });
  expect(target.received.map(({ body }) => body.text)).toEqual(
    Array(2).fill('It is 21.5 in "Kitchen"'),
  );
  expect(target.received[1]?.body.attachments[0].content.body[0].text).toBe(
    'It is 21.5 in "Kitchen"',
  );
});

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
  const sender = createMailSender({ smtpUrl: `smtp://127.0.0.1:${port}`, from: 'h@example.org' });
  cleanups.push(() => sender.close());
  const properties = {
    subjectTemplate: 'Hot in {{device.name}}',
    messageTemplate: '{{data.t}} degrees',
    recipients: ['a@example.org'],
  };
  expect(await send(mail, properties, 5_000, { mails: sender })).toMatchObject({
    ok: true,
    sent: 'Subject: Hot in Kitchen\n\n21.5 degrees',
  });
  expect(mails[0]).toMatch(/^X-Delivery-ID: delivery-1\r\n/i);
  expect(mails[0]).toContain('Subject: Hot in Kitchen');
  expect(mails[0]).toContain('21.5 degrees');
  expect(
    await send(mail, { ...properties, recipients: ['bad@example.org'] }, 5_000, { mails: sender }),
  ).toMatchObject({
    ok: false,
    retry: false,
  });
});

test('SMS: one request for each recipient; one that was reached gets no second message', async () => {
  const target = await receiver();
  target.answering = (_, response) =>
    void response.writeHead(target.received.length === 2 ? 503 : 200).end();
  const properties = {
    messageText: '{{data.t}}!',
    recipientPhones: [1, 2].map((n) => ({ prefix: '+41', phone: `79 00${n}` })),
  };
  const smsGatewayUrl = `http://u:p@127.0.0.1:${target.port}/sms`;
  const services = testServices(createEgressGuard({ allow: [] }), { smsGatewayUrl });
  const opened = sms.open(properties, services, plainOptions);
  expect(await opened.send(message, AbortSignal.timeout(5_000))).toMatchObject({
    ok: false,
    retry: true,
  });
  expect(await opened.send(message, AbortSignal.timeout(5_000))).toMatchObject({
    ok: true,
    sent: '21.5!',
  });
  expect(target.received.map(({ body }) => body.to)).toEqual(['+4179001', '+4179002', '+4179002']);
  expect(target.received[0]).toMatchObject({
    url: '/sms',
    headers: { authorization: `Basic ${btoa('u:p')}` },
  });
});
