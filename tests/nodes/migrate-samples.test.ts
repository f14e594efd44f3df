// Samples move to ClickHouse and back: every answer is the same, also when the move is killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { migrateSamples, type SamplesMigration } from '../../src/app/commands/migrate-samples.ts';
import { openMove } from '../../src/app/samples-move.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { DataFolder } from '../../src/storage/data-folder/data-folder.ts';
import { samplesText } from '../../src/app/commands/migration-report.ts';
import { hourMs } from '../../src/model/instant.ts';
import {
  addUplinks,
  expectAll,
  startOfRuns,
} from '../../src/storage/raw-uplinks/conformance/testing-uplinks.ts';
import { EmbeddedUplinks } from '../../src/storage/raw-uplinks/embedded/embedded-uplinks.ts';
import { openClickHouseSamples } from '../../src/storage/samples/clickhouse/testing-clickhouse.ts';
import {
  Random,
  randomStream,
  streamKeys,
  streamStart,
  streamTopics,
} from '../../src/storage/samples/conformance/random-entries.ts';
import {
  answers,
  expectSame,
} from '../../src/storage/samples/conformance/random-streams.conformance.ts';
import { allSamples, entryOf } from '../../src/storage/samples/conformance/sample-entries.ts';
import type { Samples } from '../../src/storage/samples/samples.ts';
import { openTestSamples } from '../../src/storage/samples/testing-samples.ts';
import { accumulatorNames } from '../../src/query/summaries/accumulators.ts';
import { clickhouse, startClickHouse } from '../servers/clickhouse.ts';
import { currentClickHouse, startCurrentClickHouse } from '../servers/current-clickhouse.ts';
import { describeWith, startedBefore } from '../servers/server-tests.ts';

const timeout = 300_000;
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-move-'));
  folders.push(folder);
  return folder;
}

const clock = { now: streamStart + 90 * hourMs };
const now = () => clock.now;
const edges = Array.from({ length: 61 }, (_, i) => streamStart - hourMs + i * 2 * hourMs);

interface Picture {
  readonly samples: readonly string[];
  /** By what was asked. */
  readonly answers: ReadonlyMap<string, (number | null | undefined)[]>;
}

/** All that can be asked of the devices. */
async function pictureOf(store: Samples, devices: readonly string[]): Promise<Picture> {
  const samples: string[] = [];
  const found = new Map<string, (number | null | undefined)[]>();
  for (const deviceId of devices) {
    for (const topic of [...streamTopics, undefined])
      samples.push(JSON.stringify(await allSamples(store, deviceId, topic)));
    samples.push(JSON.stringify(await store.latest({ deviceIds: [deviceId] })));
    for (const topic of streamTopics)
      for (const [i, dataKey] of streamKeys.slice(0, 7).entries())
        for (const source of ['raw', 'hours'] as const) {
          const accumulator = accumulatorNames[(i * 7 + samples.length) % accumulatorNames.length];
          if (accumulator === undefined) continue;
          const asked = { source, topic, dataKey, accumulator };
          const [tallies = []] = await store.buckets({ ...asked, deviceIds: [deviceId], edges });
          found.set(JSON.stringify([deviceId, asked]), answers(accumulator, tallies));
        }
  }
  return { samples, answers: found };
}

function mustBeSame(one: Picture, other: Picture): void {
  expect(one.samples).toEqual(other.samples);
  expect([...one.answers.keys()]).toEqual([...other.answers.keys()]);
  for (const [asked, found] of one.answers)
    expectSame(found, other.answers.get(asked) ?? [], asked);
}

const configOf = (folder: string, url: string) =>
  readConfig({ DATA_DIR: folder, SAMPLES_URL: url });

const move = (folder: string, url: string, migration: SamplesMigration) =>
  migrateSamples(configOf(folder, url), migration, { now, progress: () => undefined });
const toClickHouse = { to: 'clickhouse', isDryRun: false } as const;
const toFolder = { to: 'embedded', isDryRun: false } as const;

const deviceNames = (count: number) => Array.from({ length: count }, (_, i) => `device-${i}`);

async function fill(store: Samples, devices: readonly string[], seed: number): Promise<void> {
  for (const [i, deviceId] of devices.entries()) {
    const random = new Random(seed + i);
    for (const entry of randomStream(random, 20 + random.below(40)))
      await store.append(entryOf(deviceId, entry));
  }
}

const inFolder = (folder: string) => openTestSamples({ directory: join(folder, 'samples'), now });
const inClickHouse = (folder: string, url: string) =>
  openClickHouseSamples({ directory: join(folder, 'samples'), url, now });

async function pictureIn(
  open: () => Promise<Samples & { close(): Promise<void> }>,
  devices: readonly string[],
): Promise<Picture> {
  const store = await open();
  try {
    return await pictureOf(store, devices);
  } finally {
    await store.close();
  }
}

const uplinksIn = (folder: string) =>
  EmbeddedUplinks.open({
    directory: join(folder, 'uplinks'),
    followedFrom: undefined,
    now: () => startOfRuns,
    retentionMs: Number.POSITIVE_INFINITY,
    bytesMax: Number.POSITIVE_INFINITY,
    damaged: (damage) => expect(damage).toBeUndefined(),
  });

function mustMove(databaseUrl: () => string): void {
  test('random samples of every shape answer alike before, in ClickHouse and back', {
    timeout,
  }, async () => {
    const [folder, url, devices] = [newFolder(), databaseUrl(), deviceNames(4)];
    const first = await inFolder(folder);
    await fill(first, [...devices, 'gone'], 10);
    await first.dropDevice('gone');
    await first.sealAll();
    // Some are in segments and some in the journal only.
    await fill(first, devices, 40);
    const before = await pictureOf(first, devices);
    await first.close();
    const uplinks = await uplinksIn(folder);
    const sent = await addUplinks(
      uplinks,
      { now: startOfRuns },
      { from: 0, to: 300, stepMs: 1_000 },
    );
    await uplinks.close();

    const counted = await move(folder, url, { ...toClickHouse, isDryRun: true });
    const moved = await move(folder, url, toClickHouse);
    expect(moved).toMatchObject({ uplinks: 300, differing: [], unreadable: [] });
    expect(counted).toMatchObject({ samples: moved.samples, uplinks: 300 });
    expect(samplesText(moved, toClickHouse)).toMatch(/^Moved [\d,]+ samples and 300 raw uplinks/);
    expect(await move(folder, url, toClickHouse)).toMatchObject({ isDone: true });
    expect(existsSync(join(folder, 'samples/segments'))).toBe(false);
    mustBeSame(await pictureIn(() => inClickHouse(folder, url), devices), before);

    clock.now += hourMs;
    const there = await inClickHouse(folder, url);
    await fill(there, ['device-0', 'device-new'], 10);
    await there.dropDevice('device-3');
    const all = [...devices, 'device-new', 'gone'];
    const later = await pictureOf(there, all);
    expect(later.samples[0]).toBe(before.samples[0]);
    await there.close();

    const back = await move(folder, url, toFolder);
    expect(back).toMatchObject({ uplinks: 300, differing: [], unreadable: [] });
    mustBeSame(await pictureIn(() => inFolder(folder), all), later);
    const kept = await uplinksIn(folder);
    await expectAll(kept, sent);
    await kept.close();

    // What comes next is numbered on, and found again after a start.
    const last = await inFolder(folder);
    await fill(last, ['device-1', 'device-3', 'device-next'], 90);
    const end = [...all, 'device-next'];
    const ended = await pictureOf(last, end);
    await last.log.close();
    mustBeSame(await pictureIn(() => inFolder(folder), end), ended);
  });

  test('another move, a platform or a used database are refused', async () => {
    const [folder, other, url] = [newFolder(), newFolder(), databaseUrl()];
    for (const each of [folder, other]) {
      const store = await inFolder(each);
      await fill(store, ['d1'], 1);
      await store.close();
    }
    await expect(move(folder, url, toFolder)).resolves.toMatchObject({ isDone: true });
    const held = new DataFolder(folder);
    await expect(move(folder, url, toClickHouse)).rejects.toThrow(/in use by another Heliograph/);
    held.release();
    await move(folder, url, toClickHouse);
    await expect(move(other, url, toClickHouse)).rejects.toThrow(/already contains samples/);
    expect(existsSync(join(other, 'samples/segments'))).toBe(true);
  });

  test('the other direction is refused until an interrupted move is finished', async () => {
    const [folder, url] = [newFolder(), databaseUrl()];
    const store = await inFolder(folder);
    await fill(store, ['d1'], 1);
    await store.close();
    await move(folder, url, toClickHouse);
    // As it is when everything is there, and the files are not renamed yet.
    const numbers = { startedAt: now(), position: 1, journal: 1, writtenTo: 0 };
    await openMove(join(folder, 'samples'), { to: 'embedded', isCompared: true, ...numbers });
    const refused =
      /migration to the data folder is incomplete. Finish it first with --to embedded/;
    await expect(move(folder, url, toClickHouse)).rejects.toThrow(refused);
  });
}

/** The program itself, killed when the condition holds; undefined when it ended before. */
async function killedWhen(
  folder: string,
  url: string,
  { to }: SamplesMigration,
  isTime: () => boolean,
): Promise<number | undefined> {
  const words = ['src/main.ts', 'migrate', 'samples', '--to', to];
  const child = spawn(process.execPath, words, {
    env: { ...process.env, DATA_DIR: folder, SAMPLES_URL: url },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  while (child.exitCode === null && !isTime()) await delay(5);
  child.kill('SIGKILL');
  await ended;
  return child.exitCode ?? undefined;
}

/** What a checked file says: JSON behind or before its checksum. */
function numberIn(path: string, name: string): number {
  if (!existsSync(path)) return Number.NEGATIVE_INFINITY;
  const found = new RegExp(`"${name}":(-?\\d+)`).exec(readFileSync(path, 'utf8'));
  return found === null ? Number.NEGATIVE_INFINITY : Number(found[1]);
}

function mustBearKills(databaseUrl: () => string): void {
  test('killed at any moment, the move continues', { timeout }, async () => {
    const [folder, url, devices] = [newFolder(), databaseUrl(), deviceNames(2)];
    const store = await inFolder(folder);
    await fill(store, devices, 5);
    // More than one block each.
    for (let d = 0; d < 25; d++)
      for (let part = 0; part < 4; part++) {
        const samples = Array.from({ length: 1_000 }, (_, i) => ({
          at: streamStart + (part * 1_000 + i) * 60_000,
          data: { n: i / 7, flag: i % 3 === 0, label: `part ${part}` },
        }));
        await store.append(entryOf(`many-${d}`, samples));
      }
    const before = await pictureOf(store, [...devices, 'many-7']);
    await store.close();
    const state = join(folder, 'samples/move/shipping.json');
    for (const position of [0, 1, 60])
      await killedWhen(
        folder,
        url,
        toClickHouse,
        () => numberIn(state, position === 0 ? 'journal' : 'shipped') >= position,
      );
    expect(() => mkdirSync(join(folder, 'samples/move'))).toThrow(/EEXIST/);
    await expect(move(folder, url, toFolder)).rejects.toThrow();
    expect(await move(folder, url, toClickHouse)).toMatchObject({ differing: [] });
    mustBeSame(await pictureIn(() => inClickHouse(folder, url), [...devices, 'many-7']), before);

    const written = join(folder, 'samples/move/move.json');
    const noted = () => numberIn(written, 'writtenTo');
    for (const sealed of [0, 1])
      await killedWhen(folder, url, toFolder, () => {
        const manifest = join(folder, 'samples/move/segments/manifest.json');
        return noted() > -(2 ** 50) && numberIn(manifest, 'nextSegment') > sealed;
      });
    if (!existsSync(join(folder, 'samples/segments')))
      expect(await move(folder, url, toFolder)).toMatchObject({ differing: [] });
    mustBeSame(await pictureIn(() => inFolder(folder), [...devices, 'many-7']), before);
  });
}

describeWith(clickhouse, 'ClickHouse 18.16', () => {
  const server = startedBefore(startClickHouse);
  let databases = 0;
  const databaseUrl = () => `${server().url}/moved_${++databases}`;
  mustMove(databaseUrl);
  mustBearKills(databaseUrl);
});

describeWith(currentClickHouse, 'a current ClickHouse', () => {
  const server = startedBefore(startCurrentClickHouse);
  let databases = 0;
  mustMove(() => `${server().url}/moved_${++databases}`);
});
