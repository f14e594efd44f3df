// Shipping of raw uplinks: gathers them into blocks and writes each block once, also after errors and restarts.
import { insertOfRows } from '../../clickhouse/block-insert.ts';
import { createBlockShipper, type ShippedBlock } from '../../clickhouse/block-shipper.ts';
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
import { encodeUplinks, storedUplinks, uplinkTable } from './uplink-table.ts';

export interface ShippingParts {
  readonly shardOf: (deviceId: string) => Shard;
  readonly limits: BlockLimits;
  readonly journal: number;
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
  close(): Promise<void>;
}

type ClosedBlock = UplinkBlock & ShippedBlock;

export function createUplinkShipping(parts: ShippingParts): UplinkShipping {
  const { shardOf, limits, journal, doubtfulBefore } = parts;
  /** Cut, and not written yet. */
  let closed: ClosedBlock | undefined;
  let open: UplinkBlock | undefined;
  let lastPosition = -1;

  const shipper = createBlockShipper<ClosedBlock>(
    {
      first: () => closed,
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
        closed = undefined;
      },
    },
    // `add` throws it.
    () => undefined,
  );

  async function shipClosed(): Promise<void> {
    await shipper.until(() => closed === undefined);
  }

  async function cut(): Promise<void> {
    await shipClosed();
    if (open === undefined) return;
    const [first] = open.rows;
    const isDoubtful = first !== undefined && first.position < doubtfulBefore;
    closed = { ...open, doubt: isDoubtful ? 'ended' : 'none' };
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
    close: shipper.close,
  };
}
