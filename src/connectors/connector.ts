// The shape of a connector type: what opens a target and sends one delivery to it.
import type { EgressGuard } from '../egress/guard.ts';
import type { OutputConnectorType } from '../model/connector.ts';
import type { JsonObject } from '../model/json.ts';

export type TemplateContext = JsonObject;

export interface OutboundMessage {
  readonly deliveryId: string;
  readonly deviceId: string;
  readonly payload: string;
  readonly contentType: string;
  readonly context: TemplateContext;
  /** When the delivery was made. */
  readonly createdAt?: number;
  readonly correlationId?: string;
  /** How many rules handed the sample on so far. */
  readonly ruleHops?: number;
}

/** `sent` is what was sent when it was not the message's payload. */
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

export interface Target {
  send(message: OutboundMessage, signal: AbortSignal): Promise<SendOutcome>;
  close(): Promise<void>;
}

export interface OutboundConnector {
  readonly type: OutputConnectorType;
  /** Throws a Problem for properties that cannot work: broken templates, forbidden targets. Asked when a connector is saved. */
  check?(properties: JsonObject, egress: EgressGuard): void;
  open(properties: JsonObject, egress: EgressGuard): Target;
}
