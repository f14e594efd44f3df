// Replacement: the removal of samples of one device by topic and time, with others in their place (contract 38).
import { type EpochMs, formatInstant } from './instant.ts';
import type { JsonObject } from './json.ts';

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
