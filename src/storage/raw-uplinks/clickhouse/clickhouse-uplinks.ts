// Raw uplinks in ClickHouse: shipped in blocks, dropped by the day; the newest are answered from memory.
import { setTimeout as delay } from 'node:timers/promises';
import type { EpochMs } from '../../../model/instant.ts';
import type { RawUplink } from '../../../model/uplink.ts';
import { createSerialQueue } from '../../../structures/serial-queue.ts';
import {
  type BlockShipper,
  createBlockShipper,
  insertOfRows,
  type ShippedBlock,
} from '../../clickhouse/block-shipper.ts';
import type { ClickHouse } from '../../clickhouse/clickhouse.ts';
import { JournalRelease } from '../../clickhouse/journal-release.ts';
import type { Shard } from '../../clickhouse/shard.ts';
import { listOf, quoted } from '../../clickhouse/statement-values.ts';
import { lineOf, outcomeBytesMax, uplinkOf } from '../raw-uplink-line.ts';
import type { RawUplinkPage, RawUplinkRange, RawUplinkStore } from '../raw-uplink-store.ts';
import {
  type BlockLimits,
  blockOf,
  dayOf,
  dropDay,
  encodeUplinks,
  endsBefore,
  isOver,
  UplinkTable,
  storedDays,
  storedUplinks,
  type UplinkBlock,
  type UplinkRow,
  uplinkTable,
} from './uplink-table.ts';

const clickHouseUplinkLimits = {
  /** A block ends where its uplinks reach the next slot of time, or at one of the sizes. */
  slotMs: 30_000,
  rowsMax: 20_000,
  bytesMax: 8 * 1024 * 1024,
  /** So long after its slot, a block is written although no later uplink has come. */
  graceMs: 5_000,
  outcomeBytesMax,
} as const;

type ClickHouseUplinkLimits = {
  readonly [K in keyof typeof clickHouseUplinkLimits]: number;
};

/** How often, and how many times at most, it is looked whether rows are deleted. */
const deletedEveryMs = 100;
const deletedTries = 300;

interface ClickHouseUplinksOptions {
  readonly clickHouse: ClickHouse;
  readonly shardOf: (deviceId: string) => Shard;
  /** The number of this data folder's journal. */
  readonly journal: number;
  /** See `FollowedJournal`. */
  readonly position: number;
  readonly now: () => EpochMs;
  readonly retentionMs: number;
  /** Of all shards, one replica each. */
  readonly bytesMax: number;
  /** Called with what keeps the journal from being released. */
  readonly failed: (error: unknown) => void;
  readonly limits?: Partial<ClickHouseUplinkLimits>;
}

/** Creates the table when it is missing. */
export async function openClickHouseUplinks(
  options: ClickHouseUplinksOptions,
): Promise<RawUplinkStore> {
  const { clickHouse, shardOf, journal, position, now, retentionMs, failed } = options;
  const limits: ClickHouseUplinkLimits = { ...clickHouseUplinkLimits, ...options.limits };
  await clickHouse.prepareTables([uplinkTable]);
  const table = new UplinkTable(journal);
  const shipping = new UplinkShipping({
    shardOf,
    journal,
    limits: blockLimitsOf(limits),
    doubtfulBefore: position,
  });
  const inTurn = createSerialQueue();
  const release = new JournalRelease({
    clickHouse,
    tables: [uplinkTable.name],
    from: 0,
    failed,
    release: (before) => {
      durable = before;
    },
  });
  let seen = 0;
  let durable = 0;
  let bytes = await bytesStored(clickHouse.shards);

  /** Where the rows begin that are not known to be stored. */
  const shippedTo = (): number => shipping.waiting()[0]?.position ?? seen;
  function shipped(): void {
    release.shipped(shippedTo());
  }

  return {
    add: (uplinks, through) =>
      inTurn.run(async () => {
        await shipping.add(uplinks.map((uplink) => rowOf(uplink, limits)));
        seen = through;
        shipped();
      }),
    get durable() {
      return durable;
    },
    list(range) {
      const from = Math.max(range.from ?? 0, now() - retentionMs);
      return listBoth({ ...range, from }, shipping.waiting(), (stored, below) =>
        table.list(shardOf(range.deviceId), stored, below),
      );
    },
    syncWhenDue: () =>
      inTurn.run(async () => {
        await shipping.shipOver(now() - limits.graceMs);
        shipped();
      }),
    share: () =>
      inTurn.run(async () => {
        await shipping.shipAll();
        shipped();
      }),
    async dropExpired() {
      const before = bytes;
      await dropDays(options);
      bytes = await bytesStored(clickHouse.shards);
      await inTurn.run(async () => shipped());
      await release.ask();
      return Math.max(0, before - bytes);
    },
    dropDevices: (deviceIds) =>
      inTurn.run(async () => {
        // What waits would come to the table behind the deletion.
        await shipping.shipAll();
        return dropDevices(deviceIds, shardOf);
      }),
    removeReceived: ({ deviceId, from, to }) =>
      inTurn.run(async () => {
        await shipping.shipAll();
        shipped();
        const where = `device = ${quoted(deviceId)} and receivedAt >= ${from} and receivedAt < ${to}`;
        const shard = shardOf(deviceId);
        const uplinks = await dropRows(shard, where);
        // What is listed after the call has none of them.
        for (let left = deletedTries; (await countRows(shard, where)) > 0; left -= 1) {
          if (left === 0) throw new Error('ClickHouse has not deleted raw uplinks in time');
          await delay(deletedEveryMs);
        }
        return uplinks;
      }),
    get bytes() {
      return bytes;
    },
    // What waits is in the journal, and makes the same blocks at the next start.
    async close() {
      release.close();
      await shipping.close();
      await inTurn.idle();
    },
  };
}

/** Deletes what an earlier start has kept. */
export async function removeClickHouseUplinks(clickHouse: ClickHouse): Promise<void> {
  await clickHouse.prepareTables([uplinkTable]);
  for (const shard of clickHouse.shards)
    for (const { day } of await storedDays(shard)) await dropDay(shard, day);
}

function blockLimitsOf({ slotMs, rowsMax, bytesMax }: ClickHouseUplinkLimits): BlockLimits {
  return { slotMs, rowsMax, bytesMax };
}

function rowOf(uplink: RawUplink, { outcomeBytesMax: max }: ClickHouseUplinkLimits): UplinkRow {
  const { deviceId, position, receivedAt } = uplink;
  return { deviceId, position, receivedAt, line: lineOf(uplink, max) };
}

/** The newest are those that wait; `listStored` lists those before a position of this journal. */
async function listBoth(
  range: RawUplinkRange,
  waiting: readonly UplinkRow[],
  listStored: (range: RawUplinkRange, below: number) => Promise<RawUplinkPage>,
): Promise<RawUplinkPage> {
  const below = waiting[0]?.position ?? Number.MAX_SAFE_INTEGER;
  const newest = newestFirst(waiting, range);
  const open = newest.slice(range.skip, range.skip + range.limit);
  const skip = Math.max(0, range.skip - newest.length);
  const stored = await listStored({ ...range, skip, limit: range.limit - open.length }, below);
  return {
    uplinks: [...open.map(({ line }) => uplinkOf(line)), ...stored.uplinks],
    total: newest.length + stored.total,
  };
}

function newestFirst(
  rows: readonly UplinkRow[],
  { deviceId, from = 0, to = Number.POSITIVE_INFINITY }: RawUplinkRange,
): readonly UplinkRow[] {
  return rows
    .filter((row) => row.deviceId === deviceId && row.receivedAt >= from && row.receivedAt < to)
    .toReversed();
}

/**
 * Drops days that are wholly past the retention, and then the oldest ones while there are too many
 * bytes. The present day is kept.
 */
async function dropDays(options: ClickHouseUplinksOptions): Promise<void> {
  const { clickHouse, now, retentionMs, bytesMax } = options;
  const found = await Promise.all(
    clickHouse.shards.map(async (shard) =>
      (await storedDays(shard)).map((one) => ({ ...one, shard })),
    ),
  );
  const days = found.flat().toSorted((one, other) => one.day - other.day);
  let left = days.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { shard, day, bytes } of days) {
    const isPast = day < dayOf(now() - retentionMs);
    if (!isPast && (left <= bytesMax || day >= dayOf(now()))) break;
    await dropDay(shard, day);
    left -= bytes;
  }
}

async function bytesStored(shards: readonly Shard[]): Promise<number> {
  const days = await Promise.all(shards.map(storedDays));
  return days.flat().reduce((sum, { bytes }) => sum + bytes, 0);
}

/** The servers delete the rows after the call, some seconds later. */
async function dropDevices(
  deviceIds: ReadonlySet<string>,
  shardOf: (deviceId: string) => Shard,
): Promise<number> {
  let uplinks = 0;
  for (const [shard, ids] of Map.groupBy(deviceIds, shardOf)) {
    const where = `device in ${listOf(ids)}`;
    uplinks += await dropRows(shard, where);
  }
  return uplinks;
}

async function dropRows(shard: Shard, where: string): Promise<number> {
  const total = await countRows(shard, where);
  if (total > 0) await shard.command(`alter table uplinks delete where ${where}`);
  return total;
}

async function countRows(shard: Shard, where: string): Promise<number> {
  const [found] = await shard.select<{ readonly total: number }>(
    `select uniqExact(journal, position) as total from uplinks where ${where}`,
  );
  return found?.total ?? 0;
}

// Shipping of raw uplinks: gathers them into blocks and writes each block once, also after errors and restarts.

interface ShippingParts {
  readonly shardOf: (deviceId: string) => Shard;
  readonly limits: BlockLimits;
  readonly journal: number;
  /** Blocks that begin before this position may have been written by an earlier process. */
  readonly doubtfulBefore: number;
}

type ClosedBlock = UplinkBlock & ShippedBlock;

/** Calls of `add`, `shipOver` and `shipAll` must not overlap. */
class UplinkShipping {
  readonly #limits: BlockLimits;
  readonly #doubtfulBefore: number;
  /** Cut, and not written yet. */
  #closed: ClosedBlock | undefined;
  #open: UplinkBlock | undefined;
  #lastPosition = -1;
  readonly #shipper: BlockShipper;
  readonly close: () => Promise<void>;

  constructor(parts: ShippingParts) {
    const { shardOf, limits, journal, doubtfulBefore } = parts;
    this.#limits = limits;
    this.#doubtfulBefore = doubtfulBefore;
    this.#shipper = createBlockShipper<ClosedBlock>(
      {
        first: () => this.#closed,
        // The content of a block decides where it ends.
        begin: async () => undefined,
        inserts: ({ rows }) =>
          new Map(
            [...Map.groupBy(rows, ({ deviceId }) => shardOf(deviceId))].map(([shard, ofShard]) => [
              shard,
              [
                insertOfRows({
                  id: `uplinks-${journal}-${ofShard[0]?.position}`,
                  table: uplinkTable,
                  rows: ofShard,
                  encode: (some) => encodeUplinks(some, journal),
                  stored: storedUplinks(ofShard, journal),
                }),
              ],
            ]),
          ),
        end: async () => {
          this.#closed = undefined;
        },
      },
      // `add` throws it.
      () => undefined,
    );
    this.close = this.#shipper.close;
  }

  async #shipClosed(): Promise<void> {
    await this.#shipper.until(() => this.#closed === undefined);
  }

  async shipAll(): Promise<void> {
    await this.#shipClosed();
    if (this.#open === undefined) return;
    const [first] = this.#open.rows;
    const isDoubtful = first !== undefined && first.position < this.#doubtfulBefore;
    this.#closed = { ...this.#open, doubt: isDoubtful ? 'ended' : 'none' };
    this.#open = undefined;
    await this.#shipClosed();
  }

  /**
   * Rows in the order of their positions; those that were added before are skipped. Throws when a
   * full block cannot be written; the same rows are then to be added again.
   */
  async add(rows: readonly UplinkRow[]): Promise<void> {
    await this.#shipClosed();
    for (const row of rows) {
      if (row.position <= this.#lastPosition) continue;
      if (this.#open !== undefined && endsBefore(this.#open, row, this.#limits))
        await this.shipAll();
      if (this.#open === undefined) this.#open = blockOf(row, this.#limits);
      else {
        this.#open.rows.push(row);
        this.#open.bytes += row.line.length;
      }
      this.#lastPosition = row.position;
    }
  }

  /** Writes a block whose slot was over at the time. */
  async shipOver(time: EpochMs): Promise<void> {
    await this.#shipClosed();
    if (this.#open !== undefined && isOver(this.#open, time, this.#limits)) await this.shipAll();
  }

  /** Rows that are not known to be stored, oldest first. */
  waiting(): readonly UplinkRow[] {
    return [...(this.#closed?.rows ?? []), ...(this.#open?.rows ?? [])];
  }
}
