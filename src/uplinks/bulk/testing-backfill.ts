// Testing backfill: the flow of many devices with a real store and without records, and all that it has stored.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import type { DurableEntry, DurableRows } from '../../model/journal-entry.ts';
import { everyPermission, type Principal } from '../../model/principal.ts';
import { problem, Problem } from '../../model/problem.ts';
import type { DevicePlace } from '../../storage/records/rows/devices.ts';
import { allSamples } from '../../storage/samples/conformance/sample-entries.ts';
import { openTestSamples, type TestSamples } from '../../storage/samples/testing-samples.ts';
import type { SampleGroup } from '../../transports/http/sample-groups.ts';
import type { Attempt } from '../idempotency/idempotency.ts';
import { testingStages } from '../testing-stages.ts';
import { Backfills } from './backfill.ts';
import { type DeviceSearch, KnownDevices } from './named-devices.ts';

const root = mkdtempSync(join(tmpdir(), 'heliograph-backfill-'));
const opened: TestSamples[] = [];

/** Call after the last test of a file. */
export async function closePlatforms(): Promise<void> {
  for (const store of opened) await store.close();
  rmSync(root, { recursive: true, force: true });
}

const principal = {
  kind: 'API_KEY',
  id: 'k1',
  name: 'k1',
  organizationId: 'o1',
  workspaces: new Set(['w1']),
  permissions: everyPermission,
} satisfies Principal;

/** The ids of the devices of a run end in its number. */
const deviceIds = ['d0', 'd1', 'd2', 'd3'];

/** `w2` is out of reach. */
function placeOf(name: string): DevicePlace | undefined {
  const [, kind, number, run] = /^([dp])([0-3])(-\d+)$/.exec(name) ?? [];
  if (kind === undefined || (kind === 'p' && Number(number) > 1)) return undefined;
  return { id: `d${number}${run}`, workspaceId: number === '2' ? 'w2' : 'w1' };
}

const now = Date.UTC(2026, 0, 5);
/** A platform without records: the flow, the validation and a store. */
export async function platform(name: string) {
  const directory = join(root, name);
  const limits = { chunkRowsMin: 6, instantRowsMax: 4, rowsMax: 40, memtableRowsMax: 50 };
  const store = await openTestSamples({ directory, now: () => now, limits });
  opened.push(store);
  const announced: DurableEntry[] = [];
  const devices: DeviceSearch = {
    findRoute: (id) => routeOf(id),
    known: new KnownDevices(() => 0),
    cached: (_, name) => (name.startsWith('d1') ? routeOf(name) : undefined),
    placesByName: async (_, names) =>
      new Map(names.flatMap((name) => (placeOf(name) ? [[name, placeOf(name)!]] : []))),
    authorizeWrite(_, { workspaceId }) {
      if (workspaceId !== 'w1') throw problem('permissionDenied');
    },
  };
  const followers = {
    announce: (entry: DurableEntry) => void announced.push(entry),
    announceRows(rows: DurableRows) {
      for (let place = 0; place < rows.length; place++) announced.push(rows.entryAt(place));
    },
  };
  const stages = testingStages(store, followers, now, { topics: 3, dataKeys: 6 });
  const on = new Backfills(stages, devices, () => false);
  return { store, announced, on };
}

function routeOf(id: string): UplinkRoute {
  const device = { id, organizationId: 'o1', workspaceId: placeOf(id)!.workspaceId };
  // One device stores only one topic.
  const topic = id.startsWith('d3') ? 'alarm' : '*';
  const outputs = [{ connector: { type: 'DATABASE' }, topic }];
  return { device, flow: { id: 'f1' }, keptDays: null, outputs } as unknown as UplinkRoute;
}

export type Platform = Awaited<ReturnType<typeof platform>>;

/** The answer, or the problem. */
export async function send(
  { on }: Platform,
  groups: AsyncIterable<SampleGroup>,
  attempt?: Attempt,
): Promise<unknown> {
  try {
    return await on.backfillNamed({ principal, groups, receivedAt: 7, attempt });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { problem: error.problem, details: error.details, message: error.message };
  }
}

export async function stateOf({ store, announced }: Platform, run: number) {
  const samples: unknown[] = [];
  const ids = deviceIds.map((id) => `${id}-${run}`);
  for (const id of ids)
    for (const { timestamp, topic, data, meta } of await allSamples(store, id))
      samples.push([id, timestamp, topic, JSON.stringify(data), meta]);
  // Entries of several devices are in any order, those of one device in the order sent.
  const told = ids.map((id) => {
    const own = announced.filter((entry) => entry.deviceId === id);
    return {
      keys: own.flatMap(({ trace }) => trace?.duplicateKey ?? []),
      notes: own.flatMap(({ notes }) => notes.map(({ message, details }) => [message, details])),
      samples: own.flatMap((entry) =>
        entry.samples.map((sample) => [
          [sample.timestamp, sample.topic, JSON.stringify(sample.data), sample.stored],
          Object.keys(sample).toSorted(),
        ]),
      ),
    };
  });
  announced.length = 0;
  return { samples, told };
}

const deviceId = fc.constantFrom('d0', 'd0', 'd1', 'd1', 'p0', 'p1', 'd3', 'd2', 'nobody', '');
const data = fc.oneof(
  { weight: 4, arbitrary: fc.record({ t: fc.integer({ min: -3, max: 3 }), on: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ label: fc.constantFrom('x', 'é"', '') }) },
  { weight: 1, arbitrary: fc.constantFrom({ 'bad key!': 1 }, { t: null }, { list: [1] }, {}) },
);
const first = Date.UTC(2026, 0, 5);
const time = fc.oneof(
  fc.nat(5).map((ms) => first + ms),
  fc.nat(50).map((ms) => first + ms),
  // Noted, and refused as a number.
  fc.constantFrom(now + 3 * 86_400_000, 1),
);
const element = fc.oneof(
  { weight: 8, arbitrary: fc.record({ deviceId, timestamp: time, data }) },
  {
    weight: 2,
    arbitrary: fc.record({
      deviceId,
      timestamp: time.map((ms) => new Date(ms).toISOString()),
      topic: fc.constantFrom('alarm', 'state', 'not a topic!'),
      data,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      3,
      { data: { t: 1 }, timestamp: first },
      { deviceId: 'd0', data: { t: 1 }, timestamp: first, meta: { by: 'hand' } },
      { deviceId: 'd0', data: { t: 1 }, timestamp: 1e17 },
      { deviceId: 'd0', data: 1 },
    ),
  },
);
/** Samples in the order of time across devices, as fleets send them. */
const inTime = fc
  .record({ count: fc.nat(30), start: fc.nat(60), devices: fc.array(deviceId, { minLength: 1 }) })
  .map(({ count, start, devices }) =>
    Array.from({ length: count }, (_, i) => ({
      deviceId: devices[i % devices.length]!,
      timestamp: first + start + Math.floor(i / devices.length),
      data: { t: i, on: i % 2 === 0 },
    })),
  );
/** Elements of a request. The ids of devices need the number of a run: see `bodyOf`. */
export const requestElements: fc.Arbitrary<readonly unknown[]> = fc.oneof(
  fc.array(element, { maxLength: 14 }),
  inTime,
);

/** Small, so that a body has several groups. */
export const limits = { groupBytes: 900, groupElementsMax: 8, elementBytesMax: 500, depthMax: 8 };

export function bodyOf(elements: readonly unknown[], run: number, indent?: number): string {
  return JSON.stringify(elements, undefined, indent).replaceAll(/"deviceId": ?"\w+/g, `$&-${run}`);
}
