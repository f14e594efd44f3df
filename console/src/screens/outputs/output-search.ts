// Addresses of outputs: the list, the delivery log, and a new output.
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

// Address of a new output: its type and its use.

/** What the address says: type and use, so that other pages can lead to the right form. */
interface NewOutputSearch {
  readonly type?: string;
  readonly scope?: OutputScope;
}

export function readNewOutput(search: Record<string, unknown>): NewOutputSearch {
  const { type } = search;
  const scope = outputScopes.find((one) => one === search['scope']);
  const isKnown = typeof type === 'string' && /^[A-Z_]{1,40}$/.test(type);
  return { ...(isKnown ? { type } : {}), ...(scope === undefined ? {} : { scope }) };
}
