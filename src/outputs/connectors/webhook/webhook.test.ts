// Webhooks against real receivers: outcomes by answer, credentials, signatures, TLS and the egress guard.
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import type { OutboundMessage } from '../target.ts';
import { plainOptions, testServices } from '../testing-services.ts';
import { webhook } from './webhook.ts';
import { EgressGuard } from '../../egress/guard.ts';
import { createHttpThread } from '../../egress/http-thread.ts';
import type { JsonObject } from '../../../model/json.ts';
import { makeCertificate } from '../../../../tests/servers/certificate.ts';
import { type Answering, startReceiver } from '../../../../tests/deliveries/receivers.ts';

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

function send(properties: JsonObject, timeoutMs = 5_000, allow = ['127.0.0.0/8']) {
  const egress = new EgressGuard({ allow });
  const target = webhook.open(properties, testServices(egress), plainOptions);
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
  ['500', status(500), { ok: false, retry: true, reason: 'returned 500' }],
  [
    '429 with Retry-After',
    status(429, { 'retry-after': '7' }),
    { ok: false, retry: true, retryAfterMs: 7_000 },
  ],
  ['408', status(408), { ok: false, retry: true }],
  ['401', status(401), { ok: false, retry: 'HOURS', reason: 'returned 401' }],
  ['403', status(403), { ok: false, retry: 'HOURS', reason: 'returned 403' }],
  ['404', status(404), { ok: false, retry: 'HOURS', answer: 'HTTP 404\nsaid' }],
  ['410', status(410), { ok: false, retry: false, answer: 'HTTP 410\nsaid' }],
  [
    'redirecting',
    status(302, { location: 'http://127.0.0.1:1/' }),
    {
      ok: false,
      retry: false,
      reason: 'returned 302 (redirect). Redirects are not followed; use the final URL.',
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
  ['hanging', () => {}, { ok: false, retry: true, reason: expect.stringContaining('timed out') }],
];

test('an attempt fails for the time being when the thread of the HTTP client ends', async () => {
  const threads: Worker[] = [];
  const note = (thread: Worker): void => void threads.push(thread);
  process.on('worker', note);
  const http = createHttpThread({ allow: ['127.0.0.0/8'], failed: () => undefined });
  const egress = new EgressGuard({ allow: [] }, http);
  cleanups.push(
    () => egress.close(),
    () => process.off('worker', note),
  );
  const made = await receiver();
  const hanging = new Promise<void>((resolve) => (made.answering = () => resolve()));
  const properties = { ...webhookProperties, uri: made.url };
  const target = webhook.open(properties, testServices(egress), plainOptions);
  const outcome = target.send(message, AbortSignal.timeout(5_000));
  await hanging;
  await threads[0]?.terminate();
  const reason = 'The worker thread that sends HTTP requests exited';
  expect(await outcome).toEqual({ ok: false, retry: true, reason });
  made.answering = status(200);
  expect(await target.send(message, AbortSignal.timeout(5_000))).toMatchObject({ ok: true });
});

for (const [name, answering, expected] of moods) {
  test(`contract 35: a webhook that answers ${name}`, async () => {
    const target = await receiver();
    target.answering = answering;
    expect(
      await send({ ...webhookProperties, uri: target.url }, name === 'hanging' ? 200 : 5_000),
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
    expect(await send(properties)).toMatchObject({ ok: true });
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

test('contract 9: a signature covers the delivery ID and the time of the attempt', async () => {
  const target = await receiver();
  const before = Math.floor(Date.now() / 1_000);
  expect(
    await send({ ...webhookProperties, uri: target.url, hmacSecret: 'geheim ü' }),
  ).toMatchObject({ ok: true });
  const { headers, text } = target.received[0]!;
  const at = Number(headers['webhook-timestamp']);
  expect([at >= before, at <= Date.now() / 1_000]).toEqual([true, true]);
  const signed = createHmac('sha256', 'geheim ü').update(`delivery-1.${at}.${text}`);
  expect(headers).toMatchObject({
    'webhook-id': 'delivery-1',
    'webhook-signature': `v1,${signed.digest('base64')}`,
  });
  await send({ ...webhookProperties, uri: target.url });
  expect(Object.keys(target.received[1]!.headers).join()).not.toMatch(/webhook-|signature/);
});

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
    await send({ ...webhookProperties, uri: target.url, authType: 'OAUTH2', oauth2 }),
  ).toMatchObject({
    ok: true,
  });
  expect(target.received.map(({ url }) => url)).toEqual(['/token', '/', '/token', '/']);
});

test('a webhook with a forbidden address fails permanently, and nothing reaches it', async () => {
  const target = await receiver();
  expect(await send({ ...webhookProperties, uri: target.url }, 5_000, [])).toMatchObject({
    ok: false,
    retry: false,
  });
  expect(target.received).toEqual([]);
});

test('a webhook over TLS is trusted only by its own authority', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tls-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  const { cert, key } = await makeCertificate(folder);
  const target = await startReceiver({ cert, key });
  cleanups.push(() => target.close());
  expect(await send({ ...webhookProperties, uri: target.url })).toMatchObject({
    ok: false,
    retry: true,
  });
  expect(target.received).toEqual([]);
  expect(await send({ ...webhookProperties, uri: target.url, caCertificate: cert })).toMatchObject({
    ok: true,
  });
});
