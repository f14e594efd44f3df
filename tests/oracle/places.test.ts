// Places: random trees, moves and deletions against a naive model, asked through the filter `places.id`; and the limits.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DataFlows } from '../../src/inventory/data-flows/data-flows.ts';
import { DeviceConnectors } from '../../src/inventory/data-flows/device-connectors.ts';
import { Assets } from '../../src/inventory/devices/assets.ts';
import { Devices } from '../../src/inventory/devices/devices.ts';
import { Places } from '../../src/inventory/devices/places.ts';
import { Workspaces } from '../../src/inventory/workspaces/workspaces.ts';
import { newId } from '../../src/model/ids.ts';
import { placeLimits, type PlaceRecord } from '../../src/model/place.ts';
import { Problem } from '../../src/model/problem.ts';
import { findDeviceIds } from '../../src/storage/records/rows/device-lists.ts';
import { placeRows } from '../../src/storage/records/rows/places.ts';
import { openTestRecords, type TestRecords } from '../../src/storage/records/testing-records.ts';
import { principal } from './filtered-inventory.ts';

let opened: TestRecords;
let workspaceId: string;
let devices: string[];
const names = ['A', 'B', 'C', 'D', 'E', 'F'];
const devicesPerRun = 6;

beforeAll(async () => {
  opened = await openTestRecords();
  const { records } = opened;
  workspaceId = (await new Workspaces(records).create({ organizationId: 'o', name: 'W' })).id;
  const viewer = { principal, viewOptions: { vendorNames: false, connectorSecrets: false } };
  const connector = await new DeviceConnectors(records).create(principal, {
    workspaceId,
    name: 'c',
    connectivity: 'HTTP',
  });
  const flow = await new DataFlows(records).create(viewer, {
    workspaceId,
    name: 'f',
    deviceConnector: { id: connector.id },
  });
  devices = [];
  for (let n = 0; n < devicesPerRun; n++) {
    const draft = { workspaceId, name: `d${n}`, deviceId: `d${n}`, dataFlowId: flow.id };
    devices.push((await new Devices(records).create(principal, draft)).id);
  }
});
afterAll(() => opened.close());

/** A tree of parents: what the closure must agree with. */
class Model {
  readonly parents = new Map<string, string | null>();
  readonly named = new Map<string, string>();
  readonly placeOf = new Map<string, string>();

  path(id: string | null | undefined): string[] {
    return id === null || id === undefined ? [] : [id, ...this.path(this.parents.get(id))];
  }

  below(id: string): string[] {
    return [...this.parents.keys()].filter((each) => this.path(each).includes(id));
  }

  isFree(parentId: string | null, name: string, self?: string): boolean {
    return ![...this.parents].some(
      ([id, parent]) => id !== self && parent === parentId && this.named.get(id) === name,
    );
  }

  /** Levels at and below the place. */
  height(id: string): number {
    return (
      Math.max(...this.below(id).map((each) => this.path(each).length)) - this.path(id).length + 1
    );
  }
}

const index = fc.nat({ max: 30 });
const step = fc.oneof(
  fc.record({ does: fc.constant('create' as const), at: index, name: fc.constantFrom(...names) }),
  fc.record({ does: fc.constant('move' as const), at: index, to: index }),
  fc.record({ does: fc.constant('rename' as const), at: index, name: fc.constantFrom(...names) }),
  fc.record({ does: fc.constant('delete' as const), at: index }),
  fc.record({
    does: fc.constant('put' as const),
    at: index,
    device: fc.nat({ max: devicesPerRun - 1 }),
  }),
);

async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'done';
  } catch (error) {
    if (error instanceof Problem) return error.problem;
    throw error;
  }
}

async function devicesAt(placeId: string): Promise<string[]> {
  const { records } = opened;
  const expression = { operator: 'FILTER', field: 'places.id', predicate: 'IN', values: [placeId] };
  const filter = await new Assets(records).filterOf(principal, { organizationId: 'o', expression });
  return findDeviceIds(records.db, filter, 1_000, 0);
}

async function run(steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[]) {
  const { records } = opened;
  const model = new Model();
  /** Place 0 is the top of the tree. */
  const at = (n: number): string | null => {
    const ids = [null, ...model.parents.keys()];
    return ids[n % ids.length] ?? null;
  };
  for (const one of steps) {
    const id = at(one.at);
    if (one.does === 'create') {
      const isDeep = model.path(id).length >= placeLimits.depthMax;
      const expected = isDeep
        ? 'invalidRequest'
        : model.isFree(id, one.name)
          ? 'done'
          : 'placeTaken';
      let made = '';
      const work = async () => {
        const draft = { workspaceId, name: one.name, parentId: id };
        made = (await new Places(records).create(draft)).id;
      };
      expect(await outcomeOf(work())).toBe(expected);
      if (expected !== 'done') continue;
      model.parents.set(made, id);
      model.named.set(made, one.name);
      continue;
    }
    if (one.does === 'put') {
      const device = devices[one.device] ?? '';
      await new Devices(records).update(principal, device, { placeId: id });
      if (id === null) model.placeOf.delete(device);
      else model.placeOf.set(device, id);
      continue;
    }
    if (id === null) continue;
    const name = model.named.get(id) ?? '';
    if (one.does === 'rename') {
      const isFree = model.isFree(model.parents.get(id) ?? null, one.name, id);
      expect(await outcomeOf(new Places(records).update(id, { name: one.name }))).toBe(
        isFree ? 'done' : 'placeTaken',
      );
      if (isFree) model.named.set(id, one.name);
    } else if (one.does === 'delete') {
      const gone = model.below(id);
      const isUsed = gone.length > 1 || [...model.placeOf.values()].includes(id);
      expect(await outcomeOf(new Places(records).remove(id))).toBe(isUsed ? 'inUse' : 'done');
      if (isUsed) await new Places(records).remove(id, true);
      for (const each of gone) model.parents.delete(each);
      for (const [device, place] of model.placeOf)
        if (gone.includes(place)) model.placeOf.delete(device);
    } else {
      const to = at(one.to);
      const isDeep = model.path(to).length + model.height(id) > placeLimits.depthMax;
      const expected =
        to === model.parents.get(id)
          ? 'done'
          : model.path(to).includes(id)
            ? 'placeBelowItself'
            : isDeep
              ? 'invalidRequest'
              : model.isFree(to, name, id)
                ? 'done'
                : 'placeTaken';
      expect(await outcomeOf(new Places(records).update(id, { parentId: to }))).toBe(expected);
      if (expected === 'done') model.parents.set(id, to);
    }
  }
  for (const id of model.parents.keys()) {
    const expected = devices.filter((device) => model.path(model.placeOf.get(device)).includes(id));
    expect(await devicesAt(id)).toEqual(expected.sort());
    const { path, devicesBelow } = await new Places(records).read(id);
    expect(path.map((place) => place.id)).toEqual(model.path(id).toReversed());
    expect(devicesBelow).toBe(expected.length);
  }
  // The next run begins with an empty tree.
  for (const [id, parent] of model.parents)
    if (parent === null) await new Places(records).remove(id, true);
  const left = records.db.selectFrom('placeAncestors').selectAll();
  expect(await left.execute()).toEqual([]);
}

test('random trees and moves', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 50 }), run), { numRuns: 25 });
});

describe('limits', () => {
  const placeAt = (parentId: string | null, name: string): PlaceRecord => ({
    id: newId('place'),
    organizationId: 'o',
    workspaceId,
    parentId,
    name,
    description: null,
    kind: null,
    externalId: null,
    position: null,
    plan: null,
    properties: {},
    created: 1,
    updated: null,
    version: 0,
  });

  test('5,000 places move at a time, and 20,000 are the most', async () => {
    const { records } = opened;
    const { placesMax, movedMax } = placeLimits;
    const [small, large, target] = [placeAt(null, 's'), placeAt(null, 'l'), placeAt(null, 't')];
    const below = (parent: PlaceRecord, count: number) =>
      Array.from({ length: count }, (_, n) => ({
        record: placeAt(parent.id, String(n)),
        above: [parent.id],
      }));
    const tops = [small, large, target].map((record) => ({ record, above: [] }));
    const rest = placesMax - 3 - (movedMax - 1) - movedMax;
    await placeRows.insertAll(records.db, tops);
    for (const [parent, count] of [
      [small, movedMax - 1],
      [large, movedMax],
      [target, rest],
    ] as const)
      await placeRows.insertAll(records.db, below(parent, count));
    await new Places(records).update(small.id, { parentId: target.id, name: 'moved' });
    expect((await new Places(records).read(small.id)).path).toHaveLength(2);
    await expect(new Places(records).update(large.id, { parentId: target.id })).rejects.toThrow(
      'body parentId: 5001 places would move; at most 5000 can be moved at a time',
    );
    expect(await outcomeOf(new Places(records).create({ workspaceId, name: 'one more' }))).toBe(
      'quotaReached',
    );
    await new Places(records).remove(target.id, true);
    await new Places(records).remove(large.id, true);
    await new Places(records).create({ workspaceId, name: 'one more' });
  });
});
