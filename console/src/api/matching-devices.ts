// Matching devices: the first ones by name, for a field that searches.
import { queryOptions } from '@tanstack/react-query';
import { ask, platform } from './platform.ts';
import type { FoundDevice } from './workspace-records.ts';

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
