// Raw uplink store conformance: what every store must do when adding, listing, opening again and dropping.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dayMs } from '../../../model/instant.ts';
import type { FollowedJournal, RawUplinkStore } from '../raw-uplink-store.ts';
import {
  addUplinks,
  type Clock,
  devices,
  expectAll,
  listed,
  startOfRuns,
  uplinkAt,
  uplinksOf,
} from './testing-uplinks.ts';

/** Where one test keeps its uplinks. */
export interface UplinkPlace {
  /** Opens the store with a retention of 7 days, outcomes of up to 200 bytes and small blocks. */
  open(clock: Clock, journal: Pick<FollowedJournal, 'followedFrom'>): Promise<RawUplinkStore>;
  /** Resolves when what the store has deleted is gone, where that takes a while. */
  settled(): Promise<void>;
}

/** `waitMs` is how long the store keeps what it has not made durable. */
export function describeRawUplinkStore(
  makePlace: () => Promise<UplinkPlace>,
  waitMs: number,
): void {
  const begin = async () => {
    const place = await makePlace();
    const clock = { now: startOfRuns };
    const store = await place.open(clock, { followedFrom: undefined });
    return { place, clock, store };
  };
  const makeDurable = async (store: RawUplinkStore, clock: Clock): Promise<void> => {
    clock.now += waitMs;
    await store.syncWhenDue();
    await store.dropExpired();
  };

  describe('listing', () => {
    test('what waits and what is kept comes as one list, newest first', async () => {
      const { clock, store } = await begin();
      const added = await addUplinks(store, clock, { from: 0, to: 300 });
      await expectAll(store, added);
      await makeDurable(store, clock);
      added.push(...(await addUplinks(store, clock, { from: 300, to: 310 })));
      await expectAll(store, added);
      expect(await listed(store, '0200000000000009')).toEqual({ uplinks: [], total: 0 });
      await store.close();
    });
    test('any page of any range is that of a plain list', async () => {
      const { clock, store } = await begin();
      const added = await addUplinks(store, clock, { from: 0, to: 300, stepMs: 1_000 });
      const times = added.map(({ receivedAt }) => receivedAt);
      const bound = fc.integer({
        min: Math.min(...times) - 2_000,
        max: Math.max(...times) + 2_000,
      });
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...devices),
          bound,
          bound,
          fc.nat(110),
          fc.nat(40),
          async (deviceId, from, to, skip, limit) => {
            const all = uplinksOf(added, deviceId).filter(
              ({ receivedAt }) => receivedAt >= from && receivedAt < to,
            );
            const page = await listed(store, deviceId, { from, to, skip, limit });
            expect(page).toEqual({ uplinks: all.slice(skip, skip + limit), total: all.length });
          },
        ),
        { numRuns: 25 },
      );
      await store.close();
    });
    test('everything of an uplink comes back; a large outcome is left out', async () => {
      const { clock, store } = await begin();
      const [deviceId] = devices;
      const full = uplinkAt(0, clock.now, {
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
      const large = uplinkAt(3, clock.now, {
        samples: [{ deviceId, topic: 'a', timestamp: 1, data: { x: 'x'.repeat(300) } }],
        state: { x: 'x'.repeat(300) },
      });
      await store.add([full, large], 4);
      await makeDurable(store, clock);
      const { state: _large, ...kept } = large;
      expect((await listed(store, deviceId)).uplinks).toEqual([{ ...kept, samples: null }, full]);
      await store.close();
    });
  });

  describe('opening again', () => {
    test('from its durable position on, the journal gives what is missing', async () => {
      const { place, clock, store } = await begin();
      const added = await addUplinks(store, clock, { from: 0, to: 130, stepMs: 40 });
      await store.close();
      const { durable } = store;
      expect(durable).toBeGreaterThan(0);
      const again = await place.open(clock, { followedFrom: durable });
      await again.add(added.slice(durable), 130);
      await expectAll(again, added);
      added.push(...(await addUplinks(again, clock, { from: 130, to: 140 })));
      await expectAll(again, added);
      await again.close();
    });
    test('from an earlier position on, what is given again in other batches is there once', async () => {
      const { place, clock, store } = await begin();
      const added = await addUplinks(store, clock, { from: 0, to: 130, stepMs: 40 });
      const durable = Math.max(store.durable, 40);
      await store.close();
      for (const followedFrom of [durable, durable - 7, durable - 31]) {
        const again = await place.open(clock, { followedFrom });
        for (let at = followedFrom; at < 130; at += 17)
          await again.add(added.slice(at, at + 17), Math.min(at + 17, 130));
        await expectAll(again, added);
        await makeDurable(again, clock);
        await expectAll(again, added);
        await again.close();
      }
    });
  });

  test('durable moves when enough has come or waited, and without uplinks at once', async () => {
    const { clock, store } = await begin();
    await store.add([], 7);
    await store.dropExpired();
    expect(store.durable).toBe(7);
    await store.add([uplinkAt(7, clock.now)], 8);
    await store.syncWhenDue();
    expect(store.durable).toBe(7);
    await makeDurable(store, clock);
    expect(store.durable).toBe(8);
    await store.close();
  });

  describe('dropping', () => {
    test('past the retention nothing is listed, and the space of past days comes back', async () => {
      const { clock, store } = await begin();
      await addUplinks(store, clock, { from: 0, to: 200 });
      await makeDurable(store, clock);
      const before = store.bytes;
      clock.now += 8 * dayMs;
      expect(await listed(store, devices[0])).toEqual({ uplinks: [], total: 0 });
      const young = await addUplinks(store, clock, { from: 200, to: 230 });
      await makeDurable(store, clock);
      expect(store.bytes).toBeLessThan(before / 2);
      await expectAll(store, young);
      await store.close();
    });
    test('uplinks of a deleted device are gone, and the others are kept, also after a restart', async () => {
      const { place, clock, store } = await begin();
      const added = await addUplinks(store, clock, { from: 0, to: 300 });
      const [, gone] = devices;
      expect(await store.dropDevices(new Set([gone]))).toBe(100);
      await place.settled();
      const rest = added.filter(({ deviceId }) => deviceId !== gone);
      await expectAll(store, rest);
      rest.push(...(await addUplinks(store, clock, { from: 300, to: 301 })));
      await makeDurable(store, clock);
      await store.close();
      const again = await place.open(clock, { followedFrom: 301 });
      await expectAll(again, rest);
      await again.close();
    });

    test('uplinks of a device from a time on and before another are removed, also when opened again', async () => {
      const { place, clock, store } = await begin();
      const added = await addUplinks(store, clock, { from: 0, to: 300, stepMs: 1_000 });
      const [, device] = devices;
      const own = added.filter(({ deviceId }) => deviceId === device);
      const [from = 0, to = 0] = [own[20]?.receivedAt, own[70]?.receivedAt];
      expect(await store.removeReceived({ deviceId: device, from, to })).toBe(50);
      const isKept = (at: number) => at < from || at >= to;
      const rest = added.filter((one) => one.deviceId !== device || isKept(one.receivedAt));
      await expectAll(store, rest);
      expect(await store.removeReceived({ deviceId: device, from, to })).toBe(0);
      await makeDurable(store, clock);
      await store.close();
      const again = await place.open(clock, { followedFrom: 300 });
      await expectAll(again, rest);
      await again.close();
    });
  });
}
