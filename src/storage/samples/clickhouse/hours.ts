// Hours: partials of what was shipped, inserted one hour of storing at a time.
import { type BlockShipper, createBlockShipper } from '../../clickhouse/block-shipper.ts';
import type { Shard } from '../../clickhouse/shard.ts';
import { type EpochMs, hourMs } from '../../../model/instant.ts';
import { setTimer } from '../../../structures/timers.ts';
import {
  createHourBlocks,
  type HourBlock,
  type HourBlockLimits,
  type HourBlocks,
} from './hour-blocks.ts';
import { hourInserts } from './hour-inserts.ts';
import type { HourPartials } from './hour-partials.ts';
import type { Block, OpenRows } from './open-rows.ts';
import type { StateFile } from './shipping-state.ts';
import type { VisibleRows } from './visible-rows.ts';

/** After the end of an hour, its block is closed although nothing more comes. */
const graceMs = 60_000;
const lookAgainMsMax = hourMs;

export interface Hours {
  /** To be called in the turn in which the block is open no more. */
  shipped(block: Block): void;
  drop(deviceId: string): void;
  /** What hours contain; undefined while a read must use the points. */
  known(): KnownHours | undefined;
  /** Inserts everything that was shipped before the call. Rejects as the last attempt did. */
  flush(): Promise<void>;
  /** Resolves when nothing of a closed block is left to be inserted. Rejects as `flush` does. */
  settled(): Promise<void>;
  /** When the oldest entry that hours do not contain was stored, at the earliest. */
  storedFrom(): EpochMs | undefined;
  failure(): Error | undefined;
  close(): Promise<void>;
}

export interface KnownHours {
  /** Hours contain the entries of this journal before the position. */
  readonly before: number;
  /** What was shipped since. Changes with the next turn. */
  readonly partials: readonly HourPartials[];
}

export interface HoursParts {
  readonly shards: readonly Shard[];
  readonly file: StateFile;
  readonly openRows: OpenRows;
  readonly visible: VisibleRows;
  readonly failed: (error: unknown) => void;
  readonly now: () => EpochMs;
  readonly limits?: HourBlockLimits | undefined;
}

export function createHours(parts: HoursParts): Hours {
  const { file, openRows } = parts;
  const addedFrom = file.state.shipped;
  const blocks = createHourBlocks(startOf(file), parts.limits);
  const shipper = createHourShipper(parts, blocks);
  let cancelCut: (() => void) | undefined;
  let isClosed = false;
  shipper.wake();

  /** Ends the block after its hour. */
  function cutWhenOver(): void {
    cancelCut = undefined;
    const slotAt = blocks.slotAt();
    if (slotAt === undefined || isClosed) return;
    const leftMs = slotAt + hourMs + graceMs - parts.now();
    if (leftMs > 0) {
      cancelCut = setTimer(cutWhenOver, Math.min(leftMs, lookAgainMsMax));
      return;
    }
    blocks.cut();
    shipper.wake();
  }

  async function settled(): Promise<void> {
    await shipper.until(() => blocks.first() === undefined);
  }

  return {
    shipped(block) {
      blocks.add(block);
      if (isClosed) return;
      if (cancelCut === undefined) cutWhenOver();
      shipper.wake();
    },
    drop: blocks.drop,
    known() {
      const partials = blocks.partials();
      // Rows that an earlier run has shipped may be open again.
      if (partials === undefined || openRows.from() < addedFrom) return undefined;
      return { before: blocks.from(), partials };
    },
    async flush() {
      blocks.cut();
      await settled();
    },
    settled,
    storedFrom: () => blocks.first()?.storedFrom ?? blocks.slotAt(),
    failure: shipper.failure,
    async close() {
      isClosed = true;
      cancelCut?.();
      await shipper.close();
    },
  };
}

function startOf({ state }: StateFile) {
  const { shipped: addedFrom, hours } = state;
  const { to: from, storedFrom, blockTo: to } = hours;
  return { from, storedFrom, to, addedFrom };
}

function createHourShipper(
  { shards, file, visible, openRows, failed }: HoursParts,
  blocks: HourBlocks,
): BlockShipper {
  const { shipped: addedFrom } = file.state;
  return createBlockShipper<HourBlock>(
    {
      // What an earlier run has shipped is complete when it is open no more.
      first: () => (openRows.from() < addedFrom ? undefined : blocks.first()),
      begin: async ({ to }) => {
        const { hours } = file.state;
        if (hours.blockTo === to && file.isSaved) return;
        await file.update({ hours: { ...hours, blockTo: to } });
      },
      inserts: (block) =>
        hourInserts(block, {
          journal: file.state.journal,
          shards,
          hidden: visible.droppedCondition([...visible.dropped.keys()]),
        }),
      end: async ({ to, storedTo }) => {
        await file.update({ hours: { to, storedFrom: storedTo, blockTo: null } });
        blocks.shipped();
      },
    },
    failed,
  );
}
