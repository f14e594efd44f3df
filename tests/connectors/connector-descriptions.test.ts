// Connector descriptions: required members in the reference and the docs, all missing ones in one answer (contract 9, 36).
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { typesWithProperties } from '../../src/outputs/connectors/connector-table.ts';
import { startWorld, type World } from '../world/world.ts';

const types = typesWithProperties.map(({ type }) => type);
let world: World;
const environment = {
  SMTP_URL: 'smtp://127.0.0.1:1',
  MAIL_FROM: 'a@example.org',
  SMS_GATEWAY_URL: 'http://127.0.0.1:1',
  GCP_SERVICE_ACCOUNT_KEY: '{}',
  EGRESS_ALLOW: '127.0.0.0/8',
};
const asked: { url: string; headers: IncomingHttpHeaders }[] = [];
const target = createServer((request, response) => {
  asked.push({ url: request.url ?? '', headers: request.headers });
  response.end();
});
beforeAll(async () => {
  world = await startWorld({ environment });
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await world.close();
  target.close();
});

const post = (type: string, more: object, headers: Record<string, string> = {}) =>
  world.call(
    'POST',
    '/v3/output-connectors',
    { name: type, workspaceId: world.workspaceId, type, ...more },
    headers,
  );
const webhook = (properties: object, more: object = {}) =>
  post('WEBHOOK', { webhookProperties: { uri: 'https://example.com/', ...properties }, ...more });

describe('review behaviour 6: properties are described', () => {
  test.each([...typesWithProperties])(
    '$type: the schema asks for what is needed, and one answer names all that is missing',
    async ({ type, properties: { key, schema, needed } }) => {
      const { required = [] } = schema as { required?: readonly string[] };
      const sent = { version: 'V1', securityProtocol: 'SSL', exchange: 'x' };
      expect([...required].sort()).toEqual([...needed(sent)].sort());
      const missing = needed({});
      if (missing.length === 0) return;
      const { status, body } = await post(type, { [key]: {} });
      expect([status, body.message]).toEqual([
        400,
        missing.map((name) => `body ${key}.${name}: is required`).join('; '),
      ]);
    },
  );

  const docs = readFileSync(
    join(import.meta.dirname, '..', '..', 'docs', 'output-connectors.md'),
    'utf8',
  );
  const rows = [...docs.matchAll(/^\| `([A-Z_]+)` \| `(\w+)`.* \| `(\{.*\})` \|$/gm)];
  test('the docs have an example of each type', () => {
    expect(rows.map(([, type]) => type).sort()).toEqual([...types].sort());
  });
  test.each(rows.map(([, type, member, example]) => [type!, member!, example!] as const))(
    'the example of %s in the docs makes a connector',
    async (type, member, example) => {
      const { status, body } = await post(type, { [member]: JSON.parse(example) });
      expect([status, body.message]).toEqual([201, undefined]);
    },
  );

  test('the interface reference has one of by type', async () => {
    const { body } = await world.call('GET', '/v3/openapi.json');
    const members = Object.values<{ properties?: { type?: { const?: string } } }>(
      body.components.schemas,
    ).flatMap(({ properties }) => properties?.type?.const ?? []);
    expect(members).toEqual(expect.arrayContaining([...types]));
  });
});

test('review behaviour 32: the database connector is not made, it is there', async () => {
  const { status, body } = await post('DATABASE', {});
  expect([status, body.message]).toEqual([400, expect.stringContaining('0900000000000000')]);
});

describe('review behaviour 31: payloads of webhooks', () => {
  for (const [what, customPayload, status] of [
    ['up to 100,000 characters', `"${'x'.repeat(99_998)}"`, 201],
    ['longer', `"${'x'.repeat(99_999)}"`, 400],
    ['never JSON', '{"a": {{data.a}}', 400],
    ['an expression as key', '{ {{topic}}: {{data}} }', 201],
    ['an expression in a number', '{"a": -{{data.a}}}', 201],
  ] as const) {
    test(`${what}: ${status}`, async () => {
      expect((await webhook({}, { useCustomPayload: true, customPayload })).status).toBe(status);
    });
  }
});

describe('webhooks are sent where their owner said', () => {
  async function delivered(path: string, headers: object, data: object) {
    const { port } = target.address() as AddressInfo;
    const { body } = await webhook({ uri: `http://127.0.0.1:${port}${path}`, headers });
    const device = await world.device();
    await world.capture(device, data);
    asked.length = 0;
    return (
      await world.call('POST', `/v3/output-connectors/${body.id}/test`, { deviceId: device.id })
    ).body;
  }
  test('review behaviour 31: headers are templates', async () => {
    expect(
      await delivered(
        '/',
        { 'x-kind': 'a-{{data.kind}}', 'x-topic': '{{topic}}' },
        { kind: 'b\r\nx-evil: 1 é' },
      ),
    ).toMatchObject({ ok: true });
    expect(asked[0]!.headers).toMatchObject({
      'x-kind': 'a-b%0D%0Ax-evil: 1 %C3%A9',
      'x-topic': 'default',
    });
    expect((await webhook({ headers: { a: '{{nothing.known}}' } })).status).toBe(400);
  });
  test.each(['.', '..', '%2e%2E'])(
    'review security 15: a value that makes the segment %s is refused',
    async (step) => {
      const refused = await delivered('/a/{{data.step}}/b?c={{data.step}}', {}, { step });
      const isDots = !step.startsWith('%');
      // A percent sign in a value is encoded, so that it stays a name.
      expect([refused.ok, asked.length]).toEqual(isDots ? [false, 0] : [true, 1]);
      expect((await delivered('/a/.{{data.step}}', {}, { step: '.' })).ok).toBe(false);
      expect((await delivered('/a?c={{data.step}}', {}, { step: '..' })).ok).toBe(true);
    },
  );
});

test('review behaviour 15: types that the vendor does not know are omitted for its clients, and stay in their flows', async () => {
  const vendor = { 'akenza-client': 'test' };
  const mqtt = await post('MQTT', {
    mqttProperties: { uri: 'mqtt://broker.example.com', topic: 'a' },
  });
  const hook = (await webhook({})).body.id;
  const outputs = [mqtt.body.id, hook].map((id) => ({ id, topic: '*' }));
  const device = await world.device({ outputs });
  const types = async (headers: Record<string, string>) => {
    const list = await world.call(
      'GET',
      `/v3/output-connectors?workspaceId=${world.workspaceId}&size=1000`,
      undefined,
      headers,
    );
    return list.body.content.map(({ type }: { type: string }) => type);
  };
  expect(await types({})).toEqual(expect.arrayContaining(['MQTT', 'DATABASE']));
  const shown = await types(vendor);
  expect(shown).toEqual(expect.arrayContaining(['AKENZA_DATABASE', 'WEBHOOK']));
  expect(shown.filter((type: string) => ['MQTT', 'AMQP', 'NATS', 'SQL'].includes(type))).toEqual(
    [],
  );
  const path = `/v3/data-flows/${device.dataFlowId}`;
  const flow = await world.call('GET', path, undefined, vendor);
  expect(flow.body.outputConnectors.map(({ id }: { id: string }) => id)).toEqual([hook]);
  await world.call('PUT', path, flow.body, vendor);
  const kept = await world.must('GET', path);
  expect(kept.outputConnectors.map(({ id }: { id: string }) => id).sort()).toEqual(
    [mqtt.body.id, hook].sort(),
  );
});
