// Raw uplinks on disk: what was added is listed newest first, through restarts, crashes, damage, retention and deletion.
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dayMs } from '../../../model/instant.ts';
import { realDisk } from '../../log/durable-file.ts';
import { describeRawUplinkStore } from '../conformance/raw-uplink-store.conformance.ts';
import {
  addUplinks,
  type Clock,
  devices,
  expectAll,
  listed,
  startOfRuns,
  uplinksOf,
} from '../conformance/testing-uplinks.ts';
import type { RawUplinkStore } from '../raw-uplink-store.ts';
import { EmbeddedUplinks, type EmbeddedUplinksOptions } from './embedded-uplinks.ts';
import { verifyRawUplinks } from './uplink-segment.ts';

const small = {
  blockBytes: 1_500,
  segmentBytes: 4_000,
  unsyncedBytesMax: 6_000,
  unsyncedMsMax: 1_000,
};
let directory: string;
let clock: Clock;
let damaged: string[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'heliograph-uplinks-'));
  clock = { now: startOfRuns };
  damaged = [];
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function open(more: Partial<EmbeddedUplinksOptions> = {}): Promise<RawUplinkStore> {
  return EmbeddedUplinks.open({
    directory,
    now: () => clock.now,
    retentionMs: 7 * dayMs,
    bytesMax: Number.POSITIVE_INFINITY,
    followedFrom: undefined,
    damaged: ({ path }) => void damaged.push(path),
    limits: small,
    ...more,
  });
}

const segments = (): string[] =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.uplinks'))
    .toSorted();

const limits = { ...small, outcomeBytesMax: 200 };
describeRawUplinkStore(
  async () => ({
    open: (time, { followedFrom }) => open({ now: () => time.now, followedFrom, limits }),
    settled: async () => undefined,
  }),
  small.unsyncedMsMax,
);

describe('restarts and crashes', () => {
  test('a clean stop keeps everything, and writing goes on in the same segment', async () => {
    let store = await open();
    const added = await addUplinks(store, clock, { from: 0, to: 100 });
    await store.close();
    const before = segments();
    store = await open({ followedFrom: 100 });
    added.push(...(await addUplinks(store, clock, { from: 100, to: 110 })));
    await store.close();
    expect(segments().slice(0, before.length)).toEqual(before);
    store = await open({ followedFrom: 110 });
    await expectAll(store, added);
    await store.close();
  });
  test('after a crash at any byte, what was durable is there, and what the journal gives again is there once', async () => {
    const store = await open();
    const added = await addUplinks(store, clock, { from: 0, to: 130 });
    const { durable } = store;
    expect(durable).toBeGreaterThan(50);
    const last = join(directory, segments().at(-1)!);
    await store.close();
    const whole = readFileSync(last);
    for (let cut = 0; cut < whole.length; cut += Math.ceil(whole.length / 25)) {
      writeFileSync(last, whole);
      truncateSync(last, cut);
      // The crash came before the sync that this note is of.
      rmSync(join(directory, 'durable.json'), { force: true });
      const again = await open({ followedFrom: durable });
      // What was in this segment and durable can only be missing when the test cut it off.
      const kept = new Set(
        (await Promise.all(devices.map((id) => listed(again, id)))).flatMap(({ uplinks }) =>
          uplinks.map(({ position }) => position),
        ),
      );
      const lost = added.filter(({ position }) => position < durable && !kept.has(position));
      await again.add(
        added.filter(({ position }) => position >= durable),
        130,
      );
      await expectAll(
        again,
        added.filter((one) => !lost.includes(one)),
      );
      await again.close();
      for (const name of segments().filter((segment) => join(directory, segment) > last))
        rmSync(join(directory, name));
      rmSync(last.replace('.uplinks', '.index'), { force: true });
    }
    expect(damaged).toEqual([]);
  });
  test('a lost or damaged index is made anew', async () => {
    let store = await open();
    const added = await addUplinks(store, clock, { from: 0, to: 400 });
    await store.close();
    const indexes = readdirSync(directory).filter((name) => name.endsWith('.index'));
    rmSync(join(directory, indexes[0]!));
    writeFileSync(join(directory, indexes[1]!), 'damaged');
    store = await open({ followedFrom: 400 });
    await expectAll(store, added);
    await store.close();
  });
  test('flipped bits: told, the rest is readable, nothing wrong is listed', async () => {
    let store = await open();
    const added = await addUplinks(store, clock, { from: 0, to: 400 });
    await store.close();
    const files = segments().slice(0, -1);
    for (let flip = 0; flip < 40; flip++) {
      const path = join(directory, files[flip % files.length]!);
      const sound = readFileSync(path);
      const bytes = Buffer.from(sound);
      bytes[(flip * 7_919) % bytes.length]! ^= 1 << (flip % 8);
      writeFileSync(path, bytes);
      damaged = [];
      store = await open({ followedFrom: 400 });
      for (const deviceId of devices) {
        const { uplinks } = await listed(store, deviceId);
        const own = uplinksOf(added, deviceId);
        expect(uplinks.length).toBeGreaterThan(own.length / 2);
        for (const one of uplinks) expect(one).toEqual(added[one.position]);
      }
      expect(new Set(damaged)).toEqual(new Set([path]));
      expect((await verifyRawUplinks(directory)).damage.map((found) => found.path)).toEqual([path]);
      await store.close();
      writeFileSync(path, sound);
    }
  });
});

test('a sound folder is found sound, all of its uplinks counted; one that is not there is empty', async () => {
  const store = await open();
  await addUplinks(store, clock, { from: 0, to: 400 });
  await store.close();
  expect(await verifyRawUplinks(directory)).toEqual({ uplinks: 400, damage: [] });
  expect(await verifyRawUplinks(join(directory, 'none'))).toEqual({ uplinks: 0, damage: [] });
});

describe('dropping', () => {
  test('beyond the bytes the oldest go', async () => {
    const store = await open({ bytesMax: 12_000 });
    const added = await addUplinks(store, clock, { from: 0, to: 600 });
    await store.dropExpired();
    expect(store.bytes).toBeLessThanOrEqual(12_000);
    const { uplinks, total } = await listed(store, devices[0]);
    expect(uplinks).toEqual(uplinksOf(added, devices[0]).slice(0, total));
    expect(total).toBeGreaterThan(10);
    await store.close();
  });
  test('a crash while a segment is written anew: the old one counts, or the new one, never both', async () => {
    let store = await open();
    const added = await addUplinks(store, clock, { from: 0, to: 200 });
    await store.close();
    const first = segments()[0]!;
    const bytes = readFileSync(join(directory, first));
    writeFileSync(
      join(directory, first.replace('.0.', '.1.')),
      bytes.subarray(0, bytes.length / 2),
    );
    store = await open({ followedFrom: 200 });
    await expectAll(store, added);
    await store.close();
    expect(segments().filter((name) => name.includes('.1.'))).toEqual([]);
  });
});

test('a sync that failed is not tried again: nothing after it counts as durable before the next start', async () => {
  const disk = { ...realDisk };
  let store = await open({ disk });
  const added = await addUplinks(store, clock, { from: 0, to: 20 });
  clock.now += small.unsyncedMsMax;
  await store.syncWhenDue();
  const { durable } = store;
  expect(durable).toBe(20);
  added.push(...(await addUplinks(store, clock, { from: 20, to: 30 })));
  disk.sync = () => Promise.reject(new Error('EIO'));
  clock.now += small.unsyncedMsMax;
  await expect(store.syncWhenDue()).rejects.toThrow('EIO');
  // A later sync succeeds although the kernel dropped what the failed one did not write.
  disk.sync = realDisk.sync;
  await expect(store.syncWhenDue()).rejects.toThrow('until the next start');
  expect(store.durable).toBe(durable);
  await expectAll(store, added);
  await expect(store.close()).rejects.toThrow('until the next start');
  store = await open({ followedFrom: durable });
  await store.add(added.slice(durable), 30);
  await expectAll(store, added);
  await store.close();
});
