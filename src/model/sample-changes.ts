// Sample changes: what users ask to delete or correct, and the replacement that a journal entry carries (contract 38).
import type { Author } from './principal.ts';
import { type EpochMs, formatInstant } from './instant.ts';
import type { JsonObject } from './json.ts';

/** What is deleted of each device. Times are half-open; null has no end. */
export interface SampleDeletion {
  readonly topics: readonly string[] | null;
  readonly from: EpochMs | null;
  readonly to: EpochMs | null;
  /** Members of `data` that go; a sample goes when nothing is left of it. Null: whole samples. */
  readonly keys: readonly string[] | null;
  /** Whether raw uplinks go too, by their times of receipt. Only without topics and keys. */
  readonly rawUplinks: boolean;
  readonly reason: string | null;
}

export interface SampleCorrection {
  readonly topic: string;
  readonly timestamp: EpochMs;
  /** Tells samples of one instant apart; null where there is one. */
  readonly data: JsonObject | null;
  /** Null deletes the sample. */
  readonly replacement: {
    readonly data: JsonObject;
    readonly topic: string;
    readonly timestamp: EpochMs;
  } | null;
}

export interface CorrectionRequest {
  readonly deviceId: string;
  readonly corrections: readonly SampleCorrection[];
  readonly reason: string | null;
  readonly by: Author;
}

export interface RejectedCorrection {
  readonly index: number;
  readonly errorCode: 'SAMPLE_NOT_FOUND' | 'SAMPLE_AMBIGUOUS' | 'OLDER_THAN_RETENTION';
  readonly message: string;
}

export interface CorrectionOutcome {
  readonly corrected: number;
  readonly rejected: readonly RejectedCorrection[];
}

/** With several nodes. */
interface DoneAtNode {
  /** The id of the node that did it, which hides what was removed until it is settled. */
  readonly node?: string;
}

/** A piece of the deletion of one device. `from` is where the next piece begins. */
export interface DeletionRequest {
  readonly deviceId: string;
  readonly deletion: SampleDeletion;
}

export interface DeletionOutcome extends DoneAtNode {
  readonly samples: number;
  readonly rawUplinks: number;
  /** Where the rest begins; null when nothing is left. */
  readonly next: EpochMs | null;
}

/** What is computed again of each device. Times are half-open; null has no end. */
export interface SampleRecalculation {
  readonly deviceTypeId: string;
  /** Stored samples by their times, or kept raw uplinks by their times of receipt. */
  readonly source: RecalculationSource;
  readonly from: EpochMs | null;
  readonly to: EpochMs | null;
}

export const recalculationSources = ['SAMPLES', 'UPLINKS'] as const;
type RecalculationSource = (typeof recalculationSources)[number];

/** Where the next piece of a recalculation begins. */
export interface RecalculationPlace {
  /** Time of its first sample, or of the receipt of the newest uplink before it. */
  readonly at: EpochMs;
  /** The uplinks before it that were received shortly before `at`. */
  readonly done: readonly { readonly id: string; readonly at: EpochMs }[];
  /** What the decoder left there. */
  readonly state: JsonObject;
}

/** A piece of the recalculation of one device. */
export interface RecalculationPiece {
  readonly deviceId: string;
  readonly recalculation: SampleRecalculation;
  /** Null for the first piece. */
  readonly place: RecalculationPlace | null;
}

export interface RecalculationOutcome extends DoneAtNode {
  /** How many changed. */
  readonly samples: number;
  /** Raw uplinks whose samples stay, because they cannot be decoded or what they led to is not known. */
  readonly keptUplinks: number;
  /** Null when nothing is left. */
  readonly next: RecalculationPlace | null;
}

/** Whether changes of samples depend on the node that has the device. */
export interface SettledChanges extends DoneAtNode {
  /** False while the samples that were removed are still stored, and only that node hides them. */
  readonly isSettled: boolean;
}

// Replacement: the removal of samples of one device by topic and time, with others in their place (contract 38).

/** Times are half-open, `from` to `to`. */
export interface RemovedRange {
  /** All topics when null. */
  readonly topics: readonly string[] | null;
  readonly from: EpochMs;
  readonly to: EpochMs;
}

type ReplacementCause = 'DELETED' | 'CORRECTED' | 'RECALCULATED';

/**
 * What a journal entry removes: everything of its device in the ranges that was stored before `before`.
 * The samples of the entry come in its place; they are stored without a comparison, also where they equal
 * what is removed. Rules, outputs and live samples skip them.
 */
export interface Replacement {
  readonly cause: ReplacementCause;
  readonly ranges: readonly RemovedRange[];
  /** Of the device, for followers of an entry without samples. */
  readonly workspaceId: string;
  /**
   * Where the samples ended that the caller has read: later ones stay. The entry itself when absent. Whoever
   * writes samples again that it read must pass it, or samples that come meanwhile are lost.
   */
  readonly before?: StoredEnd;
}

/** Where the visible samples of a device end: those that come later have these numbers or larger ones. */
export interface StoredEnd {
  /** Place among the rows of the device in the order of storing. */
  readonly order: number;
  /** Position in the journal. */
  readonly position: number;
}

export function isInRange(
  { topics, from, to }: RemovedRange,
  topic: string,
  timestamp: EpochMs,
): boolean {
  return timestamp >= from && timestamp < to && topics?.includes(topic) !== false;
}

// Corrected samples: `meta.svcCorrection` says what a sample was before.

/** In the order of the corrections, the newest first. */
type Correction = {
  readonly replaced?: ReplacedSample;
  /** What was replaced by earlier corrections of the sample. */
  readonly earlier?: readonly ReplacedSample[];
};

type ReplacedSample = {
  readonly topic: string;
  /** ISO-8601 text. */
  readonly timestamp: string;
  readonly data: JsonObject;
};

const none: readonly never[] = Object.freeze([]);

/** What the sample was before it was corrected, newest first; empty for most. */
export function replacedBy(meta: JsonObject | undefined): readonly ReplacedSample[] {
  if (meta?.['svcCorrection'] === undefined) return none;
  const { replaced, earlier = [] } = meta['svcCorrection'] as Correction;
  return replaced === undefined ? earlier : [replaced, ...earlier];
}

/**
 * Data that a corrected sample had at this topic and time: a device that repeats its buffer sends it again, which
 * must change nothing.
 */
export function dataBefore(
  meta: JsonObject | undefined,
  topic: string,
  timestamp: EpochMs,
): readonly JsonObject[] {
  const before = replacedBy(meta);
  if (before.length === 0) return none;
  const at = formatInstant(timestamp);
  return before
    .filter((replaced) => replaced.topic === topic && replaced.timestamp === at)
    .map(({ data }) => data);
}
