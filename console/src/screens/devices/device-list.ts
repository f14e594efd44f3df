// Device list: its rows, asked for page by page.
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { pageRows } from '../../ui/rows/use-pages.ts';
import type { DeviceSearch } from './device-search.ts';
import type { listBody } from './list-request.ts';

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
