// Deliveries: list the delivery log, and send deliveries again (contract 35).
import { type Delivery, type DeliveryState, deliveryStates } from '../../model/delivery.ts';
import { formatInstant } from '../../model/instant.ts';
import { type Page, pageOf, type PageRequest } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { defaultPayload } from '../../model/template-context.ts';
import type { Place } from '../../model/record.ts';
import { found, type Inventory, placeOf } from '../record-crud.ts';

export interface DeliveryFilter {
  readonly connectorId: string;
  /**
   * Of the global connector everybody's deliveries are in one list; the rows of other organizations
   * do not exist for anybody.
   */
  readonly organizationId: string;
  /** Absent: every workspace of the organization. */
  readonly workspaceIds?: readonly string[] | undefined;
  readonly states?: readonly DeliveryState[] | undefined;
  readonly deviceId?: string | undefined;
}

/** Deliveries that wait and that ended, for their retention. */
export interface DeliveryBook {
  /** Newest first unless the page asks for another order. */
  readonly list: (
    filter: DeliveryFilter,
    page: PageRequest,
  ) => Promise<{ readonly rows: readonly Delivery[]; readonly total: number }>;
  readonly find: (id: string) => Promise<Delivery | undefined>;
  /**
   * Queues delivered and dead deliveries again, at most `max`, oldest first; durable when it
   * resolves to their number.
   */
  readonly renew: (
    which: DeliveryFilter & { readonly ids?: readonly string[] | undefined },
    max: number,
  ) => Promise<number>;
  /** The same for one, which it resolves to; one that waits stays unchanged. */
  readonly renewOne: (id: string) => Promise<Delivery | undefined>;
}

const payloadShownMax = 64 * 1024;
/** The most deliveries that one request sends again. */
const resentMax = 10_000;

/** `vendorNames` is false to omit aliases from the default payload (contract 34). */
function deliveryView(delivery: Delivery, vendorNames: boolean) {
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
    ...alarmOf(delivery),
    correlationId,
    payload: (delivery.payload ?? defaultPayload(delivery.context, vendorNames)).slice(
      0,
      payloadShownMax,
    ),
    answer: delivery.answer,
    reason: delivery.reason,
  };
}

/** The alarm whose change is notified; its template context contains both. */
function alarmOf({ context: { alarm, change } }: Delivery) {
  const id = alarm?.['id'];
  if (typeof id !== 'string') return { alarmId: null, alarmChange: null };
  return { alarmId: id, alarmChange: change ?? null };
}

interface DeliveryListFilter {
  readonly connectorId: string;
  readonly states?: readonly string[] | undefined;
  readonly deviceId?: string | undefined;
}

/** Newest first. For the global connector, only deliveries of the principal's workspaces. */
export async function listDeliveries(
  book: DeliveryBook,
  principal: Principal,
  filter: DeliveryListFilter,
  { page, vendorNames }: { readonly page: PageRequest; readonly vendorNames: boolean },
): Promise<Page<ReturnType<typeof deliveryView>>> {
  const { rows, total } = await book.list(filterOf(principal, filter), page);
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
      reason: `query state: must be one of ${deliveryStates.join(', ')}`,
    });
  return state;
}

/** The place of a delivery, for authorization. Throws 404 for an unknown one. */
export async function deliveryPlace(
  records: Inventory,
  book: DeliveryBook,
  id: string,
): Promise<Place> {
  const delivery = await book.find(id);
  // One that a rule made this moment is in the records.
  if (delivery === undefined) return placeOf(records, 'delivery', id);
  const { organizationId, workspaceId } = delivery;
  return { organizationId, workspaceId, what: 'delivery', id };
}

/** Sends a delivered or dead delivery again. A waiting delivery stays unchanged. */
export async function resendDelivery(book: DeliveryBook, id: string, vendorNames: boolean) {
  return deliveryView(found(await book.renewOne(id), 'delivery', id), vendorNames);
}

/** Sends the matching deliveries again, by default the dead ones, oldest first. */
export async function resendDeliveries(
  book: DeliveryBook,
  principal: Principal,
  filter: DeliveryListFilter & { readonly ids?: readonly string[] | undefined },
) {
  const states = filter.states ?? (filter.ids === undefined ? ['DEAD'] : undefined);
  const which = { ...filterOf(principal, { ...filter, states }), ids: filter.ids };
  return { resent: await book.renew(which, resentMax) };
}
