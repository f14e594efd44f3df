// Refused uplinks: kept for the owner of their device connector (contract 39.3).
import { dayMs, type EpochMs } from './instant.ts';

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
