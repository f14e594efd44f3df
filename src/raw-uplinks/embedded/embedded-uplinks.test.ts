// Raw uplinks on disk: what was added is listed newest first, through restarts, crashes, damage, retention and deletion.
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RawUplink } from '../../model/raw-uplink.ts';
import { verifyRawUplinks } from './verify-raw-uplinks.ts';
import type { RawUplinkStore } from '../raw-uplink-store.ts';
import { type EmbeddedUplinksOptions, openEmbeddedUplinks } from './embedded-uplinks.ts';

const small = {
  blockBytes: 1_500,
  segmentBytes: 4_000,
  unsyncedBytesMax: 6_000,
  unsyncedMsMax: 1_000,
};
const day = 86_400_000;

let directory: string;
let clock: number;
let damaged: string[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'heliograph-uplinks-'));
  clock = 100 * day;
  damaged = [];
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function open(more: Partial<EmbeddedUplinksOptions> = {}): Promise<RawUplinkStore> {
  return openEmbeddedUplinks({
    directory,
    now: () => clock,
    retentionMs: 7 * day,
    bytesMax: Number.POSITIVE_INFINITY,
    followedFrom: undefined,
    damaged: ({ path }) => void damaged.push(path),
    limits: small,
    ...more,
  });
}

const devices = ['0200000000000001', '0200000000000002', '0200000000000003'];

/** Bodies that do not compress to nothing, so that blocks and segments fill. */
function uplink(position: number, more: Partial<RawUplink> = {}): RawUplink {
  const deviceId = devices[position % 3]!;
  const text = Buffer.from(
    Array.from({ length: 20 }, (_, i) => (position * 7_919 + i * 104_729) % 251),
  ).toString('hex');
  const sample = { deviceId, topic: 'default', timestamp: clock, data: { position } };
  return {
    id: `id-${position}`,
    deviceId,
    position,
    receivedAt: clock,
    payload: { topic: null, timestamp: null, body: { port: 1, payloadHex: text }, bodyBytes: 60 },
    samples: [sample],
    duplicates: 0,
    ...more,
  };
}

async function addMany(
  store: RawUplinkStore,
  from: number,
  to: number,
  stepMs = 0,
): Promise<RawUplink[]> {
  const added: RawUplink[] = [];
  for (let position = from; position < to; position++) {
    clock += stepMs;
    const one = uplink(position);
    added.push(one);
    await store.add([one], position + 1);
  }
  return added;
}

const listed = (
  store: RawUplinkStore,
  deviceId: string,
  more: { skip?: number; limit?: number; from?: number; to?: number } = {},
) => store.list({ deviceId, skip: 0, limit: 10_000, ...more });
const expected = (added: readonly RawUplink[], deviceId: string) =>
  added.filter((one) => one.deviceId === deviceId).toReversed();

async function expectAll(store: RawUplinkStore, added: readonly RawUplink[]): Promise<void> {
  for (const deviceId of devices) {
    const own = expected(added, deviceId);
    expect(await listed(store, deviceId)).toEqual({ uplinks: own, total: own.length });
  }
}

const segments = (): string[] =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.uplinks'))
    .toSorted();

describe('reading', () => {
  test('what is in memory, in the open segment and in closed ones comes as one list, newest first', async () => {
    const store = await open();
    const added = await addMany(store, 0, 400);
    expect(segments().length).toBeGreaterThan(3);
    await expectAll(store, added);
    expect(await listed(store, '0200000000000009')).toEqual({ uplinks: [], total: 0 });
    await store.close();
  });
  test('any page of any range is that of a plain list', async () => {
    const store = await open();
    const added = await addMany(store, 0, 300, 1_000);
    const [first, last] = [added[0]!.receivedAt, added.at(-1)!.receivedAt];
    const bound = fc.integer({ min: first - 2_000, max: last + 2_000 });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...devices),
        bound,
        bound,
        fc.nat(110),
        fc.nat(40),
        async (deviceId, from, to, skip, limit) => {
          const all = expected(added, deviceId).filter(
            ({ receivedAt }) => receivedAt >= from && receivedAt < to,
          );
          const page = await listed(store, deviceId, { from, to, skip, limit });
          expect(page).toEqual({ uplinks: all.slice(skip, skip + limit), total: all.length });
        },
      ),
      { numRuns: 150 },
    );
    await store.close();
  });
  test('everything of an uplink comes back; a large outcome is left out', async () => {
    const store = await open({ limits: { ...small, outcomeBytesMax: 200 } });
    const deviceId = devices[0]!;
    const full = uplink(0, {
      payload: {
        topic: 'climate "x"',
        timestamp: 5,
        body: [1, { 'ä\n': null }],
        bodyBytes: 12,
        metrics: { rssi: -101, sf: 7 },
      },
      samples: [
        {
          deviceId,
          topic: 'a',
          timestamp: 1.5,
          data: { x: [1] },
          meta: { svcTopicValidation: { message: 'm' } },
        },
      ],
      duplicates: 2,
      state: { count: 1 },
    });
    const large = uplink(3, {
      samples: [{ deviceId, topic: 'a', timestamp: 1, data: { x: 'x'.repeat(300) } }],
      state: { x: 'x'.repeat(300) },
    });
    await store.add([full, large], 4);
    const { state: _large, ...kept } = large;
    expect((await listed(store, deviceId)).uplinks).toEqual([{ ...kept, samples: null }, full]);
    await store.close();
  });
});

describe('restarts and crashes', () => {
  test('a clean stop keeps everything, and writing goes on in the same segment', async () => {
    let store = await open();
    const added = await addMany(store, 0, 100);
    await store.close();
    const before = segments();
    store = await open({ followedFrom: 100 });
    added.push(...(await addMany(store, 100, 110)));
    await store.close();
    expect(segments().slice(0, before.length)).toEqual(before);
    store = await open({ followedFrom: 110 });
    await expectAll(store, added);
    await store.close();
  });
  test('after a crash at any byte, what was durable is there, and what the journal gives again is there once', async () => {
    const store = await open();
    const added = await addMany(store, 0, 130);
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
  test('durable moves when enough has come or waited, and without uplinks at once', async () => {
    const store = await open();
    await store.add([], 7);
    expect(store.durable).toBe(7);
    await store.add([uplink(7)], 8);
    await store.syncWhenDue();
    expect(store.durable).toBe(7);
    clock += 1_000;
    await store.syncWhenDue();
    expect(store.durable).toBe(8);
    expect(statSync(join(directory, segments()[0]!)).size).toBeGreaterThan(100);
    await store.close();
  });
  test('a lost or damaged index is made anew', async () => {
    let store = await open();
    const added = await addMany(store, 0, 400);
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
    const added = await addMany(store, 0, 400);
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
        const own = expected(added, deviceId);
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
  await addMany(store, 0, 400);
  await store.close();
  expect(await verifyRawUplinks(directory)).toEqual({ uplinks: 400, damage: [] });
  expect(await verifyRawUplinks(join(directory, 'none'))).toEqual({ uplinks: 0, damage: [] });
});

describe('dropping', () => {
  test('past the retention nothing is listed, and segments wholly past it give their space back', async () => {
    const store = await open();
    await addMany(store, 0, 200);
    clock += 8 * day;
    expect(await listed(store, devices[0]!)).toEqual({ uplinks: [], total: 0 });
    const young = await addMany(store, 200, 260);
    const before = store.bytes;
    expect(await store.dropExpired()).toBeGreaterThan(5_000);
    expect(store.bytes).toBeLessThan(before / 2);
    await expectAll(store, young);
    await store.close();
  });
  test('beyond the bytes the oldest go', async () => {
    const store = await open({ bytesMax: 12_000 });
    const added = await addMany(store, 0, 600);
    await store.dropExpired();
    expect(store.bytes).toBeLessThanOrEqual(12_000);
    const { uplinks, total } = await listed(store, devices[0]!);
    expect(uplinks).toEqual(expected(added, devices[0]!).slice(0, total));
    expect(total).toBeGreaterThan(10);
    await store.close();
  });
  test('a deleted device leaves no byte; the others keep theirs, also after a restart', async () => {
    let store = await open();
    const added = await addMany(store, 0, 300);
    const gone = devices[1]!;
    expect(await store.dropDevices(new Set([gone]))).toBe(100);
    const rest = added.filter(({ deviceId }) => deviceId !== gone);
    await expectAll(store, rest);
    rest.push(...(await addMany(store, 300, 301)));
    await store.close();
    store = await open({ followedFrom: 301 });
    await expectAll(store, rest);
    await store.close();
  });
  test('a crash while a segment is written anew: the old one counts, or the new one, never both', async () => {
    let store = await open();
    const added = await addMany(store, 0, 200);
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
