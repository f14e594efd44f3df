// Backfill: the result of a request that is cut off, and the number of batches in progress.
import { expect, test } from 'vitest';
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import type { Json } from '../../model/json.ts';
import type { DurableEntry, JournalEntry } from '../../model/journal-entry.ts';
import { problem, type ProblemName } from '../../model/problem.ts';
import { backfillNotesMax } from './backfill-batches.ts';
import { backfillLimits, Backfills } from './backfill.ts';
import { KnownDevices } from './named-devices.ts';
import { testingStages } from '../testing-stages.ts';

const start = Date.UTC(2026, 0, 5);
const device = { id: 'd1', organizationId: 'o1', workspaceId: 'w1' };
const route = {
  device,
  flow: { id: 'f1' },
  keptDays: null,
  outputs: [{ connector: { type: 'DATABASE' }, topic: '*' }],
} as unknown as UplinkRoute;

function durable(entry: JournalEntry, position: number): DurableEntry {
  const samples = entry.samples.map((sample) => ({ ...sample, storedAt: 0, cursor: '' }));
  return { ...entry, position, samples, duplicates: 0 };
}

function bench(append?: (entry: JournalEntry, count: number) => Promise<DurableEntry>) {
  const entries: JournalEntry[] = [];
  const announced: number[] = [];
  const stop = { now: false };
  const store = {
    appendColumns: async () => undefined,
    append: async (entry: JournalEntry) => {
      const count = entries.push(entry);
      return append === undefined ? durable(entry, count) : append(entry, count);
    },
  };
  const followers = {
    announceRows: () => undefined,
    announce: (entry: DurableEntry) => void announced.push(entry.position),
  };
  const devices = {
    findRoute: () => route,
    cached: () => undefined,
    known: new KnownDevices(() => 0),
    placesByName: async () => new Map(),
    authorizeWrite: () => undefined,
  };
  const stages = testingStages(store, followers, start + 3_600_000);
  const on = new Backfills(stages, devices, () => stop.now);
  return { on, entries, announced, stop };
}

const group = (from: number, count = 2): Json[] =>
  Array.from({ length: count }, (_, i) => ({ timestamp: start + from + i, data: { n: from + i } }));

for (const [thrown, answered] of [
  ['storageFull', 'backfillStorageFull'],
  ['storageStopped', 'backfillInterrupted'],
  ['stopping', 'backfillInterrupted'],
] satisfies [ProblemName, ProblemName][])
  test(`${thrown} in the third batch: ${answered} tells what the first two stored`, async () => {
    const { on, announced } = bench(async (entry, count) => {
      if (count === 3) throw problem(thrown);
      return durable(entry, count);
    });
    const input = { deviceId: 'd1', groups: [group(0), [1], group(2), group(4)], receivedAt: 0 };
    await expect(on.backfill(input)).rejects.toMatchObject({
      problem: answered,
      message: expect.stringContaining(
        '4 samples were stored, 0 were duplicates, and 1 were rejected',
      ),
      details: { accepted: 4, duplicates: 0, rejected: [{ index: 2 }] },
    });
    expect(announced).toEqual([1, 2]);
  });

test('a stop of the server ends the request before its next batch', async () => {
  const { on, entries, stop } = bench();
  async function* groups() {
    yield group(0);
    stop.now = true;
    yield group(2);
  }
  const input = { deviceId: 'd1', groups: groups(), receivedAt: 0 };
  await expect(on.backfill(input)).rejects.toMatchObject({
    problem: 'backfillInterrupted',
    details: { accepted: 2 },
  });
  expect(entries).toHaveLength(1);
});

test('what is no refusal is thrown as it is, after what was under way has ended', async () => {
  const ours = new Error('a fault of the store');
  const { on } = bench(async () => Promise.reject(ours));
  await expect(on.backfill({ deviceId: 'd1', groups: [group(0)], receivedAt: 0 })).rejects.toBe(
    ours,
  );
});

test('the next batch is read while one is synced, and no more than that', async () => {
  let underWay = 0;
  let most = 0;
  const read: number[] = [];
  const { on } = bench(async (entry, count) => {
    most = Math.max(most, ++underWay);
    await new Promise((resolve) => setImmediate(resolve));
    underWay--;
    return durable(entry, count);
  });
  async function* groups() {
    for (let n = 0; n < 8; n++) {
      read.push(underWay);
      yield group(2 * n);
    }
  }
  const receipt = await on.backfill({ deviceId: 'd1', groups: groups(), receivedAt: 0 });
  expect(receipt).toEqual({ accepted: 16, duplicates: 0, rejected: [], stored: 16 });
  expect(most).toBe(backfillLimits.groupsUnderWayMax);
  expect(Math.max(...read)).toBeLessThan(backfillLimits.groupsUnderWayMax);
});

test('samples without a timestamp get the time of the request; notes of one request are bounded', async () => {
  const { on, entries } = bench();
  const odd = Array.from({ length: backfillNotesMax + 5 }, () => ({
    data: { 'not a key!': 1 },
  }));
  await on.backfill({ deviceId: 'd1', groups: [odd], receivedAt: start + 77 });
  expect(entries[0]!.samples[0]).toMatchObject({
    timestamp: start + 77,
    topic: 'default',
    dataFlowId: 'f1',
    stored: true,
  });
  const notes = entries.flatMap((entry) => entry.notes);
  expect(notes).toHaveLength(backfillNotesMax);
  expect(notes.at(-1)).toMatchObject({
    deviceId: 'd1',
    details: { index: backfillNotesMax - 1 },
  });
});
