// Newest times: when the newest row of each device was measured, so that newer samples need no look.
import { listOf } from '../../clickhouse/statement-values.ts';
import type { Shard } from '../../clickhouse/shard.ts';
import type { EpochMs } from '../../../model/instant.ts';
import { createBoundedMap } from '../../../structures/bounded-map.ts';
import type { OpenRows } from './open-rows.ts';
import { shardOf } from './flusher.ts';

const devicesMax = 1_000_000;
const devicesPerQuery = 500;

/** A time may be later than the newest row that is left. */
export class NewestTimes {
  readonly #shards: readonly Shard[];
  readonly #openRows: OpenRows;
  readonly #newest = createBoundedMap<string, EpochMs>(devicesMax);
  /** Newest rows that were written while their device is asked for. */
  readonly #loading = new Map<string, EpochMs>();
  #waiting: { readonly ids: Set<string>; readonly done: Promise<void> } | undefined;

  constructor(shards: readonly Shard[], openRows: OpenRows) {
    this.#shards = shards;
    this.#openRows = openRows;
  }

  /** Undefined when ClickHouse must be asked; -Infinity without rows. */
  known(deviceId: string): EpochMs | undefined {
    return this.#newest.use(deviceId);
  }

  /** Asks for those that are not known. */
  load(deviceIds: readonly string[]): Promise<void> {
    // Those of one turn share their queries.
    if (this.#waiting === undefined) {
      const ids = new Set<string>();
      const done = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        this.#waiting = undefined;
        return this.#loadAll([...ids]);
      });
      this.#waiting = { ids, done };
    }
    for (const deviceId of deviceIds)
      if (this.#newest.get(deviceId) === undefined) this.#waiting.ids.add(deviceId);
    return this.#waiting.done;
  }

  /** Asks again for these. */
  forget(isForgotten: (deviceId: string) => boolean): void {
    for (const [deviceId] of this.#newest) if (isForgotten(deviceId)) this.#newest.delete(deviceId);
  }

  /** To be called for each row. */
  note(deviceId: string, timestamp: EpochMs): void {
    const known = this.#newest.get(deviceId);
    if (known !== undefined && timestamp > known) this.#newest.set(deviceId, timestamp);
    const asked = this.#loading.get(deviceId);
    if (asked !== undefined && timestamp > asked) this.#loading.set(deviceId, timestamp);
  }

  async #loadAll(deviceIds: readonly string[]): Promise<void> {
    for (const deviceId of deviceIds)
      if (!this.#loading.has(deviceId))
        this.#loading.set(deviceId, openNewest(deviceId, this.#openRows));
    try {
      for (const shard of this.#shards) {
        const ofShard = deviceIds.filter((deviceId) => shardOf(deviceId, this.#shards) === shard);
        for (let at = 0; at < ofShard.length; at += devicesPerQuery)
          await this.#loadSome(shard, ofShard.slice(at, at + devicesPerQuery));
      }
    } finally {
      for (const deviceId of deviceIds) this.#loading.delete(deviceId);
    }
  }

  async #loadSome(shard: Shard, deviceIds: readonly string[]): Promise<void> {
    const stored = await storedNewest(shard, deviceIds);
    for (const deviceId of deviceIds) {
      const found = stored.get(deviceId) ?? Number.NEGATIVE_INFINITY;
      this.#newest.set(deviceId, Math.max(found, this.#loading.get(deviceId) ?? found));
    }
  }
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
