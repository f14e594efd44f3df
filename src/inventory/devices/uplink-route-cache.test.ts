// The directory answers from memory and never from before a change.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { databaseConnectorId } from '../../model/ids.ts';
import type { Principal } from '../../model/principal.ts';
import type { RecordChange } from '../../model/record.ts';
import { type OpenRecords, openRecords } from '../../storage/records/records.ts';
import { testEngine } from '../../storage/records/testing-engine.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { organizationRows } from '../../storage/records/rows/workspaces.ts';
import { outputConnectorRows } from '../../storage/records/rows/data-flows.ts';
import { userRows } from '../../storage/records/rows/users.ts';
import { DataFlows } from '../data-flows/data-flows.ts';
import { DeviceConnectors } from '../data-flows/device-connectors.ts';
import { DeviceTypes } from '../data-flows/device-types.ts';
import { CustomFields } from './device-field-values.ts';
import { Devices } from './devices.ts';
import { Tags } from './tags.ts';
import { type UplinkRouteCache, createUplinkRouteCache } from './uplink-route-cache.ts';
import { Workspaces } from '../workspaces/workspaces.ts';
import { processorMs } from '../../structures/testing-processor-time.ts';

const now = 1;
const viewOptions = { vendorNames: false, connectorSecrets: false };
const principal: Principal = {
  kind: 'USER',
  id: 'u',
  name: 'u',
  organizationId: 'o',
  workspaces: 'all',
  permissions: { dataFlow: ['update'], asset: ['update'] },
};
let directory: string;
let records: OpenRecords;
let uplinks: UplinkRouteCache;
let workspaceId: string;
let secret: string;
let otherSecret: string;
let flowId: string;
let reads = 0;
let onRead = () => {};
/** Answers of reads of devices wait here, when one is set. */
let holdAnswer: (() => Promise<void>) | undefined;

/** A query whose answer waits. */
function held<T extends object>(query: T, wait: () => Promise<void>): T {
  const waited = async (answer: unknown): Promise<unknown> => {
    await wait();
    return answer;
  };
  return new Proxy(query, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        const result: unknown = value.apply(target, given);
        if (name === 'execute') return (result as Promise<unknown>).then(waited);
        return held(result as object, wait);
      };
    },
  });
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'directory-'));
  const announce = (change: RecordChange) => uplinks.recordChanged(change);
  records = await openRecords({
    directory,
    engine: testEngine(directory),
    announce,
    now: () => now,
  });
  const db = new Proxy(records.db, {
    get(target, name) {
      // A statement that is kept as text is not built again.
      if (name === 'selectFrom' || name === 'executeQuery') {
        reads += 1;
        onRead();
      }
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const wait = holdAnswer;
      if (name !== 'selectFrom' || wait === undefined) return value.bind(target) as unknown;
      return (...given: unknown[]) => held(value.apply(target, given) as object, wait);
    },
  });
  uplinks = createUplinkRouteCache({ ...records, db });
  const audit = { created: now, updated: null, version: 0 };
  await userRows.insert(records.db, {
    id: 'u',
    name: 'u',
    email: 'u',
    proven: false,
    passwordHash: '',
    ...audit,
  });
  const tenant = {
    id: 'o',
    name: 'o',
    description: null,
    logo: null,
    ownerId: 'u',
    properties: null,
  };
  await organizationRows.insert(records.db, { ...tenant, ...audit });
  await outputConnectorRows.insert(records, {
    id: databaseConnectorId,
    organizationId: null,
    workspaceId: null,
    name: 'Database',
    scope: 'DATA_FLOW',
    type: 'DATABASE',
    sendConsecutiveAlerts: false,
    invokeRuleEngine: false,
    useCustomPayload: false,
    customPayload: null,
    properties: null,
    ...audit,
  });
  workspaceId = (await new Workspaces(records).create({ organizationId: 'o', name: 'w' })).id;
  const connector = { name: 'c', workspaceId, connectivity: 'HTTP' } as const;
  const used = await new DeviceConnectors(records).create(principal, connector);
  secret = used.uplinkSecret!;
  otherSecret = (await new DeviceConnectors(records).create(principal, connector)).uplinkSecret!;
  const outputConnectors = [{ id: databaseConnectorId, topic: 'alarm' }];
  const flow = { name: 'f', workspaceId, deviceConnector: { id: used.id }, outputConnectors };
  flowId = (await new DataFlows(records).create({ principal, viewOptions }, flow)).id;
});
afterAll(async () => {
  await records.close();
  rmSync(directory, { recursive: true, force: true });
});

const make = (deviceId: string, more: object = {}) =>
  new Devices(records).create(principal, {
    name: deviceId,
    deviceId,
    workspaceId,
    dataFlowId: flowId,
    ...more,
  });
const statusOf = async (work: () => unknown) => {
  try {
    await work();
    return 200;
  } catch (error) {
    return (error as { status: number }).status;
  }
};

test('contract 18: wrong secret 401, unknown device 404, device of another connector 403', async () => {
  await make('d1');
  expect(await statusOf(() => uplinks.bySecret('wrong', 'd1'))).toBe(401);
  for (let twice = 0; twice < 2; twice += 1) {
    expect(await statusOf(() => uplinks.bySecret(secret, 'nobody'))).toBe(404);
    expect(await statusOf(() => uplinks.bySecret(otherSecret, 'd1'))).toBe(403);
    expect(await statusOf(() => uplinks.bySecret(secret, 'd1'))).toBe(200);
  }
});

test('a route holds device, flow, connector, type, outputs and tags', async () => {
  const tag = await new Tags(records).create({ workspaceId, name: 'Roof' });
  const { id } = await make('d2', { tags: [{ id: tag.id }] });
  const route = await uplinks.bySecret(secret, 'd2');
  expect(route.device.id).toBe(id);
  expect(route.flow.id).toBe(flowId);
  expect(route.connector.uplinkSecret).toBe(secret);
  expect(route.type).toBeNull();
  expect(route.outputs.map(({ connector, topic }) => [connector.type, topic])).toEqual([
    ['DATABASE', 'alarm'],
  ]);
  expect(route.tags.map(({ name }) => name)).toEqual(['Roof']);
  await new Tags(records).remove(tag.id);
  expect((await uplinks.byDevice(id)).tags).toEqual([]);
});

test('a connector is known by its id from its first look-up until it changes', async () => {
  const { id } = await uplinks.connector(secret);
  expect(uplinks.knownConnector(id)?.uplinkSecret).toBe(secret);
  uplinks.recordChanged({ kind: 'deviceConnector', id, action: 'updated' });
  expect(uplinks.knownConnector(id)).toBeUndefined();
  expect(uplinks.knownConnector('unknown')).toBeUndefined();
});

test('the outputs of a device in memory are known without its route, and unknown after a change', async () => {
  const { id } = await make('d4');
  const topics = () => uplinks.cachedOutputs(id)?.map(({ topic }) => topic);
  expect(topics()).toBeUndefined();
  await uplinks.byDevice(id);
  const ofFlow = () => uplinks.cachedFlowOutputs(flowId)?.map(({ topic }) => topic);
  expect([topics(), ofFlow()]).toEqual([['alarm'], ['alarm']]);
  await new DataFlows(records).update({ principal, viewOptions }, flowId, { name: 'renamed' });
  expect([topics(), ofFlow()]).toEqual([undefined, undefined]);
  await uplinks.byDevice(id);
  expect(topics()).toEqual(['alarm']);
  await new Devices(records).remove(id);
  expect(topics()).toBeUndefined();
});

test('every change is seen by the next look', async () => {
  const { id } = await make('d3');
  await uplinks.bySecret(secret, 'd3');
  const type = await new DeviceTypes(records).create(
    { organizationId: 'o', name: 't', uplinkScript: { code: 'one' } },
    now,
  );
  await new DataFlows(records).update({ principal, viewOptions }, flowId, {
    deviceType: { id: type.id },
  });
  expect((await uplinks.bySecret(secret, 'd3')).type?.uplinkScript?.code).toBe('one');
  await new DeviceTypes(records).update(type.id, { uplinkScript: { code: 'two' } }, now);
  expect((await uplinks.bySecret(secret, 'd3')).type?.uplinkScript?.code).toBe('two');
  await new Devices(records).update(principal, id, { deviceId: 'd3-new' });
  expect((await uplinks.byDevice(id)).device.deviceId).toBe('d3-new');
  expect(await statusOf(() => uplinks.bySecret(secret, 'd3'))).toBe(404);
  expect((await uplinks.bySecret(secret, 'd3-new')).device.id).toBe(id);
  await new Devices(records).remove(id);
  expect(await statusOf(() => uplinks.bySecret(secret, 'd3-new'))).toBe(404);
  expect(await statusOf(() => uplinks.byDevice(id))).toBe(404);
});

test('goal 100,000 look-ups a second: a known device needs no query', async () => {
  for (let n = 0; n < 200; n += 1) await make(`many-${n}`);
  for (let n = 0; n < 200; n += 1) await uplinks.bySecret(secret, `many-${n}`);
  const before = processorMs();
  for (let n = 0; n < 100_000; n += 1) {
    if (uplinks.bySecret(secret, `many-${n % 200}`) instanceof Promise)
      throw new Error('a known device was read again');
  }
  expect(processorMs() - before).toBeLessThan(1_000);
});

/** Queries of the directory while the devices are looked up once more. */
async function readsFor(ids: readonly string[]): Promise<number> {
  const before = reads;
  for (const id of ids) await uplinks.byDevice(id);
  return reads - before;
}

test('review bug B4: a change costs reads for what it concerns, and none for anybody else', async () => {
  const theirs = (await new Workspaces(records).create({ organizationId: 'o', name: 'theirs' })).id;
  const tag = await new Tags(records).create({ workspaceId, name: 'Ours' });
  const ids: string[] = [];
  for (let n = 0; n < 50; n++)
    ids.push((await make(`b4-${n}`, n === 0 ? { tags: [{ id: tag.id }] } : {})).id);
  await readsFor(ids);
  const connector = { name: 'c', workspaceId: theirs, connectivity: 'HTTP' } as const;
  const made: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['tag', () => new Tags(records).create({ workspaceId: theirs, name: 'Theirs' })],
    ['tag here', () => new Tags(records).create({ workspaceId, name: 'New' })],
    ['connector', () => new DeviceConnectors(records).create(principal, connector)],
    ['type', () => new DeviceTypes(records).create({ organizationId: 'o', name: 'b4' }, now)],
    ['device', () => make('b4-new')],
  ];
  for (const [what, work] of made) {
    await work();
    expect([what, await readsFor(ids)]).toEqual([what, 0]);
  }
  const foreign = await new Tags(records).create({ workspaceId: theirs, name: 'Foreign' });
  await new Tags(records).update(foreign.id, { name: 'Renamed' });
  expect(await readsFor(ids)).toBe(0);
  await new Tags(records).update(tag.id, { name: 'Renamed' });
  // The tag, for all devices that share its set of tags.
  expect(await readsFor(ids)).toBe(1);
  expect((await uplinks.byDevice(ids[0]!)).tags[0]!.name).toBe('Renamed');
  await new DataFlows(records).update({ principal, viewOptions }, flowId, { name: 'renamed' });
  // The flow is read once for all its devices.
  expect(await readsFor(ids)).toBeLessThan(10);
  expect((await uplinks.byDevice(ids[9]!)).flow.name).toBe('renamed');
});

test('fleet 5: devices that are asked for together are read together', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 300; n++) ids.push((await make(`together-${n}`)).id);
  await make('together-once');
  await uplinks.bySecret(secret, 'together-once');
  // Texts of statements that are made once do not count.
  await deviceRows.byIds(records, ids.slice(0, 256));
  await deviceRows.byIds(records, ids.slice(256));
  const before = reads;
  const found = await Promise.all([
    ...ids.map((_, n) => uplinks.bySecret(secret, `together-${n}`)),
    ...ids.map((id) => uplinks.byDevice(id)),
  ]);
  expect(found.map(({ device }) => device.id)).toEqual([...ids, ...ids]);
  // Devices, tag ids and custom fields, of 256 at a time, by either id.
  expect(reads - before).toBeLessThanOrEqual(2 * 2 * 3);
  expect(await readsFor(ids)).toBe(0);
});

test('fleet 5: changes of others during a read empty nothing and discard nothing', async () => {
  const { id } = await make('undisturbed');
  const changed = (ofId: string) => {
    const kinds = ['tag', 'deviceType', 'dataFlow', 'customFieldMeta', 'device'] as const;
    for (const kind of kinds) uplinks.recordChanged({ kind, id: ofId, action: 'updated' });
  };
  onRead = () => changed('of others');
  expect((await uplinks.byDevice(id)).device.id).toBe(id);
  expect(await readsFor([id])).toBe(0);
  changed(id);
  // Its own change discards what was read before.
  onRead = () => changed(id);
  expect((await uplinks.byDevice(id)).device.id).toBe(id);
  onRead = () => {};
  expect(await readsFor([id])).toBeGreaterThan(0);
  expect(await readsFor([id])).toBe(0);
});

test('a device is found as soon as it is created, also while another caller missed it', async () => {
  const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
  const { promise: isOver, resolve: answer } = Promise.withResolvers<void>();
  holdAnswer = () => {
    read();
    return isOver;
  };
  const early = statusOf(() => uplinks.bySecret(secret, 'just-created'));
  await isRead;
  holdAnswer = undefined;
  await make('just-created');
  const later = statusOf(() => uplinks.bySecret(secret, 'just-created'));
  answer();
  expect(await Promise.all([early, later])).toEqual([404, 200]);
});

test('fleet 5: custom fields follow their values and names, and their deletion', async () => {
  const place = { workspaceId, type: 'STRING' } as const;
  const zone = await new CustomFields(records).create({ ...place, name: 'zone' });
  const area = await new CustomFields(records).create({ ...place, name: 'area' });
  const customFields = [
    { fieldMetaId: zone.id, STRING: 'Ü ☂' },
    { fieldMetaId: area.id, STRING: 'north' },
  ];
  const { id } = await make('fields', { customFields, description: 'ö', properties: { a: [1] } });
  const fields = async () => JSON.stringify((await uplinks.byDevice(id)).customFields);
  for (let twice = 0; twice < 2; twice++)
    expect(await fields()).toBe('{"area":"north","zone":"Ü ☂"}');
  await new CustomFields(records).update(area.id, { name: 'zzz' });
  expect(await fields()).toBe('{"zone":"Ü ☂","zzz":"north"}');
  await new CustomFields(records).remove(area.id, true);
  expect(await fields()).toBe('{"zone":"Ü ☂"}');
  const { device } = await uplinks.byDevice(id);
  expect(device).toEqual(await deviceRows.find(records, id));
});
