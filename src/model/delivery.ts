// Delivery: one message to one output connector, stored until some time after its last attempt (contract 35).
import type { EpochMs } from './instant.ts';
import { mailConnectorId } from './ids.ts';
import type { Mail } from './mail.ts';
import type { TemplateContext } from './template-context.ts';

export const deliveryStates = ['PENDING', 'DELIVERED', 'DEAD'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export const deliveryCauses = ['DATA_FLOW', 'RULE', 'REPORT'] as const;
export type DeliveryCause = (typeof deliveryCauses)[number];

/**
 * What is to be delivered. Two drafts with one key are the same delivery, so the sender of
 * a draft may repeat it.
 */
export interface DeliveryDraft {
  readonly idempotencyKey: string;
  /** Of a delivery that its maker names; others get one. */
  readonly id?: string;
  readonly connectorId: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  /** Service device id, or the id of a report: what has the same one keeps its order at a connector. */
  readonly deviceId: string;
  readonly correlationId: string;
  readonly cause: DeliveryCause;
  /** Of the rule that caused it. */
  readonly ruleId?: string;
  /** What templates and the default payload are made of. */
  readonly context: TemplateContext;
  /** How many rules handed the sample on so far; absent is none. */
  readonly ruleHops?: number;
  /** Of a delivery of a journal entry, see `Delivery`. */
  readonly sequence?: number;
  /** About what its context takes in the memory. */
  readonly bytes?: number;
}

export interface Delivery extends Omit<DeliveryDraft, 'idempotencyKey' | 'id'> {
  readonly id: string;
  /**
   * Place in the order of making: the position of the sample's journal entry, and a fraction for
   * the sample in it.
   */
  readonly sequence: number;
  readonly state: DeliveryState;
  /** How often it was attempted since it was created or sent again by request. */
  readonly tries: number;
  /** When it is due; of one that arrived or was given up, when that was. */
  readonly nextAt: EpochMs;
  readonly created: EpochMs;
  readonly updated: EpochMs;
  /** Grows with each record of the delivery in the log; the first one has 0. */
  readonly revision: number;
  /** Whether it had ended and was sent again by request. */
  readonly isResent: boolean;
  /** What was sent last, when it is not the default payload. */
  readonly payload: string | null;
  /** What the target answered last. */
  readonly answer: string | null;
  /** Why the last attempt failed. */
  readonly reason: string | null;
  /** The context as a JSON string, once it is known. */
  contextText?: string;
}

/** A waiting delivery, as far as its turn depends on it. */
export interface PendingDelivery {
  readonly id?: string;
  readonly sequence: number;
  readonly connectorId: string;
  readonly organizationId: string;
  readonly deviceId: string;
  tries: number;
  nextAt: EpochMs;
}

/** What one attempt changed. */
export interface DeliveryOutcome {
  readonly state: DeliveryState;
  readonly tries: number;
  readonly nextAt: EpochMs;
  readonly updated: EpochMs;
  readonly payload: string | null;
  readonly answer: string | null;
  readonly reason: string | null;
}

/** Parts of a journal position, which order the deliveries of its samples. */
const partsOfPosition = 4_096;

/** The sequence of the delivery of a sample; `index` is that of the sample in its entry. */
export function sequenceAt(position: number, index: number): number {
  return position + Math.min(index, partsOfPosition / 2 - 1) / partsOfPosition;
}

/** The sequence behind another one, for a delivery without a sample, behind a journal position. */
export function sequenceBehind(previous: number, position: number): number {
  return Math.max(previous + 1 / partsOfPosition, position + 1 / 2);
}

/**
 * The delivery of a mail, for `enqueueDeliveries`. `about` says whose it is and in which order it is
 * sent; its context is kept beside the mail, so that the log shows what the mail was about.
 */
export function mailDelivery(
  mail: Mail,
  about: Omit<DeliveryDraft, 'connectorId' | 'context'> & { readonly context?: TemplateContext },
): DeliveryDraft {
  return { ...about, connectorId: mailConnectorId, context: { ...about.context, mail } };
}
