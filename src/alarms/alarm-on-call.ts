// Alarms and on-call orders: whose address gets the mail of a change (contract 39.4).
import { leftOf, zoneOfOrder } from '../inventory/alarms/on-call.ts';
import { alarmLimits, type NotifiedChange } from '../model/alarm.ts';
import { type EpochMs, formatInstant } from '../model/instant.ts';
import { onCallAt } from '../model/on-call.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { ownerEmails } from '../storage/records/rows/members.ts';
import { onCallRows } from '../storage/records/rows/on-call.ts';

/** An order that an output connector of the organization notifies. */
export interface NotifiedOrder {
  readonly onCallId: string;
  readonly organizationId: string;
}

/** `why` is a line of the mail. */
export interface OnCallRecipient {
  readonly to: readonly string[];
  readonly why: string;
}

export type RecipientOf = (order: NotifiedOrder, change: NotifiedChange) => OnCallRecipient;

/**
 * Reads who is on call at the moment, in the transaction that changes the alarms. ESCALATED goes to
 * whoever is next. When everybody has left, or the order is gone, the owners of the organization get
 * the mail.
 */
export async function onCallRecipients(
  db: RecordsDb,
  orders: readonly NotifiedOrder[],
  at: EpochMs,
): Promise<RecipientOf> {
  const found = await onCallRows.byId(db, [...new Set(orders.map(({ onCallId }) => onCallId))]);
  const left = await leftOf(db, [...found.values()]);
  const owners = new Map<string, readonly string[]>();
  const onCall = new Map(
    [...found].map(([id, order]) => {
      const now = onCallAt(order, zoneOfOrder(order), at, left.get(id));
      return [id, { name: order.name, ...now }] as const;
    }),
  );
  for (const { onCallId, organizationId } of orders) {
    if ((onCall.get(onCallId)?.email ?? null) !== null || owners.has(organizationId)) continue;
    owners.set(organizationId, await ownerEmails(db, organizationId, alarmLimits.emailsMax));
  }
  return ({ onCallId, organizationId }, change) => {
    const now = onCall.get(onCallId);
    if (now === undefined || now.email === null) {
      const nobody =
        now === undefined ? 'The on-call order was deleted' : `Nobody is on call: ${now.name}`;
      const why = `${nobody}. This mail goes to the owners of the organization.`;
      return { to: owners.get(organizationId) ?? [], why };
    }
    if (change === 'ESCALATED' && now.next !== null)
      return { to: [now.next], why: `On call: ${now.name}. ${now.email} has not acknowledged.` };
    const until = now.until === null ? '' : `, until ${formatInstant(now.until)}`;
    return { to: [now.email], why: `On call: ${now.name}${until}` };
  };
}
