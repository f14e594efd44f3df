// Uplink: one payload of one known device, before it becomes samples, and as it is kept to test decoders.
import type { Note, RawPayload } from './entry-trace.ts';
import type { EpochMs } from './instant.ts';
import type { DurableEntry } from './journal-entry.ts';
import type { Json, JsonObject } from './json.ts';
import type { ReadEncoding } from './payload.ts';
import type { Sample } from './sample.ts';
import type { RadioMetrics } from './uplink-metrics.ts';
import type { ImplausibleTimes } from './workspace.ts';

/** What decoding, journal and notes need to know of the sender. */
export interface UplinkDevice {
  /** Service device id. */
  readonly id: string;
  /** Physical device id. */
  readonly deviceId: string;
  readonly name: string;
  readonly description: string | null;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly dataFlowId: string;
  /** Custom field name to value. */
  readonly customFields: JsonObject;
  /** Tag names. */
  readonly tags: readonly string[];
}

/** A decoder as the script machine needs it. */
export interface UplinkScript {
  readonly code: string;
  /** Whose share of the script workers its runs count against. */
  readonly tenant: string;
}

/** A run of the script that was made where the uplink was received. */
export interface EarlyRun {
  /** A JSON array of what it emitted. */
  readonly entries: string;
  readonly startedAt: EpochMs;
  readonly endedAt: EpochMs;
}

export interface Uplink {
  readonly correlationId: string;
  readonly device: UplinkDevice;
  /** Null for a pass-through flow: the body is the data. */
  readonly script: UplinkScript | null;
  /** Counts only while the device has no state, because the script saw none. */
  readonly run?: EarlyRun | undefined;
  /** Whether the flow has the database connector, per topic: `*` or the listed ones. */
  readonly storedTopics: '*' | ReadonlySet<string>;
  /** For how many days its samples are kept; null without limit. */
  readonly keptDays: number | null;
  /** What becomes of samples with times that cannot be right. */
  readonly implausibleTimes: ImplausibleTimes;
  readonly receivedAt: EpochMs;
  /** What the transport said, when it did. */
  readonly topic: string | null;
  readonly timestamp: EpochMs | null;
  readonly body: JsonObject | readonly Json[];
  /** Bytes of the payload as received. */
  readonly bodyBytes: number;
  /** Bytes of a payload that was compressed. */
  readonly inflatedBytes?: number;
  /** What the payload was read as; absent for JSON. */
  readonly encoding?: ReadEncoding;
  /** Its bytes as hexadecimal digits, where the body does not contain them. */
  readonly payloadHex?: string;
  /** Of a body that is understood without a decoder. */
  readonly samples?: readonly Sample[];
  /** On what of that body could not be stored. */
  readonly notes?: readonly Note[];
  /**
   * Present when there is nothing to decode: a sign of life with a note. Its body is kept only if it
   * has an `encoding`, which a payload has that could not be read.
   */
  readonly onlyNote?: Note;
  /** Present when rules must not see its samples, because they are old. */
  readonly rulesSkipped?: true;
  /** What the network tells of it; absent when it tells nothing. */
  readonly metrics?: RadioMetrics;
  /** What the transport knows repetitions by; absent when it cannot tell them. */
  readonly duplicateKey?: string;
  /**
   * Whether the sender marks it as a repetition; absent where every use of the key is one, because
   * senders do not use keys again.
   */
  readonly isRepeated?: boolean;
}

// Raw uplink: a payload and the result of its decoder, stored so that changed decoders can be tested.

export interface RawUplink {
  /** The correlation id. */
  readonly id: string;
  /** Service device id. */
  readonly deviceId: string;
  /** Place in the journal; tells repetitions. */
  readonly position: number;
  readonly receivedAt: EpochMs;
  readonly payload: RawPayload;
  /**
   * The samples it led to, without those that were stored already; null when they were too large to
   * be kept again.
   */
  readonly samples: readonly Sample[] | null;
  /** How many samples were stored already. */
  readonly duplicates: number;
  /** The state that the decoder left, when it left one. */
  readonly state?: JsonObject;
}

/**
 * The raw uplink of an entry; undefined for backfills, samples of rules and entries without a
 * correlation id.
 */
export function rawUplinkOf(entry: DurableEntry): RawUplink | undefined {
  const { deviceId, position, receivedAt, duplicates, state, trace, metrics } = entry;
  // Only uplinks have one. The samples of others are perhaps not built yet.
  if (trace?.raw === undefined) return undefined;
  const { samples } = entry;
  const id = metrics?.uplinkId ?? samples[0]?.correlationId;
  if (id === undefined) return undefined;
  const uplink = { id, deviceId, position, receivedAt, payload: trace.raw, samples, duplicates };
  return state === undefined ? uplink : { ...uplink, state };
}
