// Deliveries: list the delivery log, and send deliveries again (contract 35).
import { type Delivery, deliveryStates, type DeliveryState } from '../../model/delivery.ts';
import { formatInstant } from '../../model/instant.ts';
import { type Page, type PageRequest, pageOf } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { defaultPayload } from '../../model/template-context.ts';
import type { Records } from '../../records/records.ts';
import {
  type DeliveryFilter,
  findDelivery,
  listDeliveries as listRows,
  renewDeliveries,
} from '../../records/rows/deliveries.ts';
import { found } from '../record-change.ts';

const payloadShownMax = 64 * 1024;
/** The most deliveries that one request sends again. */
const resentMax = 10_000;

/** `vendorNames` is false to omit aliases from the default payload (contract 34). */
export function deliveryView(delivery: Delivery, vendorNames: boolean) {
  const { id, connectorId, workspaceId, deviceId, state, tries, cause, ruleId, correlationId } =
    delivery;
  return {
    id,
    outputConnectorId: connectorId,
    workspaceId,
    deviceId,
    state,
    tries,
    created: formatInstant(delivery.created),
    updated: formatInstant(delivery.updated),
    nextTry: state === 'PENDING' ? formatInstant(delivery.nextAt) : null,
    cause,
    ruleId: ruleId ?? null,
    correlationId,
    payload: (delivery.payload ?? defaultPayload(delivery.context, vendorNames)).slice(
      0,
      payloadShownMax,
    ),
    answer: delivery.answer,
    reason: delivery.reason,
  };
}

export interface DeliveryListFilter {
  readonly connectorId: string;
  readonly states?: readonly string[] | undefined;
  readonly deviceId?: string | undefined;
}

/** Newest first. For the global connector, only deliveries of the principal's workspaces. */
export async function listDeliveries(
  records: Records,
  principal: Principal,
  filter: DeliveryListFilter,
  { page, vendorNames }: { readonly page: PageRequest; readonly vendorNames: boolean },
): Promise<Page<ReturnType<typeof deliveryView>>> {
  const { rows, total } = await listRows(records.db, filterOf(principal, filter), page);
  const views = rows.map((row) => deliveryView(row, vendorNames));
  return pageOf(views, total, page);
}

function filterOf(
  principal: Principal,
  { connectorId, states, deviceId }: DeliveryListFilter,
): DeliveryFilter {
  const { organizationId, workspaces } = principal;
  return {
    connectorId,
    organizationId,
    deviceId,
    states: states?.map(stateOf),
    workspaceIds: workspaces === 'all' ? undefined : [...workspaces],
  };
}

function stateOf(text: string): DeliveryState {
  const state = deliveryStates.find((one) => one === text.toUpperCase());
  if (state === undefined)
    throw problem('invalidRequest', {
      reason: `query state: must be ${deliveryStates.join(', ')}`,
    });
  return state;
}

/** Notifies the delivery worker of deliveries that wait again. */
export type Renewed = (sequences: readonly number[]) => Promise<void>;

/** Sends a delivered or dead delivery again. A waiting delivery stays unchanged. */
export async function resendDelivery(
  records: Records,
  renewed: Renewed,
  id: string,
  vendorNames: boolean,
) {
  const sequences = await records.db
    .transaction()
    .execute((step) => renewDeliveries(step, { id }, records.now(), 1));
  await renewed(sequences);
  return deliveryView(found(await findDelivery(records.db, { id }), 'delivery', id), vendorNames);
}

/** Sends the matching deliveries again, by default the dead ones, oldest first. */
export async function resendDeliveries(
  records: Records,
  principal: Principal,
  renewed: Renewed,
  filter: DeliveryListFilter & { readonly ids?: readonly string[] | undefined },
) {
  const states = filter.states ?? (filter.ids === undefined ? ['DEAD'] : undefined);
  const which = { ...filterOf(principal, { ...filter, states }), ids: filter.ids };
  const sequences = await records.db
    .transaction()
    .execute((step) => renewDeliveries(step, which, records.now(), resentMax));
  await renewed(sequences);
  return { resent: sequences.length };
}
