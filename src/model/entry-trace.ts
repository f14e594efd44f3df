// Entry trace: the origin, the processing and the notes of the samples of a journal entry, for its followers (contract 27).
import type { EpochMs } from './instant.ts';
import type { JsonObject } from './json.ts';
import type { KeptPayload } from './payload.ts';
import type { RadioMetrics } from './uplink-metrics.ts';

/**
 * A payload as it came from the device; kept for a while, so that a changed decoder can be tried on
 * it.
 */
export interface RawPayload extends KeptPayload {
  /** What the transport said, when it did. */
  readonly topic: string | null;
  readonly timestamp: EpochMs | null;
  /** What the network told of it. */
  readonly metrics?: RadioMetrics;
}

/**
 * When the steps of an uplink happened; `uplinkMeta` of templates (interface 2.11) is made of
 * these.
 */
export interface ProcessingTimes {
  readonly dataReceived: EpochMs;
  readonly processingStart: EpochMs;
  /** Absent for pass-through flows. */
  readonly scriptRunUplinkStart?: EpochMs;
  readonly scriptRunUplinkEnd?: EpochMs;
  readonly processingEnd: EpochMs;
}

export interface EntryTrace {
  /**
   * Tells repetitions of one uplink: an entry with the same key within the duplicate filter's
   * window is the same uplink.
   */
  readonly duplicateKey?: string;
  /** Absent for backfills and for samples that rules wrote. */
  readonly raw?: RawPayload;
  readonly times?: ProcessingTimes;
  /**
   * How many rules handed these samples on, one to the next; absent is none (contract 15,
   * `numberOfInvocations`).
   */
  readonly ruleHops?: number;
  /**
   * Rules leave these samples alone: an output wrote them that does not invoke the rule engine
   * (contract 9).
   */
  readonly rulesSkipped?: true;
}

// Processing note: an event in the processing of a payload, for the device's owner (contract 27).

export type NoteLevel = 'INFO' | 'WARN' | 'ERROR';
export type NoteSource = 'UPLINK' | 'SCRIPT' | 'OUTPUT' | 'RULE' | 'DOWNLINK';

/** Stages return notes; only a flow gives them a time, a device and an id. */
export interface Note {
  readonly level: NoteLevel;
  readonly source: NoteSource;
  readonly message: string;
  readonly details?: JsonObject;
}

export interface ProcessingLogEntry extends Note {
  readonly id: string;
  readonly deviceId: string;
  readonly timestamp: EpochMs;
  readonly correlationId: string;
}
