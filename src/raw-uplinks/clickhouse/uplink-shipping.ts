// Shipping of raw uplinks: gathers them into blocks and writes each block once, also after errors and restarts.
import { mayHaveStored } from '../../clickhouse/clickhouse-error.ts';
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

interface ClosedBlock extends UplinkBlock {
  /** By shard; those that are stored are removed. */
  readonly left: Map<Shard, readonly UplinkRow[]>;
  isDoubtful: boolean;
}

export function createUplinkShipping(parts: ShippingParts): UplinkShipping {
  const { table, shardOf, limits, doubtfulBefore } = parts;
  /** Cut, and not written yet. */
  let closed: ClosedBlock | undefined;
  let open: UplinkBlock | undefined;
  let lastPosition = -1;

  async function shipClosed(): Promise<void> {
    if (closed !== undefined) await writeBlock(closed, table);
    closed = undefined;
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

/** Throws when a shard does not take its rows; the next call writes only what is missing. */
async function writeBlock(block: ClosedBlock, table: ShippingParts['table']): Promise<void> {
  const { left, isDoubtful } = block;
  const ends = await Promise.allSettled(
    [...left].map(async ([shard, rows]) => {
      const missing = isDoubtful ? await table.missing(shard, rows) : rows;
      if (missing.length > 0) await table.insert(shard, missing);
      left.delete(shard);
    }),
  );
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed === undefined) return;
  const { reason } = failed;
  block.isDoubtful ||= mayHaveStored(reason);
  throw reason;
}
