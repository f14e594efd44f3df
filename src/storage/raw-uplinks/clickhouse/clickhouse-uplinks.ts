// Raw uplinks in ClickHouse: shipped in blocks, dropped by the day; the newest are answered from memory.
import { setTimeout as delay } from 'node:timers/promises';
import { dayMs, type EpochMs } from '../../../model/instant.ts';
import type { RawUplink } from '../../../model/uplink.ts';
import { createSerialQueue } from '../../../structures/work-queues.ts';
import {
  BlockShipper,
  insertOfRows,
  JournalRelease,
  type ShippedBlock,
  type StoredRows,
} from '../../clickhouse/block-shipper.ts';
import type { ClickHouse, TableDefinition } from '../../clickhouse/clickhouse.ts';
import type { Shard } from '../../clickhouse/replica.ts';
import { listOf, quoted, RowBinary } from '../../clickhouse/statement-values.ts';
import {
  lineOf,
  outcomeBytesMax,
  type RawUplinkPage,
  type RawUplinkRange,
  type RawUplinkStore,
  type ReceivedUplinks,
  uplinkOf,
} from '../raw-uplink-store.ts';
import { partitionOf } from '../../../model/node-messages.ts';

// The table of raw uplinks in ClickHouse: a row each, inserted in blocks, a partition a day.

export const uplinkTable: TableDefinition = {
  name: 'uplinks',
  columns: [
    { name: 'part', type: 'UInt16', use: 'count' },
    { name: 'device', type: 'String', use: 'text' },
    { name: 'journal', type: 'UInt32', use: 'count' },
    { name: 'position', type: 'UInt64', use: 'count' },
    { name: 'receivedAt', type: 'Int64', use: 'time' },
    { name: 'line', type: 'String', use: 'text' },
  ],
  engine: 'MergeTree',
  partitionBy: `intDiv(receivedAt, ${dayMs})`,
  orderBy: ['device', 'receivedAt', 'journal', 'position'],
};

function encodeUplinks(rows: readonly UplinkRow[], journal: number): RowBinary {
  const binary = new RowBinary();
  for (const { deviceId, position, receivedAt, line } of rows) {
    binary.uint16(partitionOf(deviceId));
    binary.string(deviceId);
    binary.uint32(journal);
    binary.int64(position);
    binary.int64(receivedAt);
    binary.string(line);
    binary.endRow();
  }
  return binary;
}

/** How those of the rows are found that are stored. Rows are by position. */
function storedUplinks(rows: readonly UplinkRow[], journal: number): StoredRows<UplinkRow> {
  let [oldest, newest] = [Infinity, -Infinity];
  for (const { receivedAt } of rows) {
    oldest = Math.min(oldest, receivedAt);
    newest = Math.max(newest, receivedAt);
  }
  const positions = `position >= ${rows[0]?.position} and position <= ${rows.at(-1)?.position}`;
  return {
    columns: 'position',
    // By the times, the server skips partitions of other days.
    where: `journal = ${journal} and ${positions} and receivedAt >= ${oldest} and receivedAt <= ${newest}`,
    nameOf: ({ position }) => [position],
  };
}

class UplinkTable {
  readonly #journal: number;

  constructor(journal: number) {
    this.#journal = journal;
  }

  /** Newest first, without those of this journal from a position on. */
  async list(
    shard: Shard,
    { deviceId, from, to, skip, limit }: RawUplinkRange,
    below: number,
  ): Promise<RawUplinkPage> {
    const where = [
      `device = ${quoted(deviceId)}`,
      `not (journal = ${this.#journal} and position >= ${below})`,
      ...(from === undefined ? [] : [`receivedAt >= ${from}`]),
      ...(to === undefined ? [] : [`receivedAt < ${to}`]),
    ].join(' and ');
    const [counted] = await shard.select<{ readonly total: number }>(
      `select uniqExact(journal, position) as total from uplinks where ${where}`,
    );
    const { total = 0 } = counted ?? {};
    if (limit === 0 || skip >= total) return { uplinks: [], total };
    const order = 'receivedAt desc, journal desc, position desc';
    const rows = await shard.select<{ readonly line: string }>(
      `select line from uplinks where ${where} order by ${order} limit 1 by journal, position limit ${skip}, ${limit}`,
    );
    return { uplinks: rows.map(({ line }) => uplinkOf(line)), total };
  }
}

/** The days of which a shard holds uplinks, oldest first. */
async function storedDays(shard: Shard): Promise<
  readonly {
    /** Days since 1970. */
    readonly day: number;
    readonly bytes: number;
  }[]
> {
  const days = await shard.select<{ readonly day: string; readonly size: number }>(
    `select partition as day, sum(bytes_on_disk) as size from system.parts where active and database = currentDatabase() and table = 'uplinks' group by partition`,
  );
  return days
    .map(({ day, size }) => ({ day: Number(day), bytes: size }))
    .toSorted((one, other) => one.day - other.day);
}

async function dropDay(shard: Shard, day: number): Promise<void> {
  await shard.command(`alter table uplinks drop partition ${day}`);
}

function dayOf(time: EpochMs): number {
  return Math.floor(time / dayMs);
}

// Blocks of raw uplinks: cut by nothing but their content, so that the journal leads to the same blocks again.

interface UplinkRow {
  readonly deviceId: string;
  readonly position: number;
  readonly receivedAt: EpochMs;
  readonly line: string;
}

interface UplinkBlock {
  /** At least one, by position. */
  readonly rows: UplinkRow[];
  bytes: number;
  /** The last slot of time that its uplinks may be of. */
  readonly slot: number;
}

interface BlockLimits {
  readonly rowsMax: number;
  readonly bytesMax: number;
  readonly slotMs: number;
}

function blockOf(row: UplinkRow, { slotMs }: BlockLimits): UplinkBlock {
  return { rows: [row], bytes: row.line.length, slot: Math.floor(row.receivedAt / slotMs) };
}

/**
 * Whether a block ends before the row. It depends on the rows of the block only, and not on how they
 * arrived.
 */
function endsBefore(block: UplinkBlock, row: UplinkRow, limits: BlockLimits): boolean {
  return (
    block.rows.length >= limits.rowsMax ||
    block.bytes + row.line.length > limits.bytesMax ||
    Math.floor(row.receivedAt / limits.slotMs) > block.slot
  );
}

/** Whether no further uplink of the block's slot is expected. */
function isOver({ slot }: UplinkBlock, time: EpochMs, { slotMs }: BlockLimits): boolean {
  return time >= (slot + 1) * slotMs;
}

// Moved uplinks: the raw uplinks of one journal out of ClickHouse, in their order.

/** Positions of one select; not every position has an uplink. */
const positionsPerSelect = 50_000;

export async function countUplinks(
  { shards }: ClickHouse,
  journal: number,
): Promise<{
  /** Of the journal. */
  readonly own: number;
  /** Of other journals. */
  readonly others: number;
}> {
  let [own, others] = [0, 0];
  for (const shard of shards) {
    const [row] = await shard.select<{ own: number; total: number }>(
      `select uniqExactIf(position, journal = ${journal}) as own, uniqExact(journal, position) as total from uplinks`,
    );
    own += row?.own ?? 0;
    others += (row?.total ?? 0) - (row?.own ?? 0);
  }
  return { own, others };
}

/** In batches, by position. */
export async function* movedUplinks(
  { shards }: ClickHouse,
  journal: number,
): AsyncGenerator<readonly RawUplink[]> {
  const ends = await Promise.all(
    shards.map((shard) =>
      shard.select<{ n: number; low: number; high: number }>(
        `select count() as n, min(position) as low, max(position) as high from uplinks where journal = ${journal}`,
      ),
    ),
  );
  const filled = ends.flat().filter(({ n }) => n > 0);
  const last = Math.max(-1, ...filled.map(({ high }) => high));
  let from = Math.min(...filled.map(({ low }) => low));
  for (; from <= last; from += positionsPerSelect) {
    const found = await Promise.all(
      shards.map((shard) =>
        shard.select<{ line: string }>(
          `select line from uplinks where journal = ${journal} and position >= ${from} and position < ${from + positionsPerSelect} limit 1 by position`,
        ),
      ),
    );
    yield found
      .flat()
      .map(({ line }) => uplinkOf(line))
      .toSorted((a, b) => a.position - b.position);
  }
}

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

export class ClickHouseUplinks implements RawUplinkStore {
  readonly #options: ClickHouseUplinksOptions;
  readonly #limits: ClickHouseUplinkLimits;
  readonly #shards: readonly Shard[];
  readonly #table: UplinkTable;
  readonly #shipping: UplinkShipping;
  readonly #release: JournalRelease;
  readonly #inTurn = createSerialQueue();
  #seen = 0;
  #durable = 0;
  #bytes: number;

  private constructor(options: ClickHouseUplinksOptions, bytes: number) {
    const { clickHouse, shardOf, journal, position, failed } = options;
    this.#options = options;
    this.#limits = { ...clickHouseUplinkLimits, ...options.limits };
    this.#shards = clickHouse.shards;
    this.#bytes = bytes;
    this.#table = new UplinkTable(journal);
    this.#shipping = new UplinkShipping(shardOf, this.#limits, journal, position);
    this.#release = new JournalRelease(
      clickHouse,
      [uplinkTable.name],
      0,
      (before) => void (this.#durable = before),
      failed,
    );
  }

  /** Creates the table when it is missing. */
  static async open(options: ClickHouseUplinksOptions): Promise<ClickHouseUplinks> {
    const { clickHouse } = options;
    await clickHouse.prepareTables([uplinkTable]);
    return new ClickHouseUplinks(options, await bytesStored(clickHouse.shards));
  }

  add(uplinks: readonly RawUplink[], through: number): Promise<void> {
    return this.#inTurn.run(async () => {
      await this.#shipping.add(uplinks.map((uplink) => rowOf(uplink, this.#limits)));
      this.#seen = through;
      this.#noteShipped();
    });
  }

  get durable(): number {
    return this.#durable;
  }

  list(range: RawUplinkRange): Promise<RawUplinkPage> {
    const { now, retentionMs, shardOf } = this.#options;
    const from = Math.max(range.from ?? 0, now() - retentionMs);
    return listBoth({ ...range, from }, this.#shipping.waiting(), (stored, below) =>
      this.#table.list(shardOf(range.deviceId), stored, below),
    );
  }

  syncWhenDue(): Promise<void> {
    return this.#inTurn.run(async () => {
      await this.#shipping.shipOver(this.#options.now() - this.#limits.graceMs);
      this.#noteShipped();
    });
  }

  share(): Promise<void> {
    return this.#inTurn.run(async () => {
      await this.#shipping.shipAll();
      this.#noteShipped();
    });
  }

  async dropExpired(): Promise<number> {
    const before = this.#bytes;
    await dropDays(this.#options);
    this.#bytes = await bytesStored(this.#shards);
    await this.#inTurn.run(async () => this.#noteShipped());
    await this.#release.ask();
    return Math.max(0, before - this.#bytes);
  }

  dropDevices(deviceIds: ReadonlySet<string>): Promise<number> {
    return this.#inTurn.run(async () => {
      // What waits would come to the table behind the deletion.
      await this.#shipping.shipAll();
      return dropDevices(deviceIds, this.#options.shardOf);
    });
  }

  removeReceived({ deviceId, from, to }: ReceivedUplinks): Promise<number> {
    return this.#inTurn.run(async () => {
      await this.#shipping.shipAll();
      this.#noteShipped();
      const where = `device = ${quoted(deviceId)} and receivedAt >= ${from} and receivedAt < ${to}`;
      const shard = this.#options.shardOf(deviceId);
      const uplinks = await dropRows(shard, where);
      // What is listed after the call has none of them.
      for (let left = deletedTries; (await countRows(shard, where)) > 0; left -= 1) {
        if (left === 0) throw new Error('ClickHouse has not deleted raw uplinks in time');
        await delay(deletedEveryMs);
      }
      return uplinks;
    });
  }

  get bytes(): number {
    return this.#bytes;
  }

  // What waits is in the journal, and makes the same blocks at the next start.
  async close(): Promise<void> {
    this.#release.close();
    await this.#shipping.close();
    await this.#inTurn.idle();
  }

  /** Everything before the first row that is not known to be stored is in ClickHouse. */
  #noteShipped(): void {
    this.#release.shipped(this.#shipping.waiting()[0]?.position ?? this.#seen);
  }
}

/** Deletes what an earlier start has kept. */
export async function removeClickHouseUplinks(clickHouse: ClickHouse): Promise<void> {
  await clickHouse.prepareTables([uplinkTable]);
  for (const shard of clickHouse.shards)
    for (const { day } of await storedDays(shard)) await dropDay(shard, day);
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

type ClosedBlock = UplinkBlock & ShippedBlock;

/** Calls of `add`, `shipOver` and `shipAll` must not overlap. */
class UplinkShipping {
  readonly #limits: BlockLimits;
  readonly #doubtfulBefore: number;
  /** Cut, and not written yet. */
  #closed: ClosedBlock | undefined;
  #open: UplinkBlock | undefined;
  #lastPosition = -1;
  readonly #shipper: BlockShipper<ClosedBlock>;

  constructor(
    shardOf: (deviceId: string) => Shard,
    limits: BlockLimits,
    journal: number,
    /** Blocks that begin before this position may have been written by an earlier process. */
    doubtfulBefore: number,
  ) {
    this.#limits = limits;
    this.#doubtfulBefore = doubtfulBefore;
    this.#shipper = new BlockShipper<ClosedBlock>(
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
  }

  close(): Promise<void> {
    return this.#shipper.close();
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
