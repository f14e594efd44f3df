// Registering, deregistering, activating and deactivating many devices: records, network servers, repetition (contract 4, 19).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runOperationChunk } from '../../src/inventory/operations/operations.ts';
import { problem } from '../../src/model/problem.ts';
import { type Body, makeDevice, type RecordsWorld, startRecordsWorld } from './records-world.ts';

let world: RecordsWorld;
let count = 0;
let told: string[] = [];

beforeAll(async () => {
  world = await startRecordsWorld();
  world.network.tell = async ({ deviceId }, work) => {
    told.push(`${work} ${deviceId}`);
    if (deviceId.startsWith('untold')) return { skipped: 'its server has no interface' };
    if (deviceId.startsWith('silent')) return { unreachable: 'it timed out' };
    if (deviceId.startsWith('refused'))
      throw problem('invalidRequest', { reason: `the server knows no ${deviceId}` });
    return undefined;
  };
});
afterAll(async () => {
  expect(world.failures).toEqual([]);
  await world.close();
});

async function lora(name = `l-${count++}`, draft: object = {}): Promise<Body> {
  const { device } = await makeDevice(world.admin, world.workspaceId, name, {
    connectivity: 'LORA',
    ...draft,
  });
  return device;
}

/** Fields of a device of an integration. */
async function integrated(name = `i-${count++}`): Promise<Body> {
  const device = await lora(name);
  await world.records.db
    .updateTable('devices')
    .set({ integrationId: '06' })
    .where('id', '=', device.id)
    .execute();
  return device;
}

async function run(work: string, deviceIds: string[]): Promise<Body> {
  told = [];
  const body = { workspaceId: world.workspaceId, deviceIds };
  const accepted = await world.admin('POST', `/v3/devices/bulk/${work}`, body);
  expect(accepted.status, JSON.stringify(accepted.body)).toBe(202);
  await world.operations.idle();
  return (await world.admin('GET', `/v3/operations/${accepted.body.id}`)).body;
}
const read = async (id: string) => (await world.admin('GET', `/v3/devices/${id}`)).body;

test('behaviour 15: whether a new LoRa device is registered is unknown, and it is active', async () => {
  expect(await lora()).toMatchObject({
    registered: null,
    active: true,
    online: null,
    onlineState: 'UNKNOWN',
  });
  const http = await lora('h-1', { connectivity: 'HTTP' });
  expect(http).toMatchObject({ registered: null });
  expect(http).not.toHaveProperty('active');
  const changed = await world.admin('PUT', `/v3/devices/${http.id}`, { connectivity: 'LORA' });
  expect(changed.body).toMatchObject({ registered: null, active: true });
});

test('contract 4: LoRa and not registered is DE_REGISTERED, in records, lists and filters', async () => {
  const device = await lora();
  const ended = await run('deregister', [device.id]);
  expect(ended).toMatchObject({
    type: 'BULK_DEREGISTER',
    succeeded: true,
    actions: [
      {
        type: 'DEREGISTER',
        state: 'SUCCEEDED',
        data: { id: device.id, deviceId: device.deviceId },
      },
    ],
  });
  expect(told).toEqual([]);
  expect(await read(device.id)).toMatchObject({
    registered: false,
    online: false,
    onlineState: 'DE_REGISTERED',
  });
  const list = await world.admin(
    'GET',
    `/v3/assets?workspaceId=${world.workspaceId}&state=DE_REGISTERED`,
  );
  expect(list.body.content.map((each: Body) => each.id)).toEqual([device.id]);
  expect(await run('register', [device.id])).toMatchObject({
    type: 'BULK_REGISTER',
    succeeded: true,
    actions: [{ state: 'SKIPPED', data: { reason: 'the device belongs to no integration' } }],
  });
  expect(await read(device.id)).toMatchObject({
    registered: null,
    onlineState: 'UNKNOWN',
    version: 2,
  });
});

test.each([
  ['activate', 'ACTIVATE', true],
  ['deactivate', 'DEACTIVATE', false],
])('%s of many devices', async (work, type, active) => {
  const device = await integrated();
  await run(active ? 'deactivate' : 'activate', [device.id]);
  const ended = await run(work, [device.id, 'unknown']);
  expect(ended).toMatchObject({
    type: `BULK_${type}`,
    actionsFailed: 1,
    actions: [
      { type, state: 'SUCCEEDED' },
      { type, state: 'FAILED', data: { errorCode: '40400_NOT_FOUND' } },
    ],
  });
  expect(told).toEqual([`${work} ${device.deviceId}`]);
  expect(await read(device.id)).toMatchObject({ active, registered: null });
});

test.each(['register', 'deregister', 'activate', 'deactivate'])(
  '%s refuses a device that is not LoRa, and no other',
  async (work) => {
    const http = await lora(undefined, { connectivity: 'HTTP' });
    const other = await lora();
    const ended = await run(work, [http.id, other.id]);
    expect(ended.actions.map((action: Body) => [action.state, action.data.errorCode])).toEqual([
      ['FAILED', '40906_NOT_REGISTRABLE'],
      [work === 'register' ? 'SKIPPED' : 'SUCCEEDED', undefined],
    ]);
    expect(ended.actions[0].data.error).toContain('it uses HTTP');
  },
);

test('a rejection of a network server changes nothing and stops no other; an equal state is not sent', async () => {
  const refused = await integrated('refused-1');
  const [one, other] = [await integrated(), await integrated()];
  await run('deregister', [other.id]);
  const ended = await run('deregister', [refused.id, one.id, other.id]);
  expect(told).toEqual(['deregister refused-1', `deregister ${one.deviceId}`]);
  expect(ended).toMatchObject({
    actionsCompleted: 3,
    actionsFailed: 1,
    actions: [{ state: 'FAILED', data: { error: 'the server knows no refused-1' } }, {}, {}],
  });
  expect(await read(refused.id)).toMatchObject({ registered: null, version: 0 });
  expect(await read(one.id)).toMatchObject({ registered: false, version: 1 });
  expect(await read(other.id)).toMatchObject({ registered: false, version: 1 });
});

test('an operation that was interrupted after its request repeats the request, and does nothing twice', async () => {
  const devices = [await integrated()];
  const sent = { workspaceId: world.workspaceId, deviceIds: devices.map((device) => device.id) };
  told = [];
  const accepted = await world.admin('POST', '/v3/devices/bulk/deregister', sent);
  const cutOff = async () => Promise.reject(new Error('killed'));
  const { records } = world;
  const { id } = accepted.body;
  await world.operations.idle();
  expect((await world.admin('GET', `/v3/operations/${id}`)).body.succeeded).toBe(true);
  await records.db
    .updateTable('operations')
    .set({ completed: null, done: 0 })
    .where('id', '=', id)
    .execute();
  await records.db
    .updateTable('operationActions')
    .set({ state: 'PENDING', input: JSON.stringify({ id: devices[0].id }) })
    .where('operationId', '=', id)
    .execute();
  await records.db
    .updateTable('devices')
    .set({ registered: 1 })
    .where('id', '=', devices[0].id)
    .execute();
  const chunk = runOperationChunk(records, id, () => true, cutOff);
  await expect(chunk).rejects.toThrow('killed');
  expect(await read(devices[0].id)).toMatchObject({ registered: true });
  told = [];
  await world.operations.resume();
  await world.operations.idle();
  expect(told).toEqual([`deregister ${devices[0].deviceId}`]);
  expect(await read(devices[0].id)).toMatchObject({ registered: false, version: 2 });
});

test('what a network server answered is stored, also when the time of the chunk ends', async () => {
  const devices = [await integrated(), await integrated(), await integrated()];
  const sent = { workspaceId: world.workspaceId, deviceIds: devices.map((device) => device.id) };
  const created = await world.admin('POST', '/v3/devices/bulk/deregister', sent);
  await world.operations.idle();
  const { records } = world;
  const { id } = created.body;
  const ids = devices.map((device) => device.id);
  await records.db
    .updateTable('operations')
    .set({ completed: null, done: 0 })
    .where('id', '=', id)
    .execute();
  await Promise.all(
    ids.map(async (device, place) =>
      records.db
        .updateTable('operationActions')
        .set({ state: 'PENDING', input: JSON.stringify({ id: device }) })
        .where('operationId', '=', id)
        .where('place', '=', place)
        .execute(),
    ),
  );
  await records.db.updateTable('devices').set({ registered: 1 }).where('id', 'in', ids).execute();
  told = [];
  let questions = 0;
  const isTimeUp = () => (questions += 1) > ids.length;
  const isEnded = await runOperationChunk(records, id, isTimeUp, world.network.tell);
  expect(isEnded).toBe(true);
  expect(told).toEqual(devices.map((device) => `deregister ${device.deviceId}`));
});

test('behaviour 15: to register asks the server, also where it was asked before, and fails with its reason', async () => {
  const [refused, device] = [await integrated('refused-2'), await integrated()];
  const ended = await run('register', [refused.id, device.id]);
  expect(told).toEqual(['register refused-2', `register ${device.deviceId}`]);
  expect(ended).toMatchObject({
    actionsFailed: 1,
    actions: [
      { state: 'FAILED', data: { error: 'the server knows no refused-2' } },
      { state: 'SUCCEEDED' },
    ],
  });
  expect(await read(refused.id)).toMatchObject({ registered: null });
  expect(await read(device.id)).toMatchObject({ registered: true, version: 1 });
  await run('register', [device.id]);
  expect(told).toEqual([`register ${device.deviceId}`]);
  expect(await read(device.id)).toMatchObject({ registered: true, version: 1 });
});

test.each(['register', 'deregister', 'activate', 'deactivate'])(
  'behaviour 15: %s of a device whose server has no interface is SKIPPED with the reason',
  async (work) => {
    const device = await integrated(`untold-${work}`);
    const before = await read(device.id);
    if (work === 'activate') await run('deactivate', [device.id]);
    const ended = await run(work, [device.id]);
    const data = { id: device.id, reason: 'its server has no interface' };
    if (work === 'activate') expect(ended.actions).toMatchObject([{ state: 'SUCCEEDED' }]);
    else expect(ended.actions).toMatchObject([{ state: 'SKIPPED', data }]);
    expect(ended).toMatchObject({ actionsCompleted: 1, actionsFailed: 0, succeeded: true });
    expect(await read(device.id)).toMatchObject({
      registered: before.registered,
      active: before.active,
    });
    const path = `/v3/operations/${ended.id}`;
    const old = await world.admin('GET', path, undefined, { 'akenza-client': 'x' });
    expect(old.body.actions).toMatchObject([{ state: 'SUCCEEDED' }]);
  },
);

test('behaviour 15: a server that does not answer is asked once, and its devices fail with that reason', async () => {
  const devices = [await integrated('silent-1'), await integrated('silent-2'), await lora()];
  const ended = await run(
    'deregister',
    devices.map(({ id }) => id),
  );
  expect(told).toEqual(['deregister silent-1']);
  const failed = {
    state: 'FAILED',
    data: { error: 'The network server rejected the request: it timed out' },
  };
  expect(ended.actions).toMatchObject([failed, failed, { state: 'SUCCEEDED' }]);
});

test('behaviour 15: deleting devices deregisters them, and the operation tells what came of it', async () => {
  const names = ['gone-1', 'refused-3', 'untold-3', 'silent-3'];
  const devices = await Promise.all(names.map((name) => integrated(name)));
  const local = await lora();
  const ended = await run(
    'delete',
    [...devices, local].map(({ id }) => id),
  );
  expect(told.toSorted()).toEqual(names.map((name) => `deregister ${name}`).toSorted());
  expect(ended).toMatchObject({ actionsFailed: 0, succeeded: true });
  const dataOf = (at: number) => {
    const { deregistered, reason } = ended.actions[at].data;
    return [ended.actions[at].state, deregistered, reason];
  };
  expect([0, 1, 2, 3, 4].map(dataOf)).toEqual([
    ['SUCCEEDED', true, undefined],
    ['SUCCEEDED', false, 'the server knows no refused-3'],
    ['SUCCEEDED', false, 'its server has no interface'],
    ['SUCCEEDED', false, 'The network server rejected the request: it timed out'],
    ['SUCCEEDED', undefined, undefined],
  ]);
  for (const { id } of devices)
    expect((await world.admin('GET', `/v3/devices/${id}`)).status).toBe(404);
});

test('behaviour 15: deleting one device deregisters it, whatever its server says', async () => {
  for (const name of ['gone-4', 'refused-4']) {
    const { id } = await integrated(name);
    told = [];
    expect((await world.admin('DELETE', `/v3/devices/${id}`)).status).toBe(204);
    expect(told).toEqual([`deregister ${name}`]);
  }
});
