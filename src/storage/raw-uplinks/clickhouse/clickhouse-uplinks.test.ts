// Raw uplinks in ClickHouse: the suite of every store, and what only shipping must bear.
import { afterEach, describe, expect, test } from 'vitest';
import { clickhouse, startClickHouse } from '../../../../tests/servers/clickhouse.ts';
import { startClickHouseCluster } from '../../../../tests/servers/clickhouse-cluster.ts';
import {
  currentClickHouse,
  startCurrentClickHouse,
} from '../../../../tests/servers/current-clickhouse.ts';
import { describeWith, startedBefore } from '../../../../tests/servers/server-tests.ts';
import { zooKeeper } from '../../../../tests/servers/zookeeper.ts';
import { ClickHouse } from '../../clickhouse/clickhouse.ts';
import { serverAddresses } from '../../clickhouse/replica.ts';
import { partitionOf } from '../../../model/node-messages.ts';
import type { RawUplink } from '../../../model/uplink.ts';
import { dayMs } from '../../../model/instant.ts';
import { missing } from '../../../structures/missing.ts';
import {
  describeRawUplinkStore,
  type UplinkPlace,
} from '../conformance/raw-uplink-store.conformance.ts';
import {
  addUplinks,
  type Clock,
  expectAll,
  startOfRuns,
  uplinkAt,
} from '../conformance/testing-uplinks.ts';
import type { FollowedJournal, RawUplinkStore } from '../raw-uplink-store.ts';
import { ClickHouseUplinks } from './clickhouse-uplinks.ts';

const small = { slotMs: 1_000, rowsMax: 37, bytesMax: 8_000, graceMs: 100, outcomeBytesMax: 200 };
const waitMs = small.slotMs + small.graceMs;

/** Ends what a test has opened. */
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

let databases = 0;

/** A new database on all servers of the address. */
async function placeOn(url: string) {
  databases += 1;
  const named = url.replaceAll(/(:\d+)(?=[,;]|$)/g, `$1/uplinks_${databases}`);
  const clickHouse = await ClickHouse.open(serverAddresses(named) ?? missing('addresses'));
  closers.push(() => clickHouse.close());
  const { shards } = clickHouse;
  const shardOf = (deviceId: string) =>
    shards[partitionOf(deviceId) % shards.length] ?? missing('shard');
  const totals = async (sql: string): Promise<number> => {
    const found = await Promise.all(shards.map((shard) => shard.select<{ n: number }>(sql)));
    return found.flat().reduce((sum, { n }) => sum + n, 0);
  };
  return {
    clickHouse,
    open: (
      clock: Clock,
      { followedFrom }: Pick<FollowedJournal, 'followedFrom'>,
      more: Partial<typeof small> & { readonly bytesMax?: number } = {},
    ): Promise<RawUplinkStore> =>
      ClickHouseUplinks.open({
        clickHouse,
        shardOf,
        journal: 7,
        position: followedFrom === undefined ? 0 : 1_000_000,
        now: () => clock.now,
        retentionMs: 7 * dayMs,
        bytesMax: Number.POSITIVE_INFINITY,
        failed: () => undefined,
        limits: { ...small, ...more },
      }),
    async settled() {
      const waiting = 'select count() as n from system.mutations where not is_done';
      await expect.poll(() => totals(waiting), { timeout: 60_000 }).toBe(0);
    },
    /** Rows, and different uplinks among them. */
    counts: async () => [
      await totals('select count() as n from uplinks'),
      await totals('select uniqExact(journal, position) as n from uplinks'),
    ],
  };
}

/** As the follower does: again, while the server still takes a block of the store before. */
async function addInTheEnd(store: RawUplinkStore, uplinks: readonly RawUplink[]): Promise<void> {
  const through = (uplinks.at(-1)?.position ?? 0) + 1;
  const added = () => store.add(uplinks, through).then(() => 'added', String);
  await expect.poll(added, { timeout: 60_000 }).toBe('added');
}

describeWith(clickhouse, 'raw uplinks on one server', () => {
  const server = startedBefore(startClickHouse);
  describeRawUplinkStore(async (): Promise<UplinkPlace> => placeOn(server().url), waitMs);

  test('a day is a partition, and beyond the bytes the oldest days are dropped', async () => {
    const place = await placeOn(server().url);
    const clock = { now: startOfRuns };
    const store = await place.open(clock, { followedFrom: undefined });
    for (let day = 0; day < 4; day++) {
      await addUplinks(store, clock, { from: day * 60, to: day * 60 + 60 });
      clock.now += dayMs;
    }
    await store.syncWhenDue();
    await store.dropExpired();
    const [rows] = await place.counts();
    expect(rows).toBe(240);
    const { bytes } = store;
    const bounded = await ClickHouseUplinks.open({
      clickHouse: place.clickHouse,
      shardOf: () => place.clickHouse.shards[0] ?? missing('shard'),
      journal: 7,
      position: 0,
      now: () => clock.now,
      retentionMs: 7 * dayMs,
      bytesMax: bytes * 0.6,
      failed: () => undefined,
    });
    expect(await bounded.dropExpired()).toBe(bytes - bounded.bytes);
    expect(bounded.bytes).toBeLessThanOrEqual(bytes * 0.6);
    // Days differ by some bytes.
    expect((await place.counts())[0]).toBe(120);
  });

  test('while the server is away, uplinks are refused at a bound, and are all there afterwards', async () => {
    const place = await placeOn(server().url);
    const clock = { now: startOfRuns };
    const store = await place.open(clock, { followedFrom: undefined });
    const added = await addUplinks(store, clock, { from: 0, to: 20 });
    await server().kill();
    const more: RawUplink[] = Array.from({ length: 200 }, (_, i) => uplinkAt(20 + i, clock.now));
    await expect(store.add(more, 220)).rejects.toThrow();
    await expect(store.add(more, 220)).rejects.toThrow();
    expect(store.durable).toBe(0);
    await server().restart();
    await store.add(more, 220);
    await expectAll(store, [...added, ...more]);
    clock.now += waitMs;
    await store.syncWhenDue();
    expect(await place.counts()).toEqual([220, 220]);
    expect(store.durable).toBe(220);
  });
});

describeWith(currentClickHouse, 'raw uplinks on a current version', () => {
  const server = startedBefore(startCurrentClickHouse);
  describeRawUplinkStore(async (): Promise<UplinkPlace> => placeOn(server().url), waitMs);
});

describeWith(zooKeeper, 'raw uplinks on 2 shards with 2 replicas', () => {
  const cluster = startedBefore((folder) => startClickHouseCluster(folder));

  describe('killed while it writes', () => {
    test('every uplink is stored once, although the journal gives some again', async () => {
      const place = await placeOn(cluster().url);
      const clock = { now: startOfRuns };
      const all = Array.from({ length: 2_000 }, (_, i) => uplinkAt(i, clock.now + i * 10));
      clock.now += all.length * 10;
      let followedFrom = 0;
      for (let round = 0; followedFrom < all.length; round++) {
        const store = await place.open(clock, { followedFrom });
        const to = Math.min(followedFrom + 240 + round, all.length);
        const step = 30 + (round % 7) * 11;
        for (let at = followedFrom; at < to; at += step)
          await addInTheEnd(store, all.slice(at, Math.min(at + step, to)));
        // Nothing ends the store: only what it has sent remains.
        const unfinished = store.add(all.slice(to, to + 100), Math.min(to + 100, all.length));
        followedFrom = Math.max(followedFrom, store.durable, to - 190);
        if (to === all.length) {
          await unfinished;
          clock.now += waitMs;
          await store.syncWhenDue();
          break;
        }
        unfinished.catch(() => undefined);
      }
      await place.clickHouse.shards[0]?.everywhere('system sync replica uplinks');
      await place.clickHouse.shards[1]?.everywhere('system sync replica uplinks');
      expect(await place.counts()).toEqual([2_000, 2_000]);
      await expectAll(await place.open(clock, { followedFrom: 2_000 }), all);
    });
  });

  test('with one replica away uplinks are written and listed; the journal keeps them until it is back', async () => {
    const place = await placeOn(cluster().url);
    const clock = { now: startOfRuns };
    const store = await place.open(clock, { followedFrom: undefined });
    const [away] = cluster().shards[0] ?? [];
    await away?.kill();
    const added = await addUplinks(store, clock, { from: 0, to: 200 });
    clock.now += waitMs;
    await store.syncWhenDue();
    await expectAll(store, added);
    await expect(store.dropExpired()).rejects.toThrow();
    expect(store.durable).toBe(0);
    await away?.restart();
    await store.dropExpired();
    expect(store.durable).toBe(200);
    await expectAll(store, added);
  });
});
