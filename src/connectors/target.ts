// The shape of a connector type: what opens a target and sends one delivery to it.
import type { EgressGuard } from '../egress/guard.ts';
import type { OutputConnectorType } from '../model/connector.ts';
import type { EpochMs } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import type { TemplateContext } from '../model/template-context.ts';

export interface OutboundMessage {
  /** The same on every try. */
  readonly deliveryId: string;
  /** Service device id. */
  readonly deviceId: string;
  /** Filled in by the connector's template, or the whole sample as JSON. */
  readonly payload: string;
  readonly contentType: string;
  readonly context: TemplateContext;
  /** When the delivery was made. */
  readonly createdAt?: number;
  readonly correlationId?: string;
  /** How many rules handed the sample on so far. */
  readonly ruleHops?: number;
}

/**
 * `answer` is what came back, in words; without `retry` the delivery is a dead letter at once (contract 35). `sent` is what was sent
 * when it was not the message's payload.
 */
export type SendOutcome =
  | { readonly ok: true; readonly answer: string; readonly sent?: string }
  | {
      readonly ok: false;
      readonly retry: boolean;
      readonly reason: string;
      readonly answer?: string;
      readonly retryAfterMs?: number;
      readonly sent?: string;
    };

/** Somewhere to send to; its connections are opened by the first delivery and kept while they are used. */
export interface Target {
  /** One try; never rejects. `signal` ends it when its time is over. */
  send(message: OutboundMessage, signal: AbortSignal): Promise<SendOutcome>;
  close(): Promise<void>;
}

export interface OutboundConnector {
  readonly type: OutputConnectorType;
  /** Throws a Problem for properties that cannot work: broken templates, forbidden targets. Asked when a connector is saved. */
  check?(properties: JsonObject, egress: EgressGuard): void;
  /** Opens nothing yet. `properties` were checked when the connector was made. `now` is the only clock of signatures and tokens. */
  open(properties: JsonObject, egress: EgressGuard, now: () => EpochMs): Target;
}
