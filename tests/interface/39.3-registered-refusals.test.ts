// Contract 39.3: a refused sender is proposed a device type, and registered with its payload as first uplink.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signIn } from '../access/access-world.ts';
import { askCoap, freeUdpPort } from '../world/coap-device.ts';
import { startWorld, type World } from '../world/world.ts';

let world: World;
let coapPort: number;
beforeAll(async () => {
  coapPort = await freeUdpPort();
  world = await startWorld({ environment: { COAP_PORT: String(coapPort) } });
});
afterAll(() => world.close());

type Body = Record<string, unknown>;

interface Connector {
  readonly id: string;
  readonly uplinkSecret: string;
}

async function connector(more: Body = {}): Promise<Connector> {
  const { workspaceId } = world;
  const body = { name: 'doors', workspaceId, connectivity: 'HTTP', ...more };
  return world.must('POST', '/v3/device-connectors', body);
}

async function deviceType(
  name: string,
  code: string | null,
  properties: Body = {},
  meta: Body = {},
) {
  const body = {
    name,
    organizationId: world.organizationId,
    type: 'manual',
    meta,
    schemas: { default: JSON.stringify({ type: 'object', properties }) },
    ...(code !== null && { uplinkScript: { code } }),
  };
  const { id } = await world.must('POST', '/v3/device-types', body);
  return id as string;
}

const flowOf = (deviceConnector: Connector, deviceTypeId?: string) =>
  world.must('POST', '/v3/data-flows', {
    name: 'flow',
    workspaceId: world.workspaceId,
    deviceConnector: { id: deviceConnector.id },
    ...(deviceTypeId !== undefined && { deviceType: { id: deviceTypeId } }),
    outputConnectors: [{ id: '0900000000000000', topic: '*' }],
  });

interface Sent {
  readonly query?: Record<string, string>;
  readonly body?: string | Buffer;
  readonly headers?: Record<string, string>;
}

/** Sends an uplink that is refused; the path of its refusal. */
async function refused(
  { id, uplinkSecret: secret }: Connector,
  deviceId: string,
  { query = {}, body = '{"t":21.5}', headers = { 'content-type': 'application/json' } }: Sent = {},
): Promise<string> {
  const named = deviceId === '' ? {} : { deviceId };
  const answer = await fetch(
    `${world.base}/v3/capture?${new URLSearchParams({ secret, ...named, ...query })}`,
    { method: 'POST', headers, body: new Uint8Array(Buffer.from(body)) },
  );
  expect(answer.status).toBeGreaterThanOrEqual(400);
  return shown(id);
}

async function shown(connectorId: string): Promise<string> {
  const path = `/v3/device-connectors/${connectorId}/refusals`;
  await expect
    .poll(async () => (await world.must('GET', path)).totalElements, { timeout: 60_000 })
    .toBe(1);
  const { content } = await world.must('GET', path);
  return `${path}/${content[0].id}`;
}

const samplesOf = (id: string, topic = '*'): Promise<Body[]> =>
  world.must('POST', `/v3/devices/${id}/query`, { topic });

const notesOf = async (id: string): Promise<string[]> => {
  const { content } = await world.must('GET', `/v3/devices/${id}/processing-logs`);
  return content.map(({ message }: { message: string }) => message);
};

describe('proposal', () => {
  test('the decoders of the flows and of the connectivity, the best first', async () => {
    const doors = await connector();
    const failing = await deviceType(
      'failing',
      'function consume(event) { throw new Error("no"); }',
    );
    await flowOf(doors, failing);
    const emit = (data: string) =>
      `function consume(event) { emit('sample', { data: ${data}, topic: 'default' }); }`;
    const best = await deviceType(
      'best',
      emit('{ temperature: event.data.t }'),
      { temperature: {} },
      { connectivity: 'HTTP' },
    );
    const half = await deviceType(
      'half',
      emit('{ temperature: event.data.t, other: 1 }'),
      { temperature: {} },
      { connectivity: 'http' },
    );
    const lora = await deviceType('lora', emit('{}'), {}, { connectivity: 'LORA' });
    const path = await refused(doors, 'door 1 ', { query: { timestamp: '2026-01-02T03:04:05Z' } });
    const proposal = await world.must('GET', `${path}/proposal`);
    expect(proposal).toMatchObject({
      deviceId: 'door 1 ',
      name: 'door 1',
      unreadable: null,
      complete: true,
      dataFlows: [{ deviceTypeId: failing, passThrough: false }],
      similar: [],
    });
    const own = proposal.types.filter(({ deviceType: { id } }: { deviceType: { id: string } }) =>
      [failing, best, half, lora].includes(id),
    );
    expect(own).toEqual([
      {
        deviceType: { id: best, name: 'best' },
        samples: [
          { topic: 'default', timestamp: '2026-01-02T03:04:05.000Z', data: { temperature: 21.5 } },
        ],
        errors: [],
        declaredKeys: ['temperature'],
        score: 100,
      },
      expect.objectContaining({
        deviceType: { id: half, name: 'half' },
        declaredKeys: ['temperature'],
        score: 80,
      }),
      {
        deviceType: { id: failing, name: 'failing' },
        samples: [],
        errors: [expect.stringContaining('no')],
        declaredKeys: [],
        score: 0,
      },
    ]);
    const refusalId = path.slice(path.lastIndexOf('/') + 1);
    const ofWorkspace = `/v3/workspaces/${world.workspaceId}/refusals/${refusalId}/proposal`;
    expect(await world.must('GET', ofWorkspace)).toEqual(proposal);
    // Nothing was stored.
    const { content } = await world.must(
      'GET',
      `/v3/assets?workspaceIds=${world.workspaceId}&search=door`,
    );
    expect(content).toEqual([]);
  });

  test('a decoder that never ends costs its time limit, and the next is tried', async () => {
    const doors = await connector();
    const endless = await deviceType('endless', 'function consume() { for (;;); }');
    await flowOf(doors, endless);
    const path = await refused(doors, 'endless door');
    const { types } = await world.must('GET', `${path}/proposal`);
    const found = types.find(
      (one: { deviceType: { id: string } }) => one.deviceType.id === endless,
    );
    expect(found).toMatchObject({ score: 0, errors: [expect.stringMatching(/\S/)] });
  });

  test('similar devices, and none of another organization or beyond the permission', async () => {
    const device = await world.device();
    const doors = await connector();
    const path = await refused(doors, `${device.deviceId} `);
    const { similar } = await world.must('GET', `${path}/proposal`);
    expect(similar).toContainEqual(
      expect.objectContaining({ id: device.id, deviceId: device.deviceId }),
    );
  });
});

describe('registration', () => {
  test('device and flow, the payload at the time that it named; twice is 409', async () => {
    const doors = await connector();
    const typeId = await deviceType(
      'door',
      `function consume(event) { emit('sample', { data: { open: event.data.t }, topic: 'door' }); }`,
    );
    const at = '2026-02-03T04:05:06.000Z';
    const path = await refused(doors, 'front', { query: { timestamp: at } });
    const tag = await world.must('POST', '/v3/tags', {
      name: 'entrance',
      workspaceId: world.workspaceId,
    });
    const place = await world.must('POST', '/v3/places', {
      name: 'Hall',
      workspaceId: world.workspaceId,
    });
    const registered = await world.must('POST', `${path}/register`, {
      deviceTypeId: typeId,
      tags: [{ id: tag.id }],
      placeId: place.id,
    });
    expect(registered).toMatchObject({
      deviceId: 'front',
      name: 'front',
      workspaceId: world.workspaceId,
      tags: [{ name: 'entrance' }],
      placeId: place.id,
    });
    expect(await samplesOf(registered.id)).toMatchObject([
      { topic: 'door', timestamp: at, data: { open: 21.5 } },
    ]);
    const flow = await world.must('GET', `/v3/data-flows/${registered.dataFlowId}`);
    expect(flow).toMatchObject({ deviceConnector: { id: doors.id }, deviceType: { id: typeId } });
    const again = await world.call('POST', `${path}/register`, { deviceTypeId: typeId });
    expect([again.status, again.body.errorCode]).toEqual([409, '40900_DEVICE_ID_NOT_UNIQUE']);
    const [listed] = (await world.must('GET', path.slice(0, path.lastIndexOf('/')))).content;
    expect(listed.registeredDeviceId).toBe(registered.id);
    // The next one of the type takes the flow that exists.
    const next = await fetch(
      `${world.base}/v3/capture?secret=${doors.uplinkSecret}&deviceId=back`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"t":1}',
      },
    );
    expect(next.status).toBe(404);
    const list = path.slice(0, path.lastIndexOf('/'));
    const back = async () =>
      (await world.must('GET', list)).content.find((one: Body) => one['deviceId'] === 'back');
    await expect.poll(back, { timeout: 60_000 }).toBeDefined();
    const before = new Date().toISOString();
    const { id: backId } = await back();
    const ofWorkspace = `/v3/workspaces/${world.workspaceId}/refusals/${backId}/register`;
    const second = await world.must('POST', ofWorkspace, {
      deviceTypeId: typeId,
      name: 'Back door',
    });
    expect(second).toMatchObject({ name: 'Back door', dataFlowId: registered.dataFlowId });
    // Without a time of its own, it is when it arrived.
    const [sample] = await samplesOf(second.id);
    expect(String(sample?.['timestamp']) < before).toBe(true);
  });

  test('once for one Idempotency-Key, and its payload once', async () => {
    const doors = await connector();
    const flow = await flowOf(doors);
    const path = await refused(doors, 'idempotent');
    const headers = { 'idempotency-key': 'register' };
    const body = { dataFlowId: flow.id };
    const first = await world.call('POST', `${path}/register`, body, headers);
    const again = await world.call('POST', `${path}/register`, body, headers);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body.id).toBe(first.body.id);
    expect((await world.must('GET', `/v3/devices/${first.body.id}/uplinks`)).totalElements).toBe(1);
  });

  test('replay: false takes the device alone', async () => {
    const doors = await connector();
    const flow = await flowOf(doors);
    const path = await refused(doors, 'alone');
    const { id } = await world.must('POST', `${path}/register`, {
      dataFlowId: flow.id,
      replay: false,
    });
    expect(await samplesOf(id)).toEqual([]);
  });

  test('what is refused leaves nothing behind, neither flow nor device', async () => {
    const doors = await connector();
    const others = await connector();
    const foreign = await flowOf(others);
    const typeId = await deviceType('left behind', null);
    const path = await refused(doors, 'nobody here');
    const register = async (body: object) =>
      (await world.call('POST', `${path}/register`, body)).status;
    expect(await register({})).toBe(400);
    expect(await register({ deviceTypeId: typeId, dataFlowId: foreign.id })).toBe(400);
    expect(await register({ dataFlowId: foreign.id })).toBe(400);
    expect(await register({ deviceTypeId: '3300000000000000' })).toBe(400);
    expect(await register({ deviceTypeId: typeId, tags: [{ id: '7100000000000000' }] })).toBe(400);
    const flows = await world.must(
      'GET',
      `/v3/data-flows?workspaceId=${world.workspaceId}&search=left`,
    );
    expect(flows.content).toEqual([]);
    const unnamed = await refused(await connector(), '');
    const nameless = await world.call('POST', `${unnamed}/register`, { deviceTypeId: typeId });
    expect([nameless.status, nameless.body.message]).toEqual([
      400,
      expect.stringContaining('names no device'),
    ]);
    const gone = path.replace(/[^/]+$/, '4500000000000000');
    expect((await world.call('GET', `${gone}/proposal`)).status).toBe(404);
    expect((await world.call('POST', `${gone}/register`, { deviceTypeId: typeId })).status).toBe(
      404,
    );
    // Of another connector, it is none of this one.
    const elsewhere = path.replace(doors.id, others.id);
    expect((await world.call('GET', `${elsewhere}/proposal`)).status).toBe(404);
  });

  test('a new flow needs dataFlow create, an existing one does not', async () => {
    const doors = await connector();
    const typeId = await deviceType('needs a flow', null);
    const flow = await flowOf(doors);
    const path = await refused(doors, 'keyed');
    const owner = await signIn(world.base, 'admin@localhost');
    const { secret } = await owner.must('POST', '/v3/api-keys', {
      name: 'registers',
      organizationId: world.organizationId,
      permissions: { asset: ['read', 'create'] },
    });
    const register = (body: object) =>
      world.call('POST', `${path}/register`, body, { 'x-api-key': secret });
    expect((await register({ deviceTypeId: typeId })).status).toBe(403);
    expect((await register({ dataFlowId: flow.id })).status).toBe(201);
  });
});

describe('the payload as its transport would have read it', () => {
  const rows: readonly [what: string, sent: Sent, samples: readonly Body[]][] = [
    ['a topic', { query: { topic: 'doors' } }, [{ topic: 'doors', data: { t: 21.5 } }]],
    [
      'compressed',
      {
        body: gzipSync('{"t":2}'),
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      },
      [{ data: { t: 2 } }],
    ],
    [
      'CBOR',
      {
        body: Buffer.from('a161740f', 'hex'),
        headers: { 'content-type': 'application/cbor' },
      },
      [{ data: { t: 15 } }],
    ],
    [
      'a SenML pack',
      {
        body: '[{"n":"t","v":3}]',
        headers: { 'content-type': 'application/senml+json' },
      },
      [{ data: { t: 3 } }],
    ],
  ];
  test.each(rows)('%s', async (what, sent, samples) => {
    const doors = await connector();
    const flow = await flowOf(doors);
    const path = await refused(doors, `sent ${what}`, sent);
    const { id } = await world.must('POST', `${path}/register`, { dataFlowId: flow.id });
    expect([await notesOf(id), await samplesOf(id)]).toMatchObject([[], samples]);
  });

  test('over CoAP', async () => {
    const doors = await connector({ connectivity: 'COAP' }).catch(() => connector());
    const flow = await flowOf(doors);
    await askCoap(coapPort, {
      query: { secret: doors.uplinkSecret, deviceId: 'coap door', topic: 'coap' },
      body: '{"t":4}',
    });
    const path = await shown(doors.id);
    const { id } = await world.must('POST', `${path}/register`, { dataFlowId: flow.id });
    expect(await samplesOf(id)).toMatchObject([{ topic: 'coap', data: { t: 4 } }]);
  });

  test('a webhook of a network server', async () => {
    const doors = await connector({ decodingType: 'CHIRP_STACK' });
    const typeId = await deviceType(
      'eui',
      `function consume(event) { emit('sample', { data: { hex: event.data.payloadHex }, topic: 'default' }); }`,
    );
    const webhook = { deviceInfo: { devEui: '0102030405060709' }, fPort: 1, data: 'AQ==' };
    const path = await refused(doors, '', {
      query: { event: 'up' },
      body: JSON.stringify(webhook),
    });
    await flowOf(doors, typeId);
    const proposal = await world.must('GET', `${path}/proposal`);
    const tried = proposal.types.find(
      (one: { deviceType: { id: string } }) => one.deviceType.id === typeId,
    );
    expect(tried.samples).toMatchObject([{ data: { hex: '01' } }]);
    const { id } = await world.must('POST', `${path}/register`, { deviceTypeId: typeId });
    expect(await samplesOf(id)).toMatchObject([{ data: { hex: '01' } }]);
  });

  test.each([
    ['more than was kept', { body: `"${'x'.repeat(5_000)}"` }, /first 4096 of the 5002 bytes/],
    [
      'br that is none',
      { headers: { 'content-encoding': 'br', 'content-type': 'application/json' } },
      /no valid br data/,
    ],
  ] as const)('%s: the device exists, and its log says why', async (what, sent, reason) => {
    const doors = await connector();
    const flow = await flowOf(doors);
    const path = await refused(doors, `cut ${what}`, sent);
    const { unreadable } = await world.must('GET', `${path}/proposal`);
    expect(unreadable).toMatch(reason);
    const { id } = await world.must('POST', `${path}/register`, { dataFlowId: flow.id });
    await expect
      .poll(() => notesOf(id), { timeout: 60_000 })
      .toEqual([expect.stringMatching(reason)]);
    expect(await samplesOf(id)).toEqual([]);
  });
});
