// Sample mover: the loop of both directions: refuse or resume, rows, raw uplinks, comparison, and the switch.
import { join } from 'node:path';
import {
  type MovedCounts,
  type MovedParts,
  type MoveFile,
  openMove,
  readMove,
  type SamplesEngineName,
  type SamplesMove,
} from '../samples-move.ts';
import type { RawUplink } from '../../model/uplink.ts';
import { DataFolderError } from '../../storage/data-folder/data-folder.ts';
import { createShapeInterner, type ShapeInterner } from '../../storage/log/data-shape.ts';
import type { ReadEntry } from '../../storage/log/logged-entry.ts';
import { UplinkSum } from '../../storage/raw-uplinks/raw-uplink-line.ts';
import type { RawUplinkStore } from '../../storage/raw-uplinks/raw-uplink-store.ts';
import { MovedEntries, type MovedSample } from '../../storage/samples/moved-samples.ts';

/** The store that gets the rows. */
export interface RowTarget {
  /** Entries before this position were written before an interruption. */
  readonly from: number;
  /** Waits for room. */
  write(entry: ReadEntry): Promise<void>;
  /** Makes everything durable. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

export interface UplinkBatch {
  readonly uplinks: readonly RawUplink[];
  /** The position behind everything that was looked at. */
  readonly through: number;
}

/** Where samples go, and where they come from. */
export interface MoveDirection {
  readonly to: SamplesEngineName;
  /** Of the first entry that is written. */
  readonly firstPosition: number;
  /**
   * Opens the source. Returns the state of the move, new or resumed. Throws DataFolderError when
   * the folder or the target cannot be used.
   */
  begin(begun: SamplesMove | undefined): Promise<SamplesMove>;
  /** How many samples the source has. */
  total(): Promise<number>;
  /** Samples of one device at a time; the same batches after an interruption. */
  batches(): AsyncIterable<readonly MovedSample[]>;
  openRows(state: MoveFile, shapes: ShapeInterner): Promise<RowTarget>;
  openUplinks(move: SamplesMove): Promise<RawUplinkStore>;
  uplinks(move: SamplesMove): AsyncIterable<UplinkBatch>;
  /** Raw uplinks of the target, read again. */
  storedUplinks(move: SamplesMove): AsyncIterable<readonly RawUplink[]>;
  /** Partitions of devices that are not the same on both sides. */
  differing(): Promise<readonly number[]>;
  /** What the move leaves where it is. */
  left(move: SamplesMove): Promise<readonly string[]>;
  /** From here on, a start uses the target. An interrupted one is repeated. */
  use(move: SamplesMove): Promise<void>;
  /** Closes the source. */
  close(): Promise<void>;
}

const placeNames = { clickhouse: 'ClickHouse', embedded: 'the data folder' } as const;

/**
 * Moves, compares, and lets the folder use the target. Resumes an interrupted move. Throws
 * DataFolderError with what to do.
 */
export async function moveAll(parts: MovedParts, direction: MoveDirection): Promise<MovedCounts> {
  const samples = join(parts.dataDirectory, 'samples');
  const begun = await readMove(samples);
  if (begun !== undefined && begun.to !== direction.to)
    throw new DataFolderError(
      `A migration to ${placeNames[begun.to]} is incomplete. Finish it first with --to ${begun.to}.`,
    );
  if (begun?.isCompared === true) {
    await direction.use(begun);
    return { samples: 0, uplinks: 0, differing: [], unreadable: [] };
  }
  try {
    const state = await openMove(samples, await direction.begin(begun));
    const count = await moveRows(parts, direction, state);
    const uplinks = await moveUplinks(parts, direction, state.move);
    const parted = await direction.differing();
    const differing = parted.map((part) => `devices of partition ${part}`);
    if (!uplinks.areSame) differing.push('raw uplinks');
    const unreadable = await direction.left(state.move);
    if (differing.length === 0) {
      await state.update({ isCompared: true });
      await direction.close();
      await direction.use(state.move);
    }
    return { samples: count, uplinks: uplinks.count, differing, unreadable };
  } finally {
    await direction.close();
  }
}

/** Returns how many samples the source has. Entries that an interrupted move wrote are skipped. */
async function moveRows(
  { progress }: MovedParts,
  direction: MoveDirection,
  state: MoveFile,
): Promise<number> {
  const shapes = createShapeInterner();
  const target = await direction.openRows(state, shapes);
  try {
    const { firstPosition: position } = direction;
    const entries = new MovedEntries({ shapes, position, storedAt: state.move.startedAt });
    const total = await direction.total();
    let samples = 0;
    for await (const batch of direction.batches()) {
      const [first] = batch;
      if (first === undefined) continue;
      const entry = entries.next(first.deviceId, batch);
      samples += batch.length;
      if (entry.position >= target.from) await target.write(entry);
      progress({ samples, total });
    }
    await target.finish();
    return samples;
  } finally {
    await target.close();
  }
}

/** Raw uplinks start over after an interruption: there are few days of them. */
async function moveUplinks(
  { movesUplinks }: MovedParts,
  direction: MoveDirection,
  move: SamplesMove,
): Promise<{ readonly count: number; readonly areSame: boolean }> {
  const target = await direction.openUplinks(move);
  const sent = new UplinkSum();
  try {
    if (!movesUplinks) return { count: 0, areSame: true };
    for await (const { uplinks, through } of direction.uplinks(move)) {
      await target.add(uplinks, through);
      for (const uplink of uplinks) sent.add(uplink);
    }
    await target.syncWhenDue();
  } finally {
    await target.close();
  }
  const stored = new UplinkSum();
  for await (const uplinks of direction.storedUplinks(move))
    for (const uplink of uplinks) stored.add(uplink);
  return { count: sent.count(), areSame: sent.text() === stored.text() };
}
