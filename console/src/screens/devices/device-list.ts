// Device list: its filters in the address, and the requests that they mean.
import { useQuery } from '@tanstack/react-query';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { pageRows } from '../../parts/rows/use-pages.ts';

export type Device = components['schemas']['Device'];

export const deviceStates = ['online', 'silent', 'never'] as const;
export type DeviceState = (typeof deviceStates)[number];

/** What the address of the list says. */
export interface DeviceSearch {
  readonly q?: string;
  readonly state?: DeviceState;
  /** `seen` is the newest first, `-seen` the oldest. */
  readonly sort?: 'seen' | '-seen';
}

export function readDeviceSearch(search: Record<string, unknown>): DeviceSearch {
  const state = deviceStates.find((one) => one === search['state']);
  const sort = (['seen', '-seen'] as const).find((one) => one === search['sort']);
  return {
    ...(typeof search['q'] === 'string' && search['q'] !== '' ? { q: search['q'] } : {}),
    ...(state === undefined ? {} : { state }),
    ...(sort === undefined ? {} : { sort }),
  };
}

const stateNames = { online: 'ONLINE', silent: 'OFFLINE', never: 'UNKNOWN' } as const;
const sorts = { seen: 'uplinkMetrics.timestamp,desc', '-seen': 'uplinkMetrics.timestamp,asc' };

/** Query of `GET /v3/assets`, without page and size. */
export function assetQuery(workspaceId: string, { q, state, sort }: DeviceSearch) {
  return {
    workspaceId,
    ...(q === undefined ? {} : { search: q }),
    ...(state === undefined ? {} : { state: stateNames[state] }),
    sort: sort === undefined ? 'name,asc' : sorts[sort],
  };
}

export function fetchDevices(query: ReturnType<typeof assetQuery>) {
  return (page: number, signal: AbortSignal) =>
    ask(
      platform.GET('/v3/assets', { signal, params: { query: { ...query, page, size: pageRows } } }),
    );
}

export type LatestSamples = components['schemas']['DeviceLatestSamplesPage']['content'][number];

/** Newest samples of the devices of one page, by device id. */
export function useLatestSamples(deviceIds: readonly string[]) {
  return useQuery({
    queryKey: ['latest', deviceIds],
    enabled: deviceIds.length > 0,
    placeholderData: (before) => before,
    queryFn: async ({ signal }) => {
      const body = { deviceIds: [...deviceIds] };
      const { content } = await ask(platform.POST('/v3/devices/query/latest', { signal, body }));
      return new Map(content.map((latest) => [latest.deviceId, latest]));
    },
  });
}
