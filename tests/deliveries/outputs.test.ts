// Outputs of data flows: samples reach a webhook by topic, in order, once, with the payload of contract 9.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type World } from '../world/world.ts';
import { type Receiver, startReceiver } from './receivers.ts';

let at: World;
const receivers: Receiver[] = [];

beforeAll(async () => {
  at = await startWorld({ environment: { EGRESS_ALLOW: '127.0.0.0/8' } });
});
afterAll(async () => {
  await at.close();
  for (const receiver of receivers) await receiver.close();
});

async function receiver(): Promise<Receiver> {
  const made = await startReceiver();
  receivers.push(made);
  return made;
}

async function webhook(properties: object, rest: object = {}) {
  return at.must('POST', '/v3/output-connectors', {
    name: `hook ${Math.random()}`,
    workspaceId: at.workspaceId,
    type: 'WEBHOOK',
    webhookProperties: properties,
    ...rest,
  });
}

test('contract 9: the default payload is the whole sample, with the ids, the device and the uplink around it', async () => {
  const target = await receiver();
  const hook = await webhook({ uri: `${target.url}/in` });
  const device = await at.device({ outputs: [{ id: hook.id, topic: '*' }] });
  await at.capture(device, { temperature: 21.5 });
  const [request] = await target.atLeast(1);
  expect(request).toMatchObject({
    method: 'POST',
    url: '/in',
    headers: {
      'content-type': 'application/json',
      'x-delivery-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    },
    body: {
      data: { temperature: 21.5 },
      meta: {},
      topic: 'default',
      deviceId: device.deviceId,
      svcDeviceId: device.id,
      akenzaDeviceId: device.id,
      correlationId: expect.any(String),
      device: {
        id: device.id,
        deviceId: device.deviceId,
        name: expect.any(String),
        customFields: {},
        connectivity: 'HTTP',
      },
      uplinkMetrics: { uplinkSize: 20, timestamp: expect.stringMatching(/Z$/) },
      uplinkMeta: { bytesReceived: 20, processingDuration: expect.stringMatching(/^PT[\d.]+S$/) },
    },
  });
  expect(request?.headers['idempotency-key']).toBe(request?.headers['x-delivery-id']);
  const delivered = () =>
    at.must('GET', `/v3/output-connectors/${hook.id}/deliveries?state=DELIVERED`);
  await expect.poll(async () => (await delivered()).totalElements).toBe(1);
  const page = await delivered();
  expect(page.content).toMatchObject([
    {
      state: 'DELIVERED',
      tries: 1,
      deviceId: device.id,
      answer: 'HTTP 200\nok',
      cause: 'DATA_FLOW',
      nextTry: null,
    },
  ]);
  expect(JSON.parse(page.content[0].payload).data).toEqual({ temperature: 21.5 });
});

test('contract 10: a topic filter lets its topic through, for uplinks and backfills, in order', async () => {
  const target = await receiver();
  const [all, one] = [
    await webhook({ uri: `${target.url}/all` }),
    await webhook({ uri: `${target.url}/one` }),
  ];
  const device = await at.device({
    outputs: [
      { id: all.id, topic: '*' },
      { id: one.id, topic: 'room' },
      { id: one.id, topic: '*' },
    ].slice(0, 2),
  });
  await at.capture(device, { v: 0 }, { topic: 'room' });
  const samples = Array.from({ length: 50 }, (_, i) => ({
    topic: i % 2 === 0 ? 'room' : 'hall',
    data: { v: i + 1 },
  }));
  await at.must('POST', `/v3/devices/${device.id}/backfill/bulk`, samples);
  await target.atLeast(51 + 26);
  const values = (path: string) =>
    target.received.filter(({ url }) => url === path).map(({ body }) => body.data.v);
  expect(values('/all')).toEqual(Array.from({ length: 51 }, (_, i) => i));
  expect(values('/one')).toEqual([
    0,
    ...samples.filter(({ topic }) => topic === 'room').map(({ data }) => data.v),
  ]);
});

test('interface 2.11: a custom payload and a URL template are filled in', async () => {
  const target = await receiver();
  const payload = '{"t": {{data.t}}, "n": "{{device.name}}", "missing": {{data.none}}}';
  const hook = await webhook(
    {
      uri: `${target.url}/{{topic}}?d={{deviceId}}`,
      method: 'PUT',
      headers: { 'x-a': 'b' },
      authType: 'BEARER',
      bearerToken: 'tok',
    },
    { useCustomPayload: true, customPayload: payload },
  );
  const device = await at.device({ outputs: [{ id: hook.id, topic: '*' }], name: 'A "room"' });
  await at.capture(device, { t: 1 });
  const [request] = await target.atLeast(1);
  expect(request).toMatchObject({
    method: 'PUT',
    url: `/default?d=${encodeURIComponent(device.deviceId)}`,
    headers: { 'x-a': 'b', authorization: 'Bearer tok' },
    body: { t: 1, n: 'A "room"', missing: null },
  });
});

test('contract 35: a rejected delivery is dead immediately, in the processing log, and resent singly and in bulk', async () => {
  const target = await receiver();
  target.answering = (_, response) => void response.writeHead(422).end('no');
  const hook = await webhook({ uri: target.url });
  const device = await at.device({ outputs: [{ id: hook.id, topic: '*' }] });
  for (const v of [1, 2, 3]) await at.capture(device, { v });
  await target.atLeast(3);
  const dead = () =>
    at.must('GET', `/v3/output-connectors/${hook.id}/deliveries?state=DEAD&sort=created,asc`);
  await expect.poll(async () => (await dead()).totalElements).toBe(3);
  const { content } = await dead();
  expect(content[0]).toMatchObject({ tries: 1, reason: 'returned 422', answer: 'HTTP 422\nno' });
  const log = await at.must('GET', `/v3/devices/${device.id}/processing-logs?level=ERROR`);
  expect(log.content[0]).toMatchObject({
    source: 'OUTPUT',
    details: { outputConnectorId: hook.id },
  });
  target.answering = (_, response) => void response.end('fine');
  const again = await at.call('POST', `/v3/deliveries/${content[0].id}/resend`);
  expect([again.status, again.body.state]).toEqual([202, 'PENDING']);
  await target.atLeast(4);
  expect(target.received[3]?.headers['x-delivery-id']).toBe(content[0].id);
  expect((await at.must('POST', `/v3/output-connectors/${hook.id}/deliveries/resend`)).resent).toBe(
    2,
  );
  await target.atLeast(6);
  expect(target.received.slice(4).map(({ body }) => body.data.v)).toEqual([2, 3]);
  await expect.poll(async () => (await dead()).totalElements).toBe(0);
});

test('contract 9: a custom database output writes the sample back under its topic, and one that feeds itself ends', async () => {
  const made = await at.must('POST', '/v3/output-connectors', {
    name: 'copy',
    scope: 'DATA_FLOW',
    workspaceId: at.workspaceId,
    type: 'CUSTOM_DATABASE',
    customDatabaseProperties: { topic: 'copy' },
  });
  const outputs = [
    { id: '0900000000000000', topic: '*' },
    { id: made.id, topic: '*' },
  ];
  const device = await at.device({ outputs });
  await at.capture(device, { v: 5 });
  const copies = () => at.must('POST', `/v3/devices/${device.id}/query`, { topic: 'copy' });
  await expect.poll(async () => (await copies()).length).toBe(1);
  expect((await copies())[0]).toMatchObject({ data: { v: 5 }, topic: 'copy', deviceId: device.id });
  const list = () =>
    at.must('GET', `/v3/output-connectors/${made.id}/deliveries?state=DELIVERED&sort=created,asc`);
  await expect.poll(async () => (await list()).totalElements).toBe(2);
  expect((await list()).content[1].answer).toContain('was already stored');
});

test('the test endpoint sends a sample once and answers what came back, also when nothing does', async () => {
  const target = await receiver();
  const hook = await webhook({ uri: target.url });
  const ok = await at.must('POST', `/v3/output-connectors/${hook.id}/test`);
  expect(ok).toMatchObject({ ok: true, answer: 'HTTP 200\nok', reason: null });
  expect(JSON.parse(ok.payload)).toMatchObject({ data: { test: true } });
  const device = await at.device();
  await at.capture(device, { real: 1 });
  const real = await at.must('POST', `/v3/output-connectors/${hook.id}/test`, {
    deviceId: device.id,
  });
  expect(JSON.parse(real.payload)).toMatchObject({ data: { real: 1 }, svcDeviceId: device.id });
  await target.close();
  const gone = await at.must('POST', `/v3/output-connectors/${hook.id}/test`);
  expect(gone).toMatchObject({
    ok: false,
    answer: null,
    // The connection of the test before may still be open on this side.
    reason: expect.stringMatching(/ECONNREFUSED|other side closed/),
  });
});

test('contract 29: the preview fills a template in with the last real sample', async () => {
  const device = await at.device();
  await at.capture(device, { t: 4, name: 'x' });
  const ask = (template: string, rest = {}) =>
    at.call('POST', '/v3/templates/preview', {
      workspaceId: at.workspaceId,
      template,
      deviceId: device.id,
      ...rest,
    });
  expect((await ask('{"t":{{data.t}}}')).body).toMatchObject({
    text: '{"t":4}',
    valid: true,
    reason: null,
  });
  expect((await ask('{"t":{{data.t}}')).body).toMatchObject({
    valid: false,
    reason: expect.stringContaining('JSON'),
  });
  expect(
    (await ask('Hi {{rule.name}}!', { place: 'text', context: { rule: { name: 'R' } } })).body.text,
  ).toBe('Hi R!');
  const wrong = await ask('a {{dta.t}}');
  expect([wrong.status, wrong.body.errorCode]).toEqual([400, '40081_TEMPLATE_INVALID']);
  expect(wrong.body.message).toContain('{{dta.t}} at line 1, column 3');
});

test('contract 35: forbidden targets, unknown prefixes and missing settings are rejected at creation', async () => {
  const make = (type: string, properties: object) =>
    at.call('POST', '/v3/output-connectors', {
      name: 'x',
      workspaceId: at.workspaceId,
      type,
      ...properties,
    });
  const refused = async (type: string, properties: object) => {
    const { status, body } = await make(type, properties);
    return [status, body.errorCode];
  };
  expect(
    await refused('WEBHOOK', { webhookProperties: { uri: 'http://169.254.169.254/' } }),
  ).toEqual([400, '40080_EGRESS_REFUSED']);
  expect(
    await refused('SLACK', { slackProperties: { webhookUrl: 'http://10.1/', message: 'x' } }),
  ).toEqual([400, '40080_EGRESS_REFUSED']);
  expect(
    await refused('MS_TEAMS', {
      msTeamsProperties: { notificationUrl: 'https://example.com/', message: '{{nope}}' },
    }),
  ).toEqual([400, '40081_TEMPLATE_INVALID']);
  expect(await refused('MAIL', { mailProperties: {} })).toEqual([
    409,
    '40980_OUTPUT_NOT_CONFIGURED',
  ]);
  expect((await make('SMS', {})).body.message).toContain('SMS_GATEWAY_URL');
});

test('contract 34: with VENDOR_ALIASES=off neither the payload nor the delivery log has the alias', async () => {
  const target = await receiver();
  const neutral = await startWorld({
    environment: { EGRESS_ALLOW: '127.0.0.0/8', VENDOR_ALIASES: 'off' },
  });
  try {
    target.answering = (_, response) => void response.writeHead(302, { location: '/there' }).end();
    const hook = await neutral.must('POST', '/v3/output-connectors', {
      name: 'hook',
      workspaceId: neutral.workspaceId,
      type: 'WEBHOOK',
      webhookProperties: { uri: target.url },
    });
    const device = await neutral.device({ outputs: [{ id: hook.id, topic: '*' }] });
    await neutral.capture(device, { v: 1 });
    const path = `/v3/output-connectors/${hook.id}/deliveries`;
    const dead = async () => (await neutral.must('GET', `${path}?state=DEAD`)).content;
    // A redirect is never followed, so it ends the delivery immediately.
    await expect
      .poll(dead, { timeout: 60_000 })
      .toMatchObject([{ tries: 1, reason: expect.stringMatching(/redirect/) }]);
    const [delivery] = await dead();
    const again = await neutral.must('POST', `/v3/deliveries/${delivery.id}/resend`, {});
    for (const payload of [target.received[0]!.text, delivery.payload, again.payload]) {
      expect(JSON.parse(payload)).toMatchObject({ svcDeviceId: device.id });
      expect(payload).not.toContain('akenza');
    }
  } finally {
    await neutral.close();
  }
});
