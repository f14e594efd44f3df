// Shipping of raw uplinks: gathers them into blocks and writes each block once, also after errors and restarts.
import { ClickHouseError } from '../../clickhouse/clickhouse-error.ts';
import type { Shard } from '../../clickhouse/shard.ts';
import type { EpochMs } from '../../model/instant.ts';
import {
  type BlockLimits,
  blockOf,
  endsBefore,
  isOver,
  type UplinkBlock,
  type UplinkRow,
} from './uplink-blocks.ts';
import type { UplinkTable } from './uplink-table.ts';

export interface ShippingParts {
  readonly table: Pick<UplinkTable, 'insert' | 'missing'>;
  readonly shardOf: (deviceId: string) => Shard;
  readonly limits: BlockLimits;
  /** Blocks that begin before this position may have been written by an earlier process. */
  readonly doubtfulBefore: number;
}

/** Calls of `add`, `shipOver` and `shipAll` must not overlap. */
export interface UplinkShipping {
  /**
   * Rows in the order of their positions; those that were added before are skipped. Throws when a
   * full block cannot be written; the same rows are then to be added again.
   */
  add(rows: readonly UplinkRow[]): Promise<void>;
  /** Writes a block whose slot was over at the time. */
  shipOver(time: EpochMs): Promise<void>;
  shipAll(): Promise<void>;
  /** Rows that are not known to be stored, oldest first. */
  waiting(): readonly UplinkRow[];
}

interface DoubtfulBlock {
  /** By shard; those that are stored are taken out. */
  readonly left: Map<Shard, readonly UplinkRow[]>;
  isDoubtful: boolean;
}

export function createUplinkShipping(parts: ShippingParts): UplinkShipping {
  const { table, shardOf, limits, doubtfulBefore } = parts;
  /** Cut, and not written yet. */
  let closed: (UplinkBlock & DoubtfulBlock) | undefined;
  let open: UplinkBlock | undefined;
  let lastPosition = -1;

  async function shipClosed(): Promise<void> {
    if (closed === undefined) return;
    const block = closed;
    const shards = [...block.left];
    const ends = await Promise.allSettled(
      shards.map(([shard, rows]) => writeRows(shard, rows, block.isDoubtful)),
    );
    for (const [index, end] of ends.entries()) {
      const [shard] = shards[index] ?? [];
      if (end.status === 'fulfilled' && shard !== undefined) block.left.delete(shard);
    }
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed === undefined) {
      closed = undefined;
      return;
    }
    block.isDoubtful ||= !(failed.reason instanceof ClickHouseError) || failed.reason.isDoubtful;
    throw failed.reason;
  }

  async function writeRows(
    shard: Shard,
    rows: readonly UplinkRow[],
    isDoubtful: boolean,
  ): Promise<void> {
    const missing = isDoubtful ? await table.missing(shard, rows) : rows;
    if (missing.length > 0) await table.insert(shard, missing);
  }

  async function cut(): Promise<void> {
    await shipClosed();
    if (open === undefined) return;
    const [first] = open.rows;
    const left = Map.groupBy(open.rows, ({ deviceId }) => shardOf(deviceId));
    closed = { ...open, left, isDoubtful: first !== undefined && first.position < doubtfulBefore };
    open = undefined;
    await shipClosed();
  }

  return {
    async add(rows) {
      await shipClosed();
      for (const row of rows) {
        if (row.position <= lastPosition) continue;
        if (open !== undefined && endsBefore(open, row, limits)) await cut();
        if (open === undefined) open = blockOf(row, limits);
        else {
          open.rows.push(row);
          open.bytes += row.line.length;
        }
        lastPosition = row.position;
      }
    },
    async shipOver(time) {
      await shipClosed();
      if (open !== undefined && isOver(open, time, limits)) await cut();
    },
    shipAll: cut,
    waiting: () => [...(closed?.rows ?? []), ...(open?.rows ?? [])],
  };
}
