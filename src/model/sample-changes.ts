// Sample changes: what users ask to delete or correct, as operations and nodes pass it on (contract 38).
import type { Author } from './principal.ts';
import type { EpochMs } from './instant.ts';
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
