// Delivery log: records survive stops, kills and a full disk; segments that are not needed are removed.
import { cpSync, readdirSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { dayMs } from '../../model/instant.ts';
import { realDisk } from '../log/durable-file.ts';
import { type DeliveryLog, placeKey } from './delivery-log.ts';
import { deliveryId, type RecordPlace, type StoredDelivery } from './record.ts';
import { openTestLog, storedDelivery, testFolder } from './testing-log.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function folder(): string {
  const { directory, remove } = testFolder();
  cleanups.push(remove);
  return directory;
}

const limits = { segmentRecords: 10, packedBytesMin: 500, keptPerConnectorMax: 25 };
const segmentsIn = (directory: string) =>
  readdirSync(directory).filter((name) => name.endsWith('.deliveries'));

const ended = (n: number, over: Partial<StoredDelivery> = {}) =>
  storedDelivery(n, { state: 'DELIVERED', tries: 1, ...over });

async function readAll(log: DeliveryLog, connectorId = 'c'): Promise<StoredDelivery[]> {
  const rows = [...(await log.endedOf(connectorId)).values()];
  const found = await Promise.all(rows.map(({ place }) => log.read(place)));
  return found.filter((one) => one !== undefined).toSorted((a, b) => a.sequence - b.sequence);
}

/** The needs of a compaction while nothing waits. */
const nothingWaits = {
  followedTo: Number.POSITIVE_INFINITY,
  isKnown: () => true,
  waitingCounts: () => new Map<number, number>(),
  waitingIn: () => new Map<string, { place?: RecordPlace | undefined }>(),
};

test.each(['a stop', 'a kill', 'a kill before the index'] as const)(
  'records are listed immediately, and after %s the newest revision of each',
  async (end) => {
    const directory = folder();
    const { log } = await openTestLog(directory, { limits });
    const records = Array.from({ length: 25 }, (_, n) =>
      ended(n, { answer: `ä ${'x'.repeat(n)}`, reason: null, payload: n === 3 ? '{}' : null }),
    );
    for (const record of records) {
      log.append({ ...record, state: 'PENDING' });
      if (record.sequence % 7 === 0) await log.write();
      log.append({ ...record, revision: 1 });
    }
    log.append(storedDelivery(99, { tries: 2, reason: 'down', nextAt: 7, deviceId: 'e' }));
    expect(await readAll(log)).toEqual(records.map((record) => ({ ...record, revision: 1 })));
    let after = directory;
    if (end === 'a stop') await log.close();
    else {
      await log.write();
      after = `${directory}-killed`;
      cleanups.push(() => log.close());
      cpSync(directory, after, { recursive: true });
    }
    const again = await openTestLog(after, { limits });
    cleanups.push(() => again.log.close());
    expect(again.damage).toEqual([]);
    expect(await readAll(again.log)).toEqual(records.map((one) => ({ ...one, revision: 1 })));
    const { pending, known } = await again.log.recover(20);
    expect(pending).toMatchObject([{ id: 'id99', tries: 2, nextAt: 7, deviceId: 'e' }]);
    expect([...known].sort()).toEqual(['id20', 'id21', 'id22', 'id23', 'id24', 'id99']);
    expect(segmentsIn(after).length).toBeGreaterThan(1);
  },
);

test('a delivery is found by its id, that of a sample by the mark of its connector', async () => {
  const { log } = await openTestLog(folder(), { limits });
  cleanups.push(() => log.close());
  const id = deliveryId(12 + 3 / 4_096, 'hook', 'x');
  expect(id).toMatch(/^[0-9a-f]{8}-0000-8000-8000-c003[0-9a-f]{8}$/);
  log.append(ended(12, { id, connectorId: 'hook' }));
  for (let n = 0; n < 30; n++) log.append(ended(n));
  await log.write();
  for (const wanted of [id, 'id7', 'id29']) expect((await log.find(wanted))?.id).toBe(wanted);
  expect(await log.find(deliveryId(12, 'hook', 'x'))).toBeUndefined();
});

test('ended deliveries stay for 7 days, and 10,000 of each connector, here 25', async () => {
  const directory = folder();
  let now = 0;
  const { log } = await openTestLog(directory, { limits, now: () => now });
  cleanups.push(() => log.close());
  log.append(ended(0, { connectorId: 'quiet', updated: 0 }));
  for (let n = 1; n < 100; n++) {
    log.append(ended(n, { updated: now }));
    await log.write();
  }
  await log.compact(nothingWaits);
  expect(segmentsIn(directory).length).toBeLessThanOrEqual(5);
  const left = await readAll(log);
  expect(left.slice(-25).map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: 25 }, (_, i) => 75 + i),
  );
  expect(await readAll(log, 'quiet')).toHaveLength(1);
  now = 8 * dayMs;
  for (let n = 100; n < 160; n++) {
    log.append(ended(n, { updated: now }));
    await log.write();
  }
  await log.compact(nothingWaits);
  expect(await readAll(log, 'quiet')).toEqual([]);
  expect((await readAll(log))[0]?.sequence).toBeGreaterThan(89);
});

test('what waits is copied before its segment goes, and is not sent again once it ended', async () => {
  const directory = folder();
  const { log } = await openTestLog(directory, { limits });
  const waiting = { place: log.append(storedDelivery(0)) as RecordPlace | undefined };
  log.append(storedDelivery(1));
  for (let n = 2; n < 80; n++) {
    log.append(ended(n, n === 2 ? { id: 'id1', sequence: 1, revision: 1 } : {}));
    await log.write();
  }
  const first = waiting.place!.block.segment;
  const needs = {
    ...nothingWaits,
    waitingCounts: () => new Map([[waiting.place!.block.segment, 1]]),
    waitingIn: (segment: number) =>
      new Map(
        segment === waiting.place!.block.segment ? [[placeKey(waiting.place!), waiting]] : [],
      ),
  };
  await log.compact(needs);
  expect(waiting.place!.block.segment).not.toBe(first);
  expect(await log.read(waiting.place!)).toMatchObject({ id: 'id0' });
  await log.close();
  const again = await openTestLog(directory, { limits });
  cleanups.push(() => again.log.close());
  expect((await again.log.recover(0)).pending.map(({ id }) => id)).toEqual(['id0']);
});

test('an outcome is not removed before the record that its delivery waits in', async () => {
  const directory = folder();
  const { log } = await openTestLog(directory, { limits });
  const places = Array.from({ length: 10 }, (_, n) => log.append(storedDelivery(n)));
  await log.write();
  // Half of them ended, long ago for their connector, and the others still wait.
  for (let n = 0; n < 5; n++) log.append(ended(n, { revision: 1 }));
  for (let n = 10; n < 100; n++) {
    log.append(ended(n));
    await log.write();
  }
  const waiting = places.slice(5).map((place) => ({ place: place as RecordPlace | undefined }));
  await log.compact({
    ...nothingWaits,
    waitingCounts: () => new Map([[places[0]!.block.segment, 5]]),
    waitingIn: () => new Map(waiting.map((one) => [placeKey(one.place!), one])),
  });
  await log.close();
  const again = await openTestLog(directory, { limits });
  cleanups.push(() => again.log.close());
  const { pending } = await again.log.recover(0);
  expect(pending.map(({ id }) => id).sort()).toEqual(['id5', 'id6', 'id7', 'id8', 'id9']);
});

test('deleted devices and deleted connectors leave nothing', async () => {
  const directory = folder();
  const { log } = await openTestLog(directory, { limits });
  cleanups.push(() => log.close());
  for (let n = 0; n < 24; n++) {
    log.append(ended(n, { deviceId: n % 3 === 0 ? 'deleted' : 'd', answer: `${n}` }));
    if (n % 4 === 0) await log.write();
  }
  await log.compact({ ...nothingWaits, deletedDevices: new Set(['deleted']) });
  const left = await readAll(log);
  expect(left.map(({ deviceId }) => deviceId)).toEqual(Array.from({ length: 16 }, () => 'd'));
  for (let n = 30; n < 60; n++) log.append(ended(n, { connectorId: 'other' }));
  await log.write();
  await log.compact({ ...nothingWaits, isKnown: (id) => id === 'other' });
  expect((await readAll(log, 'other')).length).toBeGreaterThanOrEqual(25);
  expect((await readAll(log)).length).toBeLessThan(16);
});

test('on a full disk records wait, deliveries are held back, and all of them are there afterwards', async () => {
  const directory = folder();
  let isFull = true;
  const disk = {
    ...realDisk,
    async write(fd: number, bytes: Uint8Array, offset: number) {
      if (!isFull) return realDisk.write(fd, bytes, offset);
      // Some of it may be written before the disk is full.
      await realDisk.write(fd, bytes.subarray(0, bytes.length >> 1), offset);
      throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    },
  };
  const { log, failures } = await openTestLog(directory, {
    disk,
    limits: { unwrittenBytesMax: 2_000 },
  });
  for (let n = 0; n < 20; n++) log.append(ended(n));
  await expect(log.write()).rejects.toThrow('no space left');
  await expect(log.sync()).rejects.toThrow('no space left');
  expect(log.isBehind).toBe(true);
  expect(await readAll(log)).toHaveLength(20);
  isFull = false;
  await log.sync();
  expect([log.isBehind, log.isUnsynced]).toEqual([false, false]);
  await log.close();
  const again = await openTestLog(directory);
  cleanups.push(() => again.log.close());
  expect([(await readAll(again.log)).length, again.damage, failures]).toEqual([20, [], []]);
});

test('while only the records may be written nothing is written, and nothing is lost', async () => {
  let isFull = true;
  const checkRoom = () => {
    if (isFull) throw new Error('full');
  };
  const { log } = await openTestLog(folder(), { checkRoom });
  cleanups.push(() => log.close());
  log.append(ended(1));
  await expect(log.sync()).rejects.toThrow('full');
  isFull = false;
  await log.sync();
  expect(await readAll(log)).toHaveLength(1);
});

test('after a failed sync nothing counts as durable until the next start', async () => {
  const directory = folder();
  let isBroken = false;
  const disk = {
    ...realDisk,
    sync: (fd: number) => (isBroken ? Promise.reject(new Error('EIO')) : realDisk.sync(fd)),
  };
  const { log } = await openTestLog(directory, { disk });
  log.append(ended(1));
  await log.sync();
  log.append(ended(2));
  isBroken = true;
  await expect(log.sync()).rejects.toThrow('EIO');
  isBroken = false;
  await expect(log.sync()).rejects.toThrow('until the next start');
  expect([log.isBehind, log.isStuck, log.isUnsynced]).toEqual([true, true, true]);
  await log.close().catch(() => undefined);
  const again = await openTestLog(directory);
  cleanups.push(() => again.log.close());
  again.log.append(ended(3));
  await again.log.sync();
  expect((await readAll(again.log)).map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
});

test('records of several owners are read and listed alike before and after they are written', async () => {
  const { log } = await openTestLog(folder());
  cleanups.push(() => log.close());
  // The first block numbers its owners in another order than the second one.
  const place = (n: number) => ({
    workspaceId: `w${n % 3}`,
    deviceId: `d${n}`,
    connectorId: `c${n % 2}`,
  });
  const added = (numbers: readonly number[]) =>
    numbers.map((n) => ({ n, place: log.append(ended(n, place(n))) }));
  const first = added([0, 1, 2]);
  await log.write();
  const second = added([5, 4, 3]);
  const seen = async () => {
    const rows = [...(await log.endedOf('c0')).values(), ...(await log.endedOf('c1')).values()];
    const records = await Promise.all([...first, ...second].map((one) => log.read(one.place)));
    const found = await Promise.all([...first, ...second].map(({ n }) => log.find(`id${n}`)));
    return {
      rows: rows.map(({ place: _, ...row }) => row),
      records,
      found: found.map((row) => [row?.id, row?.workspaceId]),
    };
  };
  const before = await seen();
  expect(before.rows.map(({ id, workspaceId }) => `${id} ${workspaceId}`).toSorted()).toEqual(
    [0, 1, 2, 3, 4, 5].map((n) => `id${n} w${n % 3}`),
  );
  expect(before.records.map((record) => record?.deviceId)).toEqual([
    'd0',
    'd1',
    'd2',
    'd5',
    'd4',
    'd3',
  ]);
  await log.write();
  expect(await seen()).toEqual(before);
});
