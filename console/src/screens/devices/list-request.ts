// Request of the device list: what its address means to the platform. Not in the first load, unlike the reading of addresses.
import {
  decodeFilter,
  type DeviceSearch,
  type FilterExpression,
  type FilterLeaf,
} from './device-search.ts';

export function encodeFilter(expression: FilterExpression): string {
  const bytes = new TextEncoder().encode(JSON.stringify(expression));
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCodePoint(byte)).join(''));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

const stateNames = { online: 'ONLINE', silent: 'OFFLINE', never: 'UNKNOWN' } as const;
const sortOrders = {
  '-name': 'name,desc',
  seen: 'uplinkMetrics.timestamp,desc',
  '-seen': 'uplinkMetrics.timestamp,asc',
} as const;

export function sortOf({ sort }: DeviceSearch): string {
  return sort === undefined ? 'name,asc' : sortOrders[sort];
}

/** What the devices of the list have in common; undefined for all devices. */
export function expressionOf({ state, filter }: DeviceSearch): FilterExpression | undefined {
  const decoded = filter === undefined ? undefined : decodeFilter(filter);
  const asked = decoded && withoutEmpty(decoded);
  if (state === undefined) return asked;
  const leaf: FilterLeaf = {
    field: 'onlineState',
    predicate: 'EQUALS',
    values: [stateNames[state]],
  };
  return asked === undefined ? leaf : { operator: 'AND', expressions: [leaf, asked] };
}

/** Without groups that hold nothing, which the platform refuses; undefined when nothing is left. */
function withoutEmpty(expression: FilterExpression): FilterExpression | undefined {
  if (!('expressions' in expression)) return expression;
  const kept = expression.expressions.flatMap((one) => withoutEmpty(one) ?? []);
  return kept.length === 0 ? undefined : { ...expression, expressions: kept };
}

/** Body of `POST /v3/assets/list`. */
export function listBody(workspaceId: string, search: DeviceSearch) {
  const expression = expressionOf(search);
  return {
    workspaceIds: [workspaceId],
    ...(search.q === undefined ? {} : { search: search.q }),
    ...(expression === undefined ? {} : { expression }),
  };
}
