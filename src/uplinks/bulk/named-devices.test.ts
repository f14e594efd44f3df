// Requests for many devices: each device is looked up once, and failures say what is stored (contract 37).
import { expect, test } from 'vitest';
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import { everyPermission, type Principal } from '../../model/principal.ts';
import type { DurableEntry, JournalEntry } from '../../model/journal-entry.ts';
import { problem } from '../../model/problem.ts';
import { testingStages } from '../testing-stages.ts';
import { backfillLimits, Backfills } from './backfill.ts';
import { type DeviceSearch, KnownDevices } from './named-devices.ts';

const principal: Principal = {
  kind: 'API_KEY',
  id: 'k1',
  name: 'k1',
  organizationId: 'o1',
  workspaces: 'all',
  permissions: everyPermission,
};

function routeOf(id: string): UplinkRoute {
  const device = { id, organizationId: 'o1', workspaceId: 'w1' };
  const outputs = [{ connector: { type: 'DATABASE' }, topic: '*' }];
  return { device, flow: { id: 'f1' }, outputs } as unknown as UplinkRoute;
}

function bench(
  append?: (entry: JournalEntry) => Promise<void>,
  changes: Partial<DeviceSearch> = {},
) {
  const searched: (readonly string[])[] = [];
  const routed: string[] = [];
  const entries: JournalEntry[] = [];
  const devices: DeviceSearch = {
    findRoute(id) {
      routed.push(id);
      return routeOf(id);
    },
    cached: () => undefined,
    known: new KnownDevices(() => 0),
    async placesByName(_, names) {
      searched.push(names);
      const known = names.filter((name) => name.startsWith('d'));
      return new Map(known.map((name) => [name, { id: name, workspaceId: 'w1' }]));
    },
    authorizeWrite: () => undefined,
    ...changes,
  };
  const appended = {
    appendColumns: async () => undefined,
    async append(entry: JournalEntry): Promise<DurableEntry> {
      entries.push(entry);
      await append?.(entry);
      const samples = entry.samples.map((sample) => ({ ...sample, storedAt: 0, cursor: '' }));
      return { ...entry, position: entries.length, samples, duplicates: 0 };
    },
  };
  const followers = { announceRows: () => undefined, announce: () => undefined };
  const stages = testingStages(appended, followers, start + 3_600_000);
  const on = new Backfills(stages, devices, () => false);
  return { on, searched, routed, entries };
}

const start = Date.UTC(2026, 0, 5);
const element = (deviceId: string, n: number) => ({ deviceId, timestamp: start + n, data: { n } });
const groupsOf = (count: number, names: readonly string[]) =>
  Array.from({ length: count }, (_, n) => names.map((name) => element(name, n)));
const store = (groups: ReturnType<typeof groupsOf>, { on }: ReturnType<typeof bench>) =>
  on.backfillNamed({ principal, groups, receivedAt: 0 });

test('each name is looked up once in a request, unknown ones too; a group makes one entry for each device', async () => {
  const at = bench();
  const groups = groupsOf(20, ['d1', 'x1', 'd2', 'd1', 'x2']);
  expect(await store(groups, at)).toMatchObject({ accepted: 60, rejected: { length: 40 } });
  expect(at.searched).toEqual([['d1', 'x1', 'd2', 'x2']]);
  expect(at.routed).toEqual(['d1', 'd2']);
  expect(at.entries.map(({ deviceId, samples }) => [deviceId, samples.length])).toEqual(
    Array.from({ length: 20 }, () => [
      ['d1', 2],
      ['d2', 1],
    ]).flat(),
  );
});

test('the devices of a group are looked up together, so that the directory reads them by few statements', async () => {
  const waiting: (() => void)[] = [];
  const findRoute = (id: string) =>
    new Promise<UplinkRoute>((resolve) => {
      waiting.push(() => resolve(routeOf(id)));
      // Nothing is answered before all are asked for.
      if (id === 'd4' || waiting.length === 3)
        for (const answer of waiting.splice(0)) setImmediate(answer);
    });
  const cached: DeviceSearch['cached'] = (_, name) => (name === 'd4' ? findRoute(name) : undefined);
  const stored = store(
    groupsOf(1, ['d1', 'd4', 'd2', 'd3']),
    bench(undefined, { cached, findRoute }),
  );
  expect(await stored).toMatchObject({ accepted: 4 });
});

test('the entries of two groups are in progress at most', async () => {
  let inProgress = 0;
  let most = 0;
  const at = bench(async () => {
    most = Math.max(most, ++inProgress);
    await new Promise((resolve) => setImmediate(resolve));
    inProgress--;
  });
  await store(groupsOf(10, ['d1', 'd2', 'd3']), at);
  expect(most).toBe(3 * backfillLimits.groupsUnderWayMax);
});

test('a disk that is full for one entry of a group: the problem says what the others stored', async () => {
  const at = bench(async ({ deviceId, samples }) => {
    if (deviceId === 'd2' && samples[0]?.timestamp === start + 1) throw problem('storageFull');
  });
  await expect(store(groupsOf(2, ['d1', 'd2', 'd3']), at)).rejects.toMatchObject({
    problem: 'backfillStorageFull',
    details: { accepted: 5, duplicates: 0, rejected: [] },
  });
});

test('a failure of the records ends the request and does not count as an unknown device', async () => {
  for (const failing of ['placesByName', 'findRoute', 'authorizeWrite'] as const) {
    const ours = new Error('a fault of the records');
    const fails = () => {
      throw ours;
    };
    const at = bench(undefined, { [failing]: fails });
    await expect(store(groupsOf(1, ['d1']), at)).rejects.toBe(ours);
  }
});
