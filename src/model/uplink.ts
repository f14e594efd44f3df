// Uplink: one payload of one known device, before it becomes samples, as it is kept to test decoders, and refused ones.
import type { Note, RawPayload } from './entry-trace.ts';
import { dayMs, type EpochMs } from './instant.ts';
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

// Refused uplinks: kept for the owner of their device connector (contract 39.3).

export const refusalTransports = ['HTTP', 'MQTT', 'COAP', 'LORAWAN', 'LINE_PROTOCOL'] as const;
export type RefusalTransport = (typeof refusalTransports)[number];

export const refusalReasons = [
  'UNKNOWN_DEVICE',
  'WRONG_SECRET',
  'OTHER_CONNECTOR',
  'INVALID_BODY',
  'TOO_LARGE',
  'UNSUPPORTED_TYPE',
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

export const payloadForms = ['TEXT', 'HEX'] as const;

export const refusalLimits = {
  /** Beyond, those that came last longest ago are dropped. */
  perConnectorMax: 200,
  perWorkspaceMax: 1_000,
  ageMsMax: 7 * dayMs,
  /** Bytes of a payload that are kept. */
  payloadBytesMax: 4 * 1024,
  deviceIdLengthMax: 500,
  messageLengthMax: 500,
  /** Of each text that a sender says of its payload. */
  hintLengthMax: 500,
} as const;

/** What the sender said of the payload besides its bytes, so that they can be read again. */
export interface SentHints {
  readonly topic?: string | null | undefined;
  readonly timestamp?: EpochMs | null | undefined;
  readonly contentType?: string | undefined;
  /** As HTTP names it. */
  readonly contentEncoding?: string | undefined;
  readonly port?: string | undefined;
  /** Kind of a webhook, which some network servers name in its query. */
  readonly event?: string | undefined;
}

/** Refusals of one connector with one reason and one named device. */
export interface Refusal {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly connectorId: string;
  readonly transport: RefusalTransport;
  readonly reason: RefusalReason;
  /** Of the last one: as HTTP answers it, also where the transport has no status. */
  readonly status: number;
  /** As the sender named it; null when it named none. */
  readonly deviceId: string | null;
  /** What was wrong with the last one. */
  readonly message: string;
  readonly first: EpochMs;
  readonly last: EpochMs;
  readonly count: number;
  /** Of the last payload. */
  readonly bytes: number;
  /** The beginning of the last payload; null without the right secret. */
  readonly payload: string | null;
  readonly payloadForm: (typeof payloadForms)[number] | null;
  /** Of the last payload; null without it. */
  readonly sent: SentHints | null;
}

const reasonsByStatus: Readonly<Record<number, RefusalReason>> = {
  400: 'INVALID_BODY',
  401: 'WRONG_SECRET',
  403: 'OTHER_CONNECTOR',
  404: 'UNKNOWN_DEVICE',
  413: 'TOO_LARGE',
  415: 'UNSUPPORTED_TYPE',
  422: 'INVALID_BODY',
};

/** Undefined for what may succeed later, which is no refusal. */
export function refusalReasonOf(status: number): RefusalReason | undefined {
  return reasonsByStatus[status];
}
