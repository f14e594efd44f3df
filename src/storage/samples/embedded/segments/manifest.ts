// The manifest: which segments count and which are lost, and from where on the journal must be replayed. Replaced as a whole.
import { join } from 'node:path';
import { earliest, type EpochMs } from '../../../../model/instant.ts';
import { refuseOtherFormat } from '../../../../model/errors.ts';
import { missing } from '../../../../structures/missing.ts';
import { readChecked, replaceChecked } from '../../../log/durable-file.ts';
import type { SampleRange, UnreadableSamples } from '../../sample-store.ts';
import type { Chunk } from '../chunks/chunk.ts';
import type { PendingRemovals } from '../rows/removals.ts';

/** The format of this file and of what it names. */
const manifestFormat = 2;

export interface DeadRows {
  /**
   * Rows of runs that count no more because their device was deleted: for each origin of the run
   * how many.
   */
  readonly deadRows: Readonly<Record<string, readonly number[]>>;
  /** Checksum of the device numbers that were retired when `deadRows` was counted. */
  readonly retired: number;
}

export interface Manifest extends DeadRows {
  /** Number of the next segment file. */
  readonly nextSegment: number;
  /** Names of the segment files, oldest first. */
  readonly segments: readonly string[];
  /** Every row of earlier entries is in a segment, or was dropped. */
  readonly replayFrom: number;
  readonly droppedDevices: DroppedDevices;
  /** Ranges of devices of which files may still have rows. */
  readonly removals: PendingRemovals;
  /** For each segment the places of chunks that count no more, because others have what is left of them. */
  readonly deadChunks: Readonly<Record<string, readonly number[]>>;
  /** Devices whose rows in runs are in chunks now, by numbers that may not be retired in their file yet. */
  readonly retiring: readonly number[];
  /**
   * Names of segments that count but cannot be read: named until their files are back, so that the
   * loss stays known.
   */
  readonly lost: readonly string[];
  /** When the samples of each segment were, lost ones too. */
  readonly times: Readonly<Record<string, Times>>;
  /**
   * Names of segments that do not count any more and whose files a crash may have left in the
   * folder: a file is named until its removal is synced, because a power cut may bring it back.
   */
  readonly removed: readonly string[];
}

/**
 * Devices whose samples were dropped: rows of theirs in entries before the position, and in
 * segments with a smaller number, count no more.
 */
export type DroppedDevices = Readonly<
  Record<string, { readonly position: number; readonly segment: number }>
>;

/** Of the oldest and of the newest sample. */
export type Times = readonly [oldest: EpochMs, newest: EpochMs];

export function timesOf(members: readonly { readonly chunk: Chunk }[]): Times {
  let oldest = Number.MAX_SAFE_INTEGER;
  let newest = Number.MIN_SAFE_INTEGER;
  for (const { chunk } of members) {
    if (chunk.oldest < oldest) oldest = chunk.oldest;
    if (chunk.newest > newest) newest = chunk.newest;
  }
  return [oldest, newest];
}

/** What the manifest says of the times of these segments. */
export function timesIn({ times }: Manifest, names: readonly string[]): Record<string, Times> {
  return Object.fromEntries(
    names.flatMap((name) => (times[name] === undefined ? [] : [[name, times[name]]])),
  );
}

export function segmentNumber(name: string): number {
  return Number.parseInt(name, 10);
}

// Names in the list of what a segment replaces, besides those of segments.

/** A chunk at a place of another segment. */
export function chunkName(segment: string, offset: number): string {
  return `${segment}@${offset}`;
}

/** The rows of a device in runs, by its number. */
export function numberName(device: number): string {
  return `#${device}`;
}

/** The number of such a name; undefined for other names. */
export function numberNamed(name: string): number | undefined {
  return name.startsWith('#') ? Number(name.slice(1)) : undefined;
}

/** For `Manifest.retired`: the dead rows of some run were not counted. */
export const unknownRetired = -1;

export const emptyManifest: Manifest = {
  nextSegment: 1,
  segments: [],
  replayFrom: 0,
  droppedDevices: {},
  removals: {},
  deadChunks: {},
  retiring: [],
  lost: [],
  times: {},
  deadRows: {},
  retired: unknownRetired,
  removed: [],
};

function manifestPath(directory: string): string {
  return join(directory, 'manifest.json');
}

export async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  await replaceChecked(
    manifestPath(directory),
    JSON.stringify({ format: manifestFormat, ...manifest }),
  );
}

/**
 * The manifest; `missing` in a folder without one, `damaged` when it is not what was written.
 * Throws OtherFormatError for a manifest of another format.
 */
export async function readManifest(directory: string): Promise<Manifest | 'missing' | 'damaged'> {
  const found = await readChecked(manifestPath(directory));
  if (found === undefined) return 'missing';
  if (found === 'damaged') return found;
  const { format, ...manifest } = JSON.parse(found.text) as Manifest & { readonly format?: number };
  refuseOtherFormat(manifestPath(directory), format, manifestFormat);
  // Earlier versions removed no ranges.
  return { ...emptyManifest, ...manifest };
}

// Segments that count and cannot be read, known by the times of their samples alone: any answer that reaches into those may lack some.

/** A range, and what is called for each stretch of it that cannot be read. */
export interface ReportedRange extends SampleRange {
  readonly unreadable: (samples: UnreadableSamples) => void;
}

/** Of the manifest as a start leaves it: a file that comes back counts from the next start on. */
export class LostSegments {
  readonly #lost: readonly string[];
  readonly #times: Readonly<Record<string, Times>>;

  constructor({ lost, times }: Manifest) {
    this.#lost = lost;
    this.#times = times;
  }

  /** Calls the range's `unreadable` for each lost segment that may have had samples in it. */
  report({
    deviceId,
    topic = '*',
    from = earliest,
    to = Number.POSITIVE_INFINITY,
    unreadable,
  }: ReportedRange): void {
    for (const name of this.#lost) {
      const [oldest, newest] = this.#times[name] ?? missing('times of a lost segment');
      if (newest < from || oldest >= to) continue;
      unreadable({
        deviceId,
        topic,
        from: oldest,
        to: newest,
        place: `${name}, which is missing or damaged as a whole`,
      });
    }
  }
}
