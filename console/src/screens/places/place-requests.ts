// Requests of the places screen: levels of the tree, one place, its figures, devices and alarms.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { components } from '../../../generated/interface-types.ts';
import { alarmsKey } from '../../api/alarms.ts';
import { ask, platform } from '../../api/platform.ts';
import type { ListSearch } from '../../ui/list-search.ts';

export type Place = components['schemas']['Place'];

/** Every query of places begins with it, so that a change refreshes all. */
export const placesKey = (workspaceId: string) => ['places', workspaceId] as const;

/** Places of one level that are shown; further ones are found by search. */
const levelMax = 500;
const foundMax = 50;
const rowsMax = 50;
const refreshMs = 30_000;

/** `null`: the top of the tree. */
export const levelOf = (workspaceId: string, parentId: string | null) =>
  queryOptions({
    queryKey: [...placesKey(workspaceId), 'below', parentId],
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
    queryFn: ({ signal }) => {
      const query = {
        workspaceId,
        parentId: parentId ?? 'null',
        details: 'health' as const,
        size: levelMax,
        sort: 'name,asc',
      };
      return ask(platform.GET('/v3/places', { signal, params: { query } }));
    },
  });

export const foundPlaces = (workspaceId: string, search: string) =>
  queryOptions({
    queryKey: [...placesKey(workspaceId), 'found', search],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = {
        workspaceId,
        search,
        details: 'health' as const,
        size: foundMax,
        sort: 'name,asc',
      };
      return ask(platform.GET('/v3/places', { signal, params: { query } }));
    },
  });

export const placeOf = (workspaceId: string, id: string) =>
  queryOptions({
    queryKey: [...placesKey(workspaceId), 'one', id],
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/places/{id}', { signal, params: { path: { id } } })),
  });

/** Devices by state and open alarms at the place and below it. */
export const figuresOf = (workspaceId: string, placeId: string) =>
  queryOptions({
    queryKey: [...placesKey(workspaceId), 'figures', placeId],
    refetchInterval: refreshMs,
    queryFn: ({ signal }) =>
      ask(
        platform.GET('/v3/workspaces/{id}/overview', {
          signal,
          params: { path: { id: workspaceId }, query: { placeId } },
        }),
      ),
  });

const deviceFields = [
  'id',
  'deviceId',
  'name',
  'onlineState',
  'onlineTimeout',
  'uplinkMetrics',
  'placeId',
  'place',
  'planPosition',
] as const satisfies readonly (keyof components['schemas']['Device'])[];

export type PlacedDevice = Pick<components['schemas']['Device'], (typeof deviceFields)[number]>;

export const devicesOf = (workspaceId: string, placeId: string, { page = 0 }: ListSearch) =>
  queryOptions({
    queryKey: [...placesKey(workspaceId), 'devices', placeId, page],
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
    queryFn: ({ signal }) => deviceRows(signal, { workspaceId, placeId, page, size: rowsMax }),
  });

function deviceRows(
  signal: AbortSignal,
  of: {
    readonly workspaceId: string;
    readonly placeId: string;
    readonly page: number;
    readonly size: number;
  },
) {
  const { workspaceId, placeId, page, size } = of;
  const query = {
    workspaceId,
    'places.ids': placeId,
    fields: deviceFields.join(),
    sort: 'name,asc',
    page,
    size,
  };
  return ask(platform.GET('/v3/assets', { signal, params: { query } }));
}

interface AlarmsSearch extends Pick<ListSearch, 'page'> {
  /** ISO-8601; now without it. */
  readonly at?: string | undefined;
}

/** Alarms that are not cleared, or were not at the moment. */
export const alarmsAt = (workspaceId: string, placeId: string, { page = 0, at }: AlarmsSearch) =>
  queryOptions({
    queryKey: [...alarmsKey(workspaceId), 'place', placeId, page, at],
    placeholderData: keepPreviousData,
    refetchInterval: at === undefined ? refreshMs : (false as const),
    queryFn: ({ signal }) => {
      const open = at === undefined ? { state: 'OPEN,ACKNOWLEDGED' } : { openAt: at };
      const query = { workspaceId, placeId, ...open, page, size: rowsMax };
      return ask(platform.GET('/v3/alarms', { signal, params: { query } }));
    },
  });

export type PlaceFields = Pick<
  components['schemas']['PlaceUpdate'],
  'name' | 'kind' | 'description' | 'externalId' | 'position' | 'parentId' | 'plan'
>;

export function changePlace({ id, version }: Place, fields: PlaceFields): Promise<Place> {
  const body = { version, ...fields };
  return ask(platform.PUT('/v3/places/{id}', { params: { path: { id } }, body }));
}

/** Each refused device says why. */
export function changeDevicesAt(
  id: string,
  body: components['schemas']['PlaceDevicesBody'],
): Promise<components['schemas']['PlaceDevices']> {
  return ask(platform.POST('/v3/places/{id}/devices', { params: { path: { id } }, body }));
}
