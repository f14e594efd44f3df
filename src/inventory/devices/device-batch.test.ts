// Device batches: many changes in one transaction have the outcomes of the same changes made one by one.
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DeviceDraft, DeviceUpdate } from '../../contract/devices.ts';
import type { Principal } from '../../model/principal.ts';
import { Problem } from '../../model/problem.ts';
import { standardQuotas } from '../../model/quota.ts';
import type { RecordChange } from '../../model/record.ts';
import type { Records } from '../../storage/records/records.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { organizationRows } from '../../storage/records/rows/workspaces.ts';
import { openTestRecords, type TestRecords } from '../../storage/records/testing-records.ts';
import { DataFlows } from '../data-flows/data-flows.ts';
import { DeviceConnectors } from '../data-flows/device-connectors.ts';
import { change } from '../record-crud.ts';
import { Workspaces } from '../workspaces/workspaces.ts';
import { CustomFields } from './device-field-values.ts';
import { changeDevice, changeDevices, type DeviceChange } from './device-batch.ts';
import { Devices } from './devices.ts';
import { Tags } from './tags.ts';

const now = Date.UTC(2026, 0, 1);
const devicesMax = 9;
const principal: Principal = {
  kind: 'USER',
  id: 'u',
  name: 'u',
  organizationId: 'o',
  workspaces: 'all',
  permissions: { asset: ['read', 'create', 'update'] },
};

/** Two workspaces with a flow, tags and fields, by names that are equal in every inventory. */
class Inventory {
  readonly test: TestRecords;
  readonly records: Records;
  readonly announced: RecordChange[];
  readonly ids = new Map<string, string>();

  constructor(test: TestRecords, announced: RecordChange[]) {
    this.test = test;
    this.announced = announced;
    const quotas = { ...standardQuotas, devices: devicesMax };
    this.records = { ...test.records, now: () => now, quotas };
  }

  static async open(): Promise<Inventory> {
    const announced: RecordChange[] = [];
    const opened = await openTestRecords((told) => void announced.push(told));
    const inventory = new Inventory(opened, announced);
    await inventory.#fill();
    return inventory;
  }

  async #fill(): Promise<void> {
    const { records, ids } = this;
    const viewer = { principal, viewOptions: { vendorNames: false, connectorSecrets: false } };
    for (const place of ['A', 'B']) {
      const { id: workspaceId } = await new Workspaces(records).create({
        organizationId: 'o',
        name: place,
      });
      ids.set(place, workspaceId);
      for (const connectivity of ['HTTP', 'MQTT'] as const) {
        const draft = { workspaceId, name: connectivity, connectivity };
        const connector = await new DeviceConnectors(records).create(principal, draft);
        ids.set(`${place} connector ${connectivity}`, connector.id);
        const flow = { workspaceId, name: connectivity, deviceConnector: { id: connector.id } };
        ids.set(`${place} ${connectivity}`, (await new DataFlows(records).create(viewer, flow)).id);
      }
      for (const name of place === 'A' ? ['red', 'green', 'blue'] : ['green', 'blue'])
        ids.set(`${place} ${name}`, (await new Tags(records).create({ workspaceId, name })).id);
      for (const [name, type] of [
        ['room', 'STRING'],
        ['level', 'NUMBER'],
      ] as const) {
        const field = { workspaceId, name, type, required: place === 'B' && name === 'level' };
        ids.set(`${place} ${name}`, (await new CustomFields(records).create(field)).id);
      }
    }
  }

  /** A name that stands for nothing is an id that does not exist. */
  readonly id = (name: string): string => this.ids.get(name) ?? '0000000000000000';

  /** Four devices, and none of those before. */
  async renew(): Promise<void> {
    const { records } = this;
    for (const place of ['A', 'B'])
      for (const { id } of await deviceRows.after(records, this.id(place), '', 1_000))
        await change(records, (step) => changeDevice(step, { work: 'delete', id }));
    await records.db.deleteFrom('deletedDevices').execute();
    for (const n of [0, 1, 2, 3]) {
      const draft: DeviceDraft = {
        name: `device ${n}`,
        deviceId: `d${n}`,
        workspaceId: this.id('A'),
        dataFlowId: this.id('A HTTP'),
        connectivity: 'HTTP',
        tags: [{ id: this.id('A red') }, { id: this.id('A green') }].slice(0, n),
        customFields: [{ fieldMetaId: this.id('A level'), NUMBER: n }],
      };
      const { id } = await change(records, (step) => changeDevice(step, { work: 'create', draft }));
      if (n === 3) {
        // Only integrations have LoRa connectors.
        const device = await deviceRows.find(records, id);
        await deviceRows.save(records, { ...device!, connectivity: 'LORA', active: true });
      }
      this.ids.set(`device ${n}`, id);
    }
    this.announced.length = 0;
  }

  /** With names where ids were. */
  async state() {
    const devices = (
      await Promise.all(
        ['A', 'B'].map((place) => deviceRows.after(this.records, this.id(place), '', 1_000)),
      )
    ).flat();
    const views = await new Devices(this.records).views(principal, devices);
    const byDeviceId = views
      .map((view) => ({
        ...view,
        tags: view.tags.map(({ id }) => id),
        customFields: view.customFields.map(({ fieldMetaId, NUMBER, STRING }) => ({
          fieldMetaId,
          NUMBER,
          STRING,
        })),
      }))
      .sort((one, other) => (one.deviceId < other.deviceId ? -1 : 1));
    const deleted = (await deviceRows.deleted(this.records.db)).map(({ deviceId }) => deviceId);
    const count = await organizationRows.countOf(this.records.db, 'o', 'devices');
    return {
      devices: this.named(byDeviceId, devices),
      deleted: (this.named(deleted) as string[]).sort(),
      count,
    };
  }

  named(value: unknown, created: readonly { id: string; deviceId: string }[] = []): unknown {
    let text = JSON.stringify(value);
    for (const [name, id] of this.ids) text = text.replaceAll(id, `<${name}>`);
    for (const { id, deviceId } of created) text = text.replaceAll(id, `<new ${deviceId}>`);
    return JSON.parse(text);
  }
}

/** A change with names for ids. */
type Drawn = (id: Inventory['id']) => DeviceChange;

const deviceId = fc.constantFrom('d0', 'd1', 'd2', 'd3', 'e0', 'e1', 'e2', '\u{d800}', '\u{fffd}');
const device = fc.constantFrom('device 0', 'device 1', 'device 2', 'device 3', 'nothing');
const tags = fc.option(
  fc.uniqueArray(fc.constantFrom('A red', 'A green', 'A blue', 'A red', 'B blue', 'nothing'), {
    maxLength: 2,
  }),
  { nil: undefined, freq: 2 },
);
const level = fc.constantFrom(undefined, undefined, 1, 2, null, 'high');
const flow = fc.constantFrom('A HTTP', 'A HTTP', 'A HTTP', 'A MQTT', 'B HTTP', 'nothing');

const labelsOf = (
  id: Inventory['id'],
  tagNames: readonly string[] | undefined,
  levelNow: unknown,
): Pick<DeviceUpdate, 'tags' | 'customFields'> => ({
  ...(tagNames && { tags: tagNames.map((name) => ({ id: id(name) })) }),
  ...(levelNow !== undefined && {
    customFields: [{ fieldMetaId: id('A level'), NUMBER: levelNow as number }],
  }),
});

const drawn: fc.Arbitrary<Drawn> = fc.oneof(
  fc
    .record({
      deviceId,
      tags,
      level,
      flow,
      connectivity: fc.constantFrom('HTTP', 'MQTT', undefined),
    })
    .map(
      (one): Drawn =>
        (id) => ({
          work: 'create',
          draft: {
            name: `new ${one.deviceId}`,
            deviceId: one.deviceId,
            workspaceId: id('A'),
            dataFlowId: id(one.flow),
            ...(one.connectivity && { connectivity: one.connectivity }),
            ...labelsOf(id, one.tags, one.level),
          },
        }),
    ),
  fc
    .record({
      device,
      deviceId: fc.option(deviceId, { nil: undefined }),
      tags,
      level,
      flow: fc.option(flow, { nil: undefined }),
      version: fc.constantFrom(undefined, undefined, 0, 1),
    })
    .map(
      (one): Drawn =>
        (id) => ({
          work: 'update',
          id: id(one.device),
          sent: {
            ...(one.deviceId && { deviceId: one.deviceId }),
            ...(one.flow && { dataFlowId: id(one.flow) }),
            ...(one.version !== undefined && { version: one.version }),
            ...labelsOf(id, one.tags, one.level),
          },
        }),
    ),
  fc.record({ device, add: tags, remove: tags }).map(
    (one): Drawn =>
      (id) => ({
        work: 'tag',
        id: id(one.device),
        add: (one.add ?? []).map(id),
        remove: (one.remove ?? []).map(id),
      }),
  ),
  fc.record({ device, place: fc.constantFrom('A', 'B', 'B') }).map(
    (one): Drawn =>
      (id) => ({
        work: 'move',
        id: id(one.device),
        workspaceId: id(one.place),
        dataFlowId: id(`${one.place} HTTP`),
      }),
  ),
  device.map(
    (name): Drawn =>
      (id) => ({ work: 'delete', id: id(name) }),
  ),
  fc
    .record({
      device,
      work: fc.constantFrom('register', 'deregister', 'activate', 'deactivate'),
      isAgreed: fc.boolean(),
    })
    .map(
      ({ device: name, ...one }): Drawn =>
        (id) => ({ ...one, id: id(name) }),
    ),
);

let together: Inventory;
let apart: Inventory;
beforeAll(async () => {
  together = await Inventory.open();
  apart = await Inventory.open();
});
afterAll(async () => {
  await together.test.close();
  await apart.test.close();
});

const outcomeOf = (inventory: Inventory, outcome: { id: string; deviceId: string } | Problem) =>
  outcome instanceof Problem
    ? inventory.named(`${outcome.code} ${outcome.message}`)
    : inventory.named(outcome, [outcome]);

async function oneByOne({ records }: Inventory, changes: readonly DeviceChange[]) {
  const outcomes = [];
  for (const one of changes) {
    const made = change(records, (step) => changeDevice(step, one));
    outcomes.push(
      await made.catch((error: unknown) => {
        if (error instanceof Problem) return error;
        throw error;
      }),
    );
  }
  return outcomes;
}

test('changes of a batch end as the same changes made one by one', {
  timeout: 240_000,
}, async () => {
  const scripts = fc.array(drawn, { minLength: 1, maxLength: 12 });
  const run = fc.asyncProperty(scripts, async (script) => {
    await together.renew();
    await apart.renew();
    const batch = script.map((one) => one(together.id));
    const outcomes = await change(together.records, (step) => changeDevices(step, batch));
    const single = await oneByOne(
      apart,
      script.map((one) => one(apart.id)),
    );
    expect(outcomes.map((one) => outcomeOf(together, one))).toEqual(
      single.map((one) => outcomeOf(apart, one)),
    );
    expect(await together.state()).toEqual(await apart.state());
    const actions = ({ announced }: Inventory) =>
      announced.map(({ kind, action }) => [kind, action]);
    expect(actions(together)).toEqual(actions(apart));
  });
  await fc.assert(run, { numRuns: 60 });
});

const creation = (inventory: Inventory, own: Partial<DeviceDraft>): DeviceChange => ({
  work: 'create',
  draft: {
    name: 'n',
    deviceId: 'middle',
    workspaceId: inventory.id('A'),
    dataFlowId: inventory.id('A HTTP'),
    ...own,
  },
});

const aroundMiddle = (middle: Partial<DeviceDraft>) =>
  [{ deviceId: 'before' }, middle, { deviceId: 'after' }].map((own) => creation(together, own));

const made = (changes: readonly DeviceChange[], records = together.records) =>
  change(records, (step) => changeDevices(step, changes));

test.each<[string, (id: Inventory['id']) => Partial<DeviceDraft>, string]>([
  ['a physical id of the same batch', () => ({ deviceId: 'before' }), '40900_DEVICE_ID_NOT_UNIQUE'],
  ['the physical id of a device', () => ({ deviceId: 'd1' }), '40900_DEVICE_ID_NOT_UNIQUE'],
  ['an unknown flow', () => ({ dataFlowId: 'x' }), '40010_UNKNOWN_REFERENCE'],
  [
    'a flow of another workspace',
    (id) => ({ dataFlowId: id('B HTTP') }),
    '40010_UNKNOWN_REFERENCE',
  ],
  ['an unknown workspace', () => ({ workspaceId: 'x' }), '40400_NOT_FOUND'],
  ['an unknown integration', () => ({ integrationId: 'x' }), '40010_UNKNOWN_REFERENCE'],
  [
    'a tag of another workspace',
    (id) => ({ tags: [{ id: id('B blue') }] }),
    '40010_UNKNOWN_REFERENCE',
  ],
  ['another connectivity', () => ({ connectivity: 'MQTT' }), '40016'],
  [
    'a value of another type',
    (id) => ({ customFields: [{ fieldMetaId: id('A level'), NUMBER: 'high' }] }),
    '400',
  ],
  ['invalid LoRa properties', () => ({ loraProperties: { deviceEui: 5 } }), '400'],
])('a batch whose middle has %s creates the others', async (_, middle, code) => {
  await together.renew();
  const outcomes = await made(aroundMiddle(middle(together.id)));
  expect(outcomes.map((one) => (one instanceof Problem ? one.code : one.deviceId))).toEqual([
    'before',
    expect.stringContaining(code),
    'after',
  ]);
  expect(await organizationRows.countOf(together.records.db, 'o', 'devices')).toBe(6);
});

test('a batch creates devices up to the quota, and those that are refused do not count', async () => {
  await together.renew();
  const changes = [
    ...aroundMiddle({ dataFlowId: 'x' }),
    ...['more 0', 'more 1', 'more 2'].map((id) => creation(together, { deviceId: id })),
    ...aroundMiddle({}),
  ];
  // 4 + 2 + 3 are the quota.
  const outcomes = await made(changes);
  expect(outcomes.map((one) => (one instanceof Problem ? one.code.slice(0, 5) : 'made'))).toEqual([
    'made', '40010', 'made', 'made', 'made', 'made', '40900', '40910', '40900',
  ]); // biome-ignore format: one row
  expect(await organizationRows.countOf(together.records.db, 'o', 'devices')).toBe(devicesMax);
});

test('600 devices of one call are created in their order', async () => {
  await together.renew();
  const ids = Array.from({ length: 600 }, (_, n) => `many ${n}`);
  const changes = ids.map((id) => creation(together, { deviceId: id }));
  const outcomes = await made(changes, { ...together.records, quotas: standardQuotas });
  expect(outcomes.map((one) => (one instanceof Problem ? one.code : one.deviceId))).toEqual(ids);
  const stored = await deviceRows.after(together.records, together.id('A'), '', 1_000);
  expect(stored).toHaveLength(604);
});
