// Contract 39.3: what was refused stands at its connector and workspace, with reason, device and payload.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refusalLimits } from '../../src/model/uplink.ts';
import { askCoap, freeUdpPort } from '../world/coap-device.ts';
import { anyTime } from '../world/expectations.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let coapPort: number;
beforeAll(async () => {
  coapPort = await freeUdpPort();
  world = await startWorld({ environment: { COAP_PORT: String(coapPort) } });
});
afterAll(() => world.close());

type Refusal = Record<string, unknown>;
const pathOf = (connectorId: string) => `/v3/device-connectors/${connectorId}/refusals`;

async function refusalsOf(connectorId: string): Promise<Refusal[]> {
  return (await world.must('GET', `${pathOf(connectorId)}?size=1000`)).content;
}

/** They are written within seconds; `wanted` says which must be there. */
async function shown(connectorId: string, wanted: number): Promise<Refusal[]> {
  await expect
    .poll(async () => (await refusalsOf(connectorId)).length, { timeout: 60_000 })
    .toBeGreaterThanOrEqual(wanted);
  return refusalsOf(connectorId);
}

const post = (
  query: Record<string, string>,
  body: string | Buffer,
  headers: Record<string, string> = { 'content-type': 'application/json' },
) =>
  fetch(`${world.base}/v3/capture?${new URLSearchParams(query)}`, {
    method: 'POST',
    headers,
    body: new Uint8Array(Buffer.from(body)),
  });

describe('console H6: HTTP', () => {
  const json = { 'content-type': 'application/json' };
  const rows: readonly [
    what: string,
    sent: (device: TestDevice, other: TestDevice) => Promise<{ status: number }>,
    refusal: (device: TestDevice, other: TestDevice) => Refusal,
  ][] = [
    [
      'an unknown device',
      ({ secret }) => post({ secret, deviceId: 'nobody' }, '{"t":1}'),
      () => ({
        reason: 'UNKNOWN_DEVICE',
        status: 404,
        deviceId: 'nobody',
        payload: '{"t":1}',
        payloadForm: 'TEXT',
        bytes: 7,
      }),
    ],
    [
      'an unknown device whose body has no known length',
      ({ secret }) =>
        fetch(`${world.base}/v3/capture?secret=${secret}&deviceId=chunked`, {
          method: 'POST',
          headers: json,
          body: new Blob(['{"t":2}']).stream(),
          duplex: 'half',
        }),
      () => ({ reason: 'UNKNOWN_DEVICE', deviceId: 'chunked', payload: '{"t":2}', bytes: 7 }),
    ],
    [
      'a device of another connector',
      ({ secret }, { deviceId }) => post({ secret, deviceId }, '{"t":1}'),
      (_, { deviceId }) => ({
        reason: 'OTHER_CONNECTOR',
        status: 403,
        deviceId,
        payload: '{"t":1}',
      }),
    ],
    [
      'a wrong secret',
      ({ deviceId }) => post({ secret: 'wrong', deviceId }, '{"t":1}'),
      ({ deviceId }) => ({ reason: 'WRONG_SECRET', status: 401, deviceId, payload: null }),
    ],
    [
      'no secret',
      ({ deviceId }) => post({ deviceId }, '{"t":1}'),
      ({ deviceId }) => ({ reason: 'WRONG_SECRET', status: 401, deviceId, payload: null }),
    ],
    [
      'no device',
      ({ secret }) => post({ secret }, '{"t":1}'),
      () => ({ reason: 'INVALID_BODY', status: 400, deviceId: null, payload: '{"t":1}' }),
    ],
    [
      'a body that is no JSON',
      ({ secret, deviceId }) => post({ secret, deviceId }, '{"t":'),
      ({ deviceId }) => ({ reason: 'INVALID_BODY', status: 400, deviceId, payload: '{"t":' }),
    ],
    [
      'null',
      ({ secret, deviceId }) => post({ secret, deviceId }, 'null'),
      ({ deviceId }) => ({ reason: 'INVALID_BODY', status: 400, deviceId, payload: 'null' }),
    ],
    [
      'CBOR that is none, and bytes that are no text',
      ({ secret, deviceId }) =>
        post({ secret, deviceId }, Buffer.from([0xff, 0]), { 'content-type': 'application/cbor' }),
      ({ deviceId }) => ({
        reason: 'INVALID_BODY',
        status: 400,
        deviceId,
        payload: 'ff00',
        payloadForm: 'HEX',
      }),
    ],
    [
      'a body that is too large',
      ({ secret, deviceId }) => post({ secret, deviceId }, `"${'x'.repeat(5 * 1024 * 1024)}"`),
      ({ deviceId }) => ({ reason: 'TOO_LARGE', status: 413, deviceId }),
    ],
  ];
  for (const [what, send, refusal] of rows)
    test(what, async () => {
      const device = await world.device();
      const other = await world.device();
      const { status } = await send(device, other);
      const expected = refusal(device, other);
      expect(status).toBe(expected['status'] ?? 404);
      expect(await shown(device.connectorId, 1)).toMatchObject([
        {
          id: expect.stringMatching(/^45[0-9a-f]{14}$/),
          connectorId: device.connectorId,
          workspaceId: world.workspaceId,
          transport: 'HTTP',
          message: expect.stringMatching(/\S/),
          first: anyTime,
          last: anyTime,
          count: 1,
          ...expected,
        },
      ]);
      expect(await refusalsOf(other.connectorId)).toEqual([]);
    });

  test('the same again is counted, and a long name and a long payload are cut', async () => {
    const { secret, connectorId } = await world.device();
    const name = 'n'.repeat(600);
    for (let i = 0; i < 3; i++) await post({ secret, deviceId: name }, `"${'ä'.repeat(4_000)}"`);
    await expect
      .poll(async () => (await refusalsOf(connectorId))[0]?.['count'], { timeout: 60_000 })
      .toBe(3);
    const [refusal] = await refusalsOf(connectorId);
    expect(refusal).toMatchObject({ deviceId: name.slice(0, 500), bytes: 8_002 });
    // A character is not divided.
    expect(refusal?.['payload']).toBe(`"${'ä'.repeat(2_047)}`);
  });

  test('what will succeed later, and what is taken, is no refusal', async () => {
    const device = await world.device();
    await world.capture(device, { t: 1 });
    await post({ secret: device.secret, deviceId: 'mark' }, '{}');
    expect(await shown(device.connectorId, 1)).toMatchObject([{ deviceId: 'mark' }]);
  });
});

test('console H6: a webhook that names an unknown device', async () => {
  const { id } = await world.must('POST', '/v3/device-connectors', {
    name: 'chirpstack',
    workspaceId: world.workspaceId,
    connectivity: 'HTTP',
    decodingType: 'CHIRP_STACK',
  });
  const { uplinkSecret } = await world.must('GET', `/v3/device-connectors/${id}`);
  const body = { deviceInfo: { devEui: '0102030405060708' }, fPort: 1, data: 'AQ==' };
  await world.call('POST', `/v3/capture?secret=${uplinkSecret}&event=up`, body);
  expect(await shown(id, 1)).toMatchObject([
    {
      transport: 'LORAWAN',
      reason: 'UNKNOWN_DEVICE',
      deviceId: '0102030405060708',
      payload: JSON.stringify(body),
    },
  ]);
});

test('console H6: line protocol', async () => {
  const { id } = await world.must('POST', '/v3/device-connectors', {
    name: 'telegraf',
    workspaceId: world.workspaceId,
    connectivity: 'HTTP',
    lineProtocol: { device: ['{host}'] },
  });
  const { uplinkSecret } = await world.must('GET', `/v3/device-connectors/${id}`);
  const text = 'cpu,host=none v=1\ncpu,host=none v=2\nnot a line';
  const { status } = await fetch(`${world.base}/write?p=${uplinkSecret}`, {
    method: 'POST',
    body: text,
  });
  expect(status).toBe(400);
  const refusals = await shown(id, 2);
  expect(refusals).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        transport: 'LINE_PROTOCOL',
        reason: 'UNKNOWN_DEVICE',
        deviceId: 'none',
        payload: text,
      }),
      expect.objectContaining({ reason: 'INVALID_BODY', deviceId: null }),
    ]),
  );
});

test('console H6: CoAP', async () => {
  const { secret, deviceId, connectorId } = await world.device();
  const ask = (query: Record<string, string>, body: string) => askCoap(coapPort, { query, body });
  await ask({ secret, deviceId: 'nobody' }, '{"t":1}');
  await ask({ secret, deviceId }, '{');
  await ask({ secret: 'wrong', deviceId }, '{}');
  const refusals = await shown(connectorId, 3);
  expect(refusals.map(({ transport }) => transport)).toEqual(['COAP', 'COAP', 'COAP']);
  expect(Object.fromEntries(refusals.map(({ reason, payload }) => [reason, payload]))).toEqual({
    UNKNOWN_DEVICE: '{"t":1}',
    INVALID_BODY: '{',
    WRONG_SECRET: null,
  });
});

describe('reading and deleting', () => {
  test('of a workspace, the last first, in pages and in other orders', async () => {
    const one = await world.device();
    const two = await world.device();
    await post({ secret: one.secret, deviceId: 'b' }, '{}');
    await post({ secret: one.secret, deviceId: 'b' }, '{}');
    await shown(one.connectorId, 1);
    await post({ secret: two.secret, deviceId: 'a' }, '{}');
    await shown(two.connectorId, 1);
    const path = `/v3/workspaces/${world.workspaceId}/refusals`;
    const { content, totalElements } = await world.must('GET', `${path}?size=2`);
    expect(content.map((refusal: Refusal) => refusal['deviceId'])).toEqual(['a', 'b']);
    expect(totalElements).toBeGreaterThan(2);
    const counted = await world.must('GET', `${pathOf(one.connectorId)}?sort=count,desc`);
    expect(counted.content).toMatchObject([{ deviceId: 'b', count: 2 }]);
  });

  test('one is deleted, then all, and what comes again is new', async () => {
    const { secret, connectorId } = await world.device();
    for (const deviceId of ['a', 'b']) await post({ secret, deviceId }, '{}');
    const [first] = await shown(connectorId, 2);
    const one = `${pathOf(connectorId)}/${first?.['id']}`;
    await world.must('DELETE', one);
    expect((await world.call('DELETE', one)).status).toBe(204);
    expect(await refusalsOf(connectorId)).toHaveLength(1);
    await world.must('DELETE', pathOf(connectorId));
    expect(await refusalsOf(connectorId)).toEqual([]);
    await post({ secret, deviceId: 'a' }, '{}');
    expect(await shown(connectorId, 1)).toMatchObject([{ deviceId: 'a', count: 1 }]);
  });

  test('they end with their connector', async () => {
    const { secret, connectorId, id, dataFlowId } = await world.device();
    await post({ secret, deviceId: 'a' }, '{}');
    const [{ id: refusalId } = {}] = await shown(connectorId, 1);
    for (const path of [`/v3/devices/${id}`, `/v3/data-flows/${dataFlowId}`])
      await world.must('DELETE', path);
    await world.must('DELETE', `/v3/device-connectors/${connectorId}`);
    const path = `/v3/workspaces/${world.workspaceId}/refusals?size=1000`;
    const { content } = await world.must('GET', path);
    expect(content.map((refusal: Refusal) => refusal['id'])).not.toContain(refusalId);
  });
});

test('a sender that invents devices has the last 200, and others keep theirs', async () => {
  const quiet = await world.device();
  await post({ secret: quiet.secret, deviceId: 'quiet' }, '{}');
  const loud = await world.device();
  const { perConnectorMax } = refusalLimits;
  const names = Array.from({ length: perConnectorMax + 50 }, (_, i) => `invented ${i}`);
  for (const deviceId of names) await post({ secret: loud.secret, deviceId }, '{}');
  const shownNames = async () =>
    (await refusalsOf(loud.connectorId)).map(({ deviceId }) => deviceId);
  await expect.poll(shownNames, { timeout: 60_000 }).toContain(names.at(-1));
  expect(await shownNames()).not.toContain(names[0]);
  expect(await refusalsOf(loud.connectorId)).toHaveLength(perConnectorMax);
  expect(await shown(quiet.connectorId, 1)).toMatchObject([{ deviceId: 'quiet' }]);
});
