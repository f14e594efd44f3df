// Device list: what its address means to the platform, and its rows, asked for page by page. Not in the first load.
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { pageRows } from '../../ui/rows/use-pages.ts';
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

type WholeDevice = components['schemas']['Device'];

/** Members of a row: a whole device is three times the size. */
const rowFields = [
  'id',
  'deviceId',
  'name',
  'connectivity',
  'onlineTimeout',
  'onlineState',
  'dataFlowId',
  'dataFlow',
  'tags',
  'customFields',
  'uplinkMetrics',
  'place',
] as const satisfies readonly (keyof WholeDevice)[];

export type Device = Pick<WholeDevice, (typeof rowFields)[number]>;

export interface ListRequest {
  readonly body: ReturnType<typeof listBody>;
  readonly sort: string;
}

/** One page of `POST /v3/assets/list`; pages count from 0. */
export function fetchDevices(
  { body, sort }: ListRequest,
  page: number,
  { signal, size = pageRows }: { readonly signal?: AbortSignal; readonly size?: number },
) {
  const query = { page, size, sort, fields: rowFields.join() };
  const stop = signal === undefined ? {} : { signal };
  return ask(platform.POST('/v3/assets/list', { ...stop, params: { query }, body }));
}

/** How many devices the list would have. */
export async function countDevices(
  body: ListRequest['body'],
  signal: AbortSignal,
): Promise<number> {
  const query = { size: 1, fields: 'id' };
  const answer = platform.POST('/v3/assets/list', { signal, params: { query }, body });
  return (await ask(answer)).totalElements;
}

export function typeNameOf({ dataFlow }: Device): string | undefined {
  return dataFlow.deviceType?.name;
}

/** The value of the custom field with the name. */
export function fieldOf({ customFields }: Device, name: string): unknown {
  const field = customFields.find(({ fieldMetaName }) => fieldMetaName === name);
  return field?.[field.meta.type as keyof typeof field];
}

/** Whether the list shows only some devices. */
export function hasCondition({ q, state, filter }: DeviceSearch): boolean {
  return [q, state, filter].some((one) => one !== undefined);
}
