// Addresses of the outputs: filters and pages of the list and of the delivery log.
import type { components } from '../../../generated/interface-types.ts';
import { type ListSearch, readListSearch, readPage } from '../../ui/list-search.ts';

export type DeliveryState = components['schemas']['Delivery']['state'];
export type OutputScope = components['schemas']['OutputConnector']['scope'];

export const outputScopes: readonly OutputScope[] = ['DATA_FLOW', 'RULE_ACTION'];
export const deliveryStates: readonly DeliveryState[] = ['PENDING', 'DELIVERED', 'DEAD'];

/** What the address of the list says. */
export interface OutputSearch extends ListSearch {
  readonly scope?: OutputScope;
}

export function readOutputSearch(search: Record<string, unknown>): OutputSearch {
  const scope = outputScopes.find((one) => one === search['scope']);
  return {
    ...readListSearch(search),
    ...(scope === undefined ? {} : { scope }),
  };
}

/** What the address of the delivery log says. */
export interface DeliverySearch {
  readonly state?: DeliveryState;
  readonly page?: number;
}

export function readDeliverySearch(search: Record<string, unknown>): DeliverySearch {
  const state = deliveryStates.find((one) => one === search['state']);
  return { ...(state === undefined ? {} : { state }), ...readPage(search) };
}
