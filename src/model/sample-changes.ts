// Sample changes: what users ask to delete or correct, as operations and nodes pass it on (contract 38).
import type { Actor } from './actor.ts';
import type { EpochMs } from './instant.ts';
import type { JsonObject } from './json.ts';

/** What is deleted of each device. Times are half-open; null has no end. */
export interface SampleDeletion {
  readonly topics: readonly string[] | null;
  readonly from: EpochMs | null;
  readonly to: EpochMs | null;
  /** Members of `data` that go; a sample goes when nothing is left of it. Null: whole samples. */
  readonly keys: readonly string[] | null;
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
  readonly by: Pick<Actor, 'type' | 'id' | 'name'>;
}

export interface RejectedCorrection {
  readonly index: number;
  readonly errorCode: 'SAMPLE_NOT_FOUND' | 'SAMPLE_AMBIGUOUS';
  readonly message: string;
}

export interface CorrectionOutcome {
  readonly corrected: number;
  readonly rejected: readonly RejectedCorrection[];
}

/** A piece of the deletion of one device. `from` is where the next piece begins. */
export interface DeletionRequest {
  readonly deviceId: string;
  readonly deletion: SampleDeletion;
}

export interface DeletionOutcome {
  readonly samples: number;
  /** Where the rest begins; null when nothing is left. */
  readonly next: EpochMs | null;
}
