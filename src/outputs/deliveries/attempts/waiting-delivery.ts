// Waiting delivery: what the queues keep of a delivery, with its draft or its place in the log.
import type { DeliveryLog } from '../../../storage/delivery-log/delivery-log.ts';
import type { RecordPlace, StoredDelivery } from '../../../storage/delivery-log/record.ts';
import type { DeliveryRow } from '../../../storage/delivery-log/row-table.ts';
import type { Delivery, DeliveryOutcome, PendingDelivery } from '../../../model/delivery.ts';
import type { EpochMs } from '../../../model/instant.ts';
import { contextText } from '../../../model/template-context.ts';

export interface WaitingDelivery extends PendingDelivery {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly state: 'PENDING';
  readonly created: EpochMs;
  updated: EpochMs;
  readonly isResent: boolean;
  /** Of its next record in the log. */
  revision: number;
  /** The delivery itself, until it has a record. */
  draft: Delivery | undefined;
  /** Of its newest record. */
  place: RecordPlace | undefined;
  /** Its connector or device was deleted, so that it is not sent. */
  isGone: boolean;
}

/** A delivery that is not in the log yet. */
export function waitingDraft(draft: Delivery): WaitingDelivery {
  return waitingOf(draft, draft.revision, draft, undefined);
}

/** A delivery whose newest record is there. */
export function waitingRecord(
  row: Omit<DeliveryRow, 'place'>,
  place: RecordPlace,
): WaitingDelivery {
  return waitingOf(row, row.revision + 1, undefined, place);
}

/** One literal, because there is one for each delivery. */
function waitingOf(
  row: Omit<DeliveryRow, 'place'>,
  revision: number,
  draft: Delivery | undefined,
  place: RecordPlace | undefined,
): WaitingDelivery {
  return {
    id: row.id,
    sequence: row.sequence,
    connectorId: row.connectorId,
    organizationId: row.organizationId,
    workspaceId: row.workspaceId,
    deviceId: row.deviceId,
    state: 'PENDING',
    tries: row.tries,
    nextAt: row.nextAt,
    created: row.created,
    updated: row.updated,
    isResent: row.isResent,
    isGone: false,
    revision,
    draft,
    place,
  };
}

/** The delivery of a record. */
export function deliveryOf({ context, ...stored }: StoredDelivery): Delivery {
  const parsed = JSON.parse(context) as Delivery['context'];
  return { ...stored, context: parsed, contextText: context };
}

/** The record of a delivery. */
export function recordOf(delivery: Delivery): StoredDelivery {
  return recordAfter(delivery, delivery, delivery.revision);
}

/** The record of a delivery after an attempt. One literal, because there is one for each attempt. */
function recordAfter(
  delivery: Delivery,
  { state, tries, nextAt, updated, payload, answer, reason }: DeliveryOutcome,
  revision: number,
): StoredDelivery {
  const context = (delivery.contextText ??= contextText(delivery.context));
  const record = {
    id: delivery.id,
    sequence: delivery.sequence,
    connectorId: delivery.connectorId,
    organizationId: delivery.organizationId,
    workspaceId: delivery.workspaceId,
    deviceId: delivery.deviceId,
    correlationId: delivery.correlationId,
    cause: delivery.cause,
    ruleHops: delivery.ruleHops ?? 0,
    isResent: delivery.isResent,
    created: delivery.created,
    state,
    tries,
    nextAt,
    updated,
    revision,
    payload,
    answer,
    reason,
    context,
  };
  return delivery.ruleId === undefined ? record : { ...record, ruleId: delivery.ruleId };
}

/** One attempt that ended. */
export interface TriedDelivery {
  readonly waiting: WaitingDelivery;
  readonly delivery: Delivery;
  readonly outcome: DeliveryOutcome;
  readonly tookMs: number;
}

// Delivery records: waiting deliveries read from the log, and the outcomes of their attempts written to it.

/** Undefined for a delivery that is gone or cannot be read. */
export function loadDelivery(
  { isGone, draft, place }: WaitingDelivery,
  log: DeliveryLog,
): Delivery | undefined | Promise<Delivery | undefined> {
  if (isGone) return undefined;
  if (draft !== undefined) return draft;
  if (place === undefined) return undefined;
  return log.read(place).then((stored) => stored && deliveryOf(stored));
}

/** The log writes the record soon. After a crash without it the delivery is sent again. */
export function recordAttempt(
  { waiting, delivery, outcome }: TriedDelivery,
  log: DeliveryLog,
): void {
  if (waiting.isGone) return;
  waiting.place = log.append(recordAfter(delivery, outcome, waiting.revision));
  waiting.revision += 1;
  waiting.updated = outcome.updated;
  waiting.draft = undefined;
}
