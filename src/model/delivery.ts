// Delivery: one message to one output connector, stored until some time after its last attempt (contract 35).
import type { EpochMs } from './instant.ts';
import type { TemplateContext } from './template-context.ts';

export const deliveryStates = ['PENDING', 'DELIVERED', 'DEAD'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export const deliveryCauses = ['DATA_FLOW', 'RULE'] as const;
export type DeliveryCause = (typeof deliveryCauses)[number];

/**
 * What is to be delivered. Two drafts with one key are the same delivery, so whoever makes them may
 * repeat itself.
 */
export interface DeliveryDraft {
  readonly idempotencyKey: string;
  readonly connectorId: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  /** Service device id: deliveries of one device to one connector keep their order. */
  readonly deviceId: string;
  readonly correlationId: string;
  readonly cause: DeliveryCause;
  /** Of the rule that caused it. */
  readonly ruleId?: string;
  /** What templates and the default payload are made of. */
  readonly context: TemplateContext;
  /** How many rules handed the sample on so far; absent is none. */
  readonly ruleHops?: number;
}

export interface Delivery extends DeliveryDraft {
  readonly id: string;
  /** Place in the order of making. */
  readonly sequence: number;
  readonly state: DeliveryState;
  /** How often it was tried since it was made or sent again by hand. */
  readonly tries: number;
  /** When it is due; of one that arrived or was given up, when that was. */
  readonly nextAt: EpochMs;
  readonly created: EpochMs;
  readonly updated: EpochMs;
  /** What was sent last, when it is not the default payload. */
  readonly payload: string | null;
  /** What the target said last. */
  readonly answer: string | null;
  /** Why the last try failed. */
  readonly reason: string | null;
}

/** What waits, by what decides its turn. */
export interface PendingDelivery {
  readonly sequence: number;
  readonly connectorId: string;
  readonly deviceId: string;
  readonly tries: number;
  readonly nextAt: EpochMs;
}

/** What one try changed. */
export interface DeliveryOutcome {
  readonly sequence: number;
  readonly state: DeliveryState;
  readonly tries: number;
  readonly nextAt: EpochMs;
  readonly updated: EpochMs;
  readonly payload: string | null;
  readonly answer: string | null;
  readonly reason: string | null;
}

/** One finished try, for the processing log and the figures. */
export interface TriedDelivery {
  readonly delivery: Delivery;
  readonly outcome: DeliveryOutcome;
  readonly tookMs: number;
}
