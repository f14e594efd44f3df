// Random fleets in a store with tiny limits: sealed, merged, dropped, reopened and stopped at any moment.
// More than the usual 4, and others: FLEETS=5000 FIRST_FLEET=41 npx vitest run src/storage/samples/embedded/random-fleet.test.ts
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dayMs } from '../../../model/instant.ts';
import { FleetModel } from '../conformance/fleet-model.ts';
import {
  type CheckedFleet,
  deviceMustMatch,
  usageMustMatch,
} from '../conformance/fleet-checks.conformance.ts';
import { Random } from '../conformance/random-entries.ts';
import { type FleetDevice, fleetStart, Fleet } from '../conformance/random-fleet.ts';
import { keepAll, keeping } from '../conformance/retention-times.ts';
import { entryOf, type Given } from '../conformance/sample-entries.ts';
import type { RetentionTimes } from '../sample-store.ts';
import { openTestSamples, type TestSamples } from '../testing-samples.ts';
import type { StoreLimits } from './store-limits.ts';
import { verifyStore } from './store-loader.ts';

const firstFleet = Number(process.env['FIRST_FLEET'] ?? 1);
const fleets = Number(process.env['FLEETS'] ?? 4);
const perTest = 20;

function randomLimits(random: Random): Partial<StoreLimits> {
  return {
    rowsToCloseAtDay: 20,
    rowsToCloseAtHour: 40,
    rowsMax: 60,
    segmentBytes: 3_000,
    segmentsToMerge: 3,
    lookEveryBytes: 1_000,
    chunkRowsMin: random.pick([1_000, 1, 8, 30]),
    instantRowsMax: random.pick([2, 16]),
    memtableRowsMax: random.pick([10, 50, 400]),
    memtablesMax: random.pick([1, 3, 256]),
    memtableBytes: random.pick([20_000, 1e9]),
    tablesMax: random.pick([2, 5, 1_000]),
    tablesPerWorkspace: random.pick([1, 3, 100]),
    runsToMerge: random.pick([2, 3, 8]),
    mergedRunBytesMax: random.pick([5_000, 1e9]),
    journalTailBytes: random.pick([3_000, 30_000, 1e9]),
    sectionCacheBytes: random.pick([0, 1e6]),
    runRowsAtOnce: random.below(20) === 0 ? 0 : 8_192,
    chunkRowsAtOnce: random.below(6) === 0 ? 0 : 1_024,
    chunkRowsPerJob: random.pick([30, 16_384]),
    lastRowsMin: random.pick([1, 4, 128]),
  };
}

/** Pauses at every look at the clock, so that other work comes in between wherever it can. */
function restless() {
  let now = 0;
  return {
    clock: () => (now += 100),
    pause: () => new Promise<void>((resolve) => setImmediate(resolve)),
  };
}

/** What a crash at this moment would leave behind; files may come and go meanwhile. */
function copyAsItStands(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    if (entry.isDirectory()) copyAsItStands(source, join(to, entry.name));
    else
      try {
        copyFileSync(source, join(to, entry.name));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
  }
}

function turns(count: number): Promise<void> {
  if (count === 0) return Promise.resolve();
  return new Promise<void>((resolve) => setImmediate(resolve)).then(() => turns(count - 1));
}

async function runFleet(seed: number, root: string): Promise<void> {
  const random = new Random(seed);
  const fleet = new Fleet(random);
  const model = new FleetModel();
  const { devices } = fleet;
  const ids = devices.map(({ id }) => id);
  const failures: unknown[] = [];
  let copies = 0;
  let directory = join(root, '0');
  let store = await open();

  function open(): Promise<TestSamples> {
    const limits = { ...randomLimits(random), journalSegmentBytes: 4_000 };
    const failed = (error: unknown): void => void failures.push(error);
    const options = { directory, now: () => 1, limits, failed };
    return openTestSamples(random.below(2) === 0 ? options : { ...options, slices: restless() });
  }

  async function reopen(): Promise<void> {
    expect(store.damage).toEqual([]);
    expect(failures).toEqual([]);
    model.retain(undefined);
    store = await open();
    expect(store.damage).toEqual([]);
  }

  const checked = (): CheckedFleet => ({
    samples: store,
    store: store.store,
    model,
    random,
    now: fleet.now(),
  });

  async function append(count: number, senders: readonly FleetDevice[] = devices): Promise<void> {
    const sending: Promise<unknown>[] = [];
    for (let i = 0; i < count; i++) {
      const device = random.pick(senders);
      sending.push(store.append(entryOf(device.id, send(device))));
    }
    await Promise.all(sending);
  }

  function send(device: FleetDevice): Given[] {
    const entry = fleet.next(device);
    model.add(device.id, entry);
    return entry;
  }

  async function check(count: number, read: readonly FleetDevice[] = devices): Promise<void> {
    for (let i = 0; i < count; i++) await deviceMustMatch(checked(), random.pick(read).id);
  }

  /** Reads while rows are sealed or others are added. */
  async function checkMeanwhile(): Promise<void> {
    const middle = devices.length >> 1;
    const background =
      random.below(2) === 0 ? store.sealAll() : append(10, devices.slice(0, middle));
    await Promise.all([background, check(3, devices.slice(middle))]);
  }

  async function counted(): Promise<number> {
    return [...(await store.usage()).values()].reduce((sum, { samples }) => sum + samples, 0);
  }

  async function drop(): Promise<void> {
    const device = random.pick(devices);
    const rows = model.rowsOf(device.id);
    const dropping = store.dropDevice(device.id);
    model.drop(device.id);
    // What comes after the call stays.
    if (random.below(2) === 0) await store.append(entryOf(device.id, send(device)));
    const { samples } = await dropping;
    if (rows.every(({ isSure }) => isSure)) expect(samples, 'samples dropped').toBe(rows.length);
  }

  function randomRules(): RetentionTimes {
    const from = (): number =>
      fleetStart + random.below(fleet.now() - fleetStart + 1) - random.below(dayMs);
    if (random.below(4) === 0) return keepAll;
    const same = from();
    const kind = random.below(3);
    const workspaces = Object.fromEntries(
      fleet.origins.flatMap(({ workspaceId }) =>
        kind === 0 ? [[workspaceId, same]] : random.below(2) === 0 ? [[workspaceId, from()]] : [],
      ),
    );
    const { dataFlowId } = random.pick(fleet.origins);
    return keeping(workspaces, kind === 2 && dataFlowId !== null ? { [dataFlowId]: from() } : {});
  }

  async function retain(): Promise<void> {
    const rules = randomRules();
    // Sealing and merging leave out what has expired, and count it for nobody.
    const isQuiet = random.below(2) === 0;
    if (isQuiet) await store.idle();
    const before = await counted();
    model.retain(rules);
    const { samples } = await store.retain(rules);
    const gone = before - (await counted());
    if (isQuiet) expect(gone, 'samples that expired').toBe(samples);
    else expect(gone, 'samples that expired').toBeGreaterThanOrEqual(samples);
  }

  /** Work that a crash may cut off; resolves when it is known what came of it. */
  function busy(): { readonly ended: Promise<unknown>; readonly settle: () => Promise<void> } {
    const kind = random.below(6);
    const nothing = async (): Promise<void> => undefined;
    if (kind === 0) return { ended: store.sealAll(), settle: nothing };
    if (kind === 1) {
      const rules = randomRules();
      model.retain(rules);
      return { ended: store.retain(rules), settle: nothing };
    }
    if (kind === 2) {
      const { id } = random.pick(devices);
      model.drop(id);
      const ended = store.dropDevice(id);
      return { ended, settle: async () => void (await store.dropDevice(id)) };
    }
    const sending = random.pick(devices);
    const entry = fleet
      .next(sending)
      .map((given) => ({ ...given, data: { ...given.data, n: ++unique } }));
    return {
      ended: store.append(entryOf(sending.id, entry)),
      settle: async () => {
        const { topic = 'default', at, data } = entry.find((given) => given.stored !== false) ?? {};
        if (at === undefined || data === undefined) return;
        const asked = [{ topic, timestamp: at, data }];
        const { identical } = await store.store.compare(sending.id, asked);
        if (identical.size > 0) model.add(sending.id, entry);
      },
    };
  }
  let unique = 1_000_000;

  async function crash(): Promise<void> {
    const { ended, settle } = busy();
    await turns(random.below(12));
    const crashed = directory;
    const old = store;
    directory = join(root, String(++copies));
    copyAsItStands(crashed, directory);
    await ended;
    await old.close();
    await rm(crashed, { recursive: true });
    if (random.below(8) === 0) expect((await verifyStore(directory)).damage).toEqual([]);
    await reopen();
    await settle();
  }

  async function step(): Promise<void> {
    const kind = random.below(100);
    if (kind < 60) await append(1 + random.below(40));
    else if (kind < 65) await store.sealAll();
    else if (kind < 68) await store.idle();
    else if (kind < 72) {
      await store.close();
      await reopen();
    } else if (kind < 79) await crash();
    else if (kind < 84) await drop();
    else if (kind < 87) await retain();
    else if (kind < 93) await checkMeanwhile();
    else await check(2);
  }

  const steps = 10 + random.below(50);
  for (let i = 0; i < steps; i++) await step();
  for (const id of ids) await deviceMustMatch(checked(), id);
  await store.retain(keepAll);
  await usageMustMatch(checked(), ids);
  await store.close();
  expect((await verifyStore(directory)).damage).toEqual([]);
  await reopen();
  for (const id of ids) await deviceMustMatch(checked(), id);
  await usageMustMatch(checked(), ids);
  await store.close();
  await rm(directory, { recursive: true });
}

async function runFleets(seeds: readonly number[]): Promise<void> {
  for (const seed of seeds) {
    const root = await mkdtemp(join(tmpdir(), 'fleet-'));
    try {
      await runFleet(seed, root);
    } catch (error) {
      throw new Error(`fleet ${seed}: ${(error as Error).message}`, { cause: error });
    } finally {
      await rm(root, { recursive: true, force: true, maxRetries: 3 });
    }
  }
}

const seeds = Array.from({ length: fleets }, (_, i) => firstFleet + i);

test.each(Array.from({ length: Math.ceil(seeds.length / perTest) }, (_, i) => i))(
  'every read of a fleet equals that of a plain list, fleets from %i times 20',
  { timeout: 600_000 },
  async (group) => {
    await runFleets(seeds.slice(group * perTest, (group + 1) * perTest));
  },
);
