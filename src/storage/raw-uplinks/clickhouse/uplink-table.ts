// The table of raw uplinks in ClickHouse: a row each, inserted in blocks, a partition a day.
import { dayMs, type EpochMs } from '../../../model/instant.ts';
import { partitionOf } from '../../../model/node-messages.ts';
import type { StoredRows } from '../../clickhouse/block-shipper.ts';
import { quoted, RowBinary } from '../../clickhouse/statement-values.ts';
import type { Shard } from '../../clickhouse/shard.ts';
import type { ClickHouse, TableDefinition } from '../../clickhouse/clickhouse.ts';
import { uplinkOf } from '../raw-uplink-line.ts';
import type { RawUplinkPage, RawUplinkRange } from '../raw-uplink-store.ts';
import type { RawUplink } from '../../../model/uplink.ts';

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

export function encodeUplinks(rows: readonly UplinkRow[], journal: number): RowBinary {
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
export function storedUplinks(rows: readonly UplinkRow[], journal: number): StoredRows<UplinkRow> {
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

export class UplinkTable {
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

interface UplinkDay {
  /** Days since 1970. */
  readonly day: number;
  readonly bytes: number;
}

/** The days of which a shard holds uplinks, oldest first. */
export async function storedDays(shard: Shard): Promise<readonly UplinkDay[]> {
  const days = await shard.select<{ readonly day: string; readonly size: number }>(
    `select partition as day, sum(bytes_on_disk) as size from system.parts where active and database = currentDatabase() and table = 'uplinks' group by partition`,
  );
  return days
    .map(({ day, size }) => ({ day: Number(day), bytes: size }))
    .toSorted((one, other) => one.day - other.day);
}

export async function dropDay(shard: Shard, day: number): Promise<void> {
  await shard.command(`alter table uplinks drop partition ${day}`);
}

export function dayOf(time: EpochMs): number {
  return Math.floor(time / dayMs);
}

// Blocks of raw uplinks: cut by nothing but their content, so that the journal leads to the same blocks again.

export interface UplinkRow {
  readonly deviceId: string;
  readonly position: number;
  readonly receivedAt: EpochMs;
  readonly line: string;
}

export interface UplinkBlock {
  /** At least one, by position. */
  readonly rows: UplinkRow[];
  bytes: number;
  /** The last slot of time that its uplinks may be of. */
  readonly slot: number;
}

export interface BlockLimits {
  readonly rowsMax: number;
  readonly bytesMax: number;
  readonly slotMs: number;
}

export function blockOf(row: UplinkRow, { slotMs }: BlockLimits): UplinkBlock {
  return { rows: [row], bytes: row.line.length, slot: Math.floor(row.receivedAt / slotMs) };
}

/**
 * Whether a block ends before the row. It depends on the rows of the block only, and not on how they
 * arrived.
 */
export function endsBefore(block: UplinkBlock, row: UplinkRow, limits: BlockLimits): boolean {
  return (
    block.rows.length >= limits.rowsMax ||
    block.bytes + row.line.length > limits.bytesMax ||
    Math.floor(row.receivedAt / limits.slotMs) > block.slot
  );
}

/** Whether no further uplink of the block's slot is expected. */
export function isOver({ slot }: UplinkBlock, time: EpochMs, { slotMs }: BlockLimits): boolean {
  return time >= (slot + 1) * slotMs;
}

// Moved uplinks: the raw uplinks of one journal out of ClickHouse, in their order.

/** Positions of one select; not every position has an uplink. */
const positionsPerSelect = 50_000;

interface UplinkCounts {
  /** Of the journal. */
  readonly own: number;
  /** Of other journals. */
  readonly others: number;
}

export async function countUplinks({ shards }: ClickHouse, journal: number): Promise<UplinkCounts> {
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
