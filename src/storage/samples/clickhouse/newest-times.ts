// Newest times: when the newest row of each device was measured, so that newer samples need no look.
import { listOf } from '../../clickhouse/statement-values.ts';
import type { Shard } from '../../clickhouse/shard.ts';
import type { EpochMs } from '../../../model/instant.ts';
import { createBoundedMap } from '../../../structures/bounded-map.ts';
import type { OpenRows } from './open-rows.ts';
import { shardOf } from './flusher.ts';

const devicesMax = 1_000_000;
const devicesPerQuery = 500;

export interface NewestTimes {
  /** Undefined when ClickHouse must be asked; -Infinity without rows. */
  known(deviceId: string): EpochMs | undefined;
  /** Asks for those that are not known. */
  load(deviceIds: readonly string[]): Promise<void>;
  /** Asks again for these. */
  forget(isForgotten: (deviceId: string) => boolean): void;
  /** To be called for each row. */
  note(deviceId: string, timestamp: EpochMs): void;
}

/** A time may be later than the newest row that is left. */
export function createNewestTimes(shards: readonly Shard[], openRows: OpenRows): NewestTimes {
  const newest = createBoundedMap<string, EpochMs>(devicesMax);
  /** Newest rows that were written while their device is asked for. */
  const loading = new Map<string, EpochMs>();
  let waiting: { readonly ids: Set<string>; readonly done: Promise<void> } | undefined;

  async function loadAll(deviceIds: readonly string[]): Promise<void> {
    for (const deviceId of deviceIds)
      if (!loading.has(deviceId)) loading.set(deviceId, openNewest(deviceId, openRows));
    try {
      for (const shard of shards) {
        const ofShard = deviceIds.filter((deviceId) => shardOf(deviceId, shards) === shard);
        for (let at = 0; at < ofShard.length; at += devicesPerQuery)
          await loadSome(shard, ofShard.slice(at, at + devicesPerQuery));
      }
    } finally {
      for (const deviceId of deviceIds) loading.delete(deviceId);
    }
  }

  async function loadSome(shard: Shard, deviceIds: readonly string[]): Promise<void> {
    const stored = await storedNewest(shard, deviceIds);
    for (const deviceId of deviceIds) {
      const found = stored.get(deviceId) ?? Number.NEGATIVE_INFINITY;
      newest.set(deviceId, Math.max(found, loading.get(deviceId) ?? found));
    }
  }

  return {
    known: (deviceId) => newest.use(deviceId),
    load(deviceIds) {
      // Those of one turn share their queries.
      if (waiting === undefined) {
        const ids = new Set<string>();
        const done = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
          waiting = undefined;
          return loadAll([...ids]);
        });
        waiting = { ids, done };
      }
      for (const deviceId of deviceIds)
        if (newest.get(deviceId) === undefined) waiting.ids.add(deviceId);
      return waiting.done;
    },
    forget(isForgotten) {
      for (const [deviceId] of newest) if (isForgotten(deviceId)) newest.delete(deviceId);
    },
    note(deviceId, timestamp) {
      const known = newest.get(deviceId);
      if (known !== undefined && timestamp > known) newest.set(deviceId, timestamp);
      const asked = loading.get(deviceId);
      if (asked !== undefined && timestamp > asked) loading.set(deviceId, timestamp);
    },
  };
}

async function storedNewest(
  shard: Shard,
  deviceIds: readonly string[],
): Promise<ReadonlyMap<string, EpochMs>> {
  const rows = await shard.select<{ device: string; newest: number }>(
    `select device, max(ts) as newest from samples where device in ${listOf(deviceIds)} group by device`,
  );
  return new Map(rows.map(({ device, newest }) => [device, newest]));
}

function openNewest(deviceId: string, openRows: OpenRows): EpochMs {
  let at = Number.NEGATIVE_INFINITY;
  for (const { timestamp } of openRows.rowsOf(deviceId)) at = Math.max(at, timestamp);
  return at;
}
