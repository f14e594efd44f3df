// Blocks of raw uplinks: cut by nothing but their content, so that the journal leads to the same blocks again.
import type { EpochMs } from '../../../model/instant.ts';

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
