// Hour blocks: what was stored within one hour, as partials in memory until they are inserted.
import type { ShippedBlock } from '../../clickhouse/block-shipper.ts';
import { type EpochMs, hourMs } from '../../../model/instant.ts';
import { HourPartials, isLate } from './hour-partials.ts';
import { type Block, blockLimits } from './open-rows.ts';

const hourBlockLimits = {
  /** Partials of 160 bytes in memory; beyond, a block ends before its hour. */
  partialsMax: 400_000,
  /** Blocks of which the partials are kept; ClickHouse computes those of others. */
  waitingMax: 2,
} as const;

export type HourBlockLimits = { readonly [K in keyof typeof hourBlockLimits]: number };

/** Entries of which the partials are inserted together. */
export interface HourBlock extends ShippedBlock {
  readonly from: number;
  /** The position behind the last entry. */
  to: number;
  /** All entries from `from` on were stored at or after this. */
  readonly storedFrom: EpochMs;
  /** All entries behind the block were stored at or after this. */
  storedTo: EpochMs;
  /** Undefined when ClickHouse must compute them. */
  partials: HourPartials | undefined;
}

export interface HourBlocks {
  /** Adds the rows of a block that is in ClickHouse and in no hour. */
  add(block: Block): void;
  /** Ends the block that takes rows. */
  cut(): void;
  /** The hour of storing of the block that takes rows. */
  slotAt(): EpochMs | undefined;
  first(): HourBlock | undefined;
  /** Discards the oldest block. */
  shipped(): void;
  drop(deviceId: string): void;
  /** What hours do not contain; undefined while some of it is not in memory. */
  partials(): readonly HourPartials[] | undefined;
  /** Everything before this position is in hours. */
  from(): number;
}

interface HourBlocksStart {
  readonly from: number;
  readonly storedFrom: EpochMs;
  /** The end of the first block, when an earlier run may have inserted it. */
  readonly to: number | null;
  /** Where rows begin that will be added. */
  readonly addedFrom: number;
}

export function createHourBlocks(
  start: HourBlocksStart,
  { partialsMax, waitingMax }: HourBlockLimits = hourBlockLimits,
): HourBlocks {
  const closed = earlierBlocks(start);
  let end = start.addedFrom;
  let storedTo = start.storedFrom;
  let current: (HourBlock & { readonly partials: HourPartials; readonly slot: number }) | undefined;

  function cut(): void {
    if (current === undefined) return;
    const { slot: _slot, ...block } = current;
    closed.push(block);
    current = undefined;
    if (closed.length > waitingMax) for (const each of closed.slice(1)) each.partials = undefined;
  }

  function begin(slot: number): NonNullable<typeof current> {
    return {
      from: end,
      to: end,
      slot,
      storedFrom: storedTo,
      storedTo,
      partials: new HourPartials(),
      doubt: 'none',
    };
  }

  return {
    add(block) {
      // An earlier run has shipped it: it is of an earlier block.
      if (block.to <= start.addedFrom) return;
      const storedAt = block.slot * blockLimits.slotMs;
      const slot = Math.floor(storedAt / hourMs);
      if (current !== undefined && (current.slot !== slot || current.partials.count >= partialsMax))
        cut();
      storedTo = storedAt;
      current ??= begin(slot);
      for (const row of block.rows) if (!isLate(row)) current.partials.add(row);
      current.to = block.to;
      current.storedTo = storedTo;
      end = block.to;
    },
    cut,
    slotAt: () => (current === undefined ? undefined : current.slot * hourMs),
    first: () => closed[0],
    shipped: () => void closed.shift(),
    drop(deviceId) {
      for (const { partials } of [...closed, ...(current === undefined ? [] : [current])])
        partials?.drop(deviceId);
    },
    partials() {
      const all: HourPartials[] = [];
      for (const { partials } of closed) {
        if (partials === undefined) return undefined;
        all.push(partials);
      }
      return current === undefined ? all : [...all, current.partials];
    },
    from: () => closed[0]?.from ?? current?.from ?? end,
  };
}

/** What an earlier run had in memory, with the block that it may have inserted. */
function earlierBlocks({ from, to, addedFrom, storedFrom }: HourBlocksStart): HourBlock[] {
  const common = { storedFrom, storedTo: storedFrom, partials: undefined };
  const blocks: HourBlock[] = [];
  let at = from;
  if (to !== null && to > from) {
    blocks.push({ ...common, from, to, doubt: 'running' });
    at = to;
  }
  if (addedFrom > at) blocks.push({ ...common, from: at, to: addedFrom, doubt: 'none' });
  return blocks;
}
