// Records of a workspace that many screens ask for: tags, places, custom fields, and devices by their IDs or by a search.
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import type { components } from '../../generated/interface-types.ts';
import { ask, platform } from './platform.ts';

/** More than these are chosen by search, on the screen of tags. */
const tagsMax = 1_000;

export const tagsOf = (workspaceId: string) =>
  queryOptions({
    queryKey: ['tags', workspaceId],
    queryFn: ({ signal }) => {
      const query = { workspaceId, size: tagsMax, sort: 'name,asc' };
      return ask(platform.GET('/v3/tags', { signal, params: { query } }));
    },
  });

// Places of a workspace by their paths.

/** More than these are found by search. */
const placesMax = 1_000;

interface PlaceChoice {
  readonly id: string;
  readonly name: string;
  /** Names from the top of the tree, joined by slashes. */
  readonly path: string;
}

export const placesOf = (workspaceId: string) =>
  queryOptions({
    queryKey: ['places', workspaceId],
    queryFn: async ({ signal }): Promise<readonly PlaceChoice[]> => {
      const query = { workspaceId, size: placesMax, sort: 'name,asc' };
      const { content } = await ask(platform.GET('/v3/places', { signal, params: { query } }));
      const choices = content.map(({ id, name, path }) => ({
        id,
        name,
        path: path.map((step) => step.name).join(' / '),
      }));
      return choices.toSorted((a, b) => a.path.localeCompare(b.path));
    },
  });

// Custom fields of a workspace: asked for once by all screens that show them.

const fieldsMax = 1_000;

export const customFieldsOf = (workspaceId: string) =>
  queryOptions({
    queryKey: ['custom-fields', workspaceId],
    queryFn: ({ signal }) => {
      const query = { workspaceId, size: fieldsMax, sort: 'name,asc' };
      return ask(platform.GET('/v3/custom-fields/meta', { signal, params: { query } }));
    },
  });

// Devices by their ids: names for rows that only carry an id, asked for together.

export type FoundDevice = Pick<
  components['schemas']['Device'],
  'id' | 'name' | 'deviceId' | 'onlineTimeout'
>;

const idsMax = 100;
const fields = ['id', 'name', 'deviceId', 'onlineTimeout'].join();

/** Devices that exist and may be read, by service device id. */
export function useDevicesById(
  workspaceId: string,
  ids: readonly (string | null)[],
): ReadonlyMap<string, FoundDevice> {
  const wanted = [...new Set(ids)]
    .filter((id): id is string => id !== null && id !== '')
    .toSorted((a, b) => Number(a > b) - Number(a < b));
  const asked = wanted.slice(0, idsMax);
  const found = useQuery({
    queryKey: ['devices by id', workspaceId, asked],
    enabled: asked.length > 0,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const query = { workspaceId, assetIds: asked.join(), fields, size: idsMax };
      const { content } = await ask(platform.GET('/v3/assets', { signal, params: { query } }));
      return new Map(content.map((device) => [device.id, device as FoundDevice]));
    },
  });
  return found.data ?? nothing;
}

const nothing: ReadonlyMap<string, FoundDevice> = new Map();

// Matching devices: the first ones by name, for a field that searches.

/** A condition of a filter expression (interface 2.9). */
export interface DeviceFilter {
  readonly field: string;
  readonly predicate: 'EQUALS' | 'CONTAINS_ANY';
  readonly values: string[];
}

export function devicesMatching(
  workspaceId: string,
  search: string,
  size: number,
  filters: readonly DeviceFilter[],
) {
  const expression = { operator: 'AND' as const, expressions: [...filters] };
  const body = {
    workspaceIds: [workspaceId],
    ...(search === '' ? {} : { search }),
    ...(filters.length === 0 ? {} : { expression }),
  };
  return queryOptions({
    queryKey: ['devices matching', body, size],
    queryFn: async ({ signal }): Promise<readonly FoundDevice[]> => {
      const query = { size, sort: 'name,asc', fields: 'id,name,deviceId' };
      const found = platform.POST('/v3/assets/list', { signal, params: { query }, body });
      return (await ask(found)).content;
    },
  });
}
