// Usage requests: stored samples by workspace with the quotas, and devices by type.
import { queryOptions } from '@tanstack/react-query';
import { ask, platform } from '../../../api/platform.ts';

const refreshMs = 60_000;

export const usageOf = (organizationId: string) =>
  queryOptions({
    queryKey: ['usage', organizationId],
    refetchInterval: refreshMs,
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/usage', { signal, params: { query: { organizationId } } })),
  });

export interface TypeUsage {
  /** Empty for devices without a type. */
  readonly typeId: string;
  readonly name: string;
  readonly devices: number;
}

const flowsMax = 1_000;
const typesMax = 20;

/**
 * Devices of a workspace by device type, the most first, at most 20 types; a type is counted by one
 * request, which reads no device.
 */
export const typeUsageOf = (workspaceId: string) =>
  queryOptions({
    queryKey: ['type usage', workspaceId],
    queryFn: async ({ signal }): Promise<readonly TypeUsage[]> => {
      const query = { workspaceId, size: flowsMax, fields: 'id,deviceType' };
      const flows = await ask(platform.GET('/v3/data-flows', { signal, params: { query } }));
      const names = new Map(
        flows.content.flatMap(({ deviceType }) =>
          deviceType === null ? [] : [[deviceType.id, deviceType.name] as const],
        ),
      );
      const counted = await Promise.all(
        [...names].slice(0, typesMax).map(async ([typeId, name]) => {
          const expression = {
            field: 'deviceType',
            predicate: 'EQUALS' as const,
            values: [typeId],
          };
          const body = { workspaceIds: [workspaceId], expression };
          const params = { query: { size: 1, fields: 'id' } };
          const found = await ask(platform.POST('/v3/assets/list', { signal, params, body }));
          return { typeId, name, devices: found.totalElements };
        }),
      );
      return counted
        .filter(({ devices }) => devices > 0)
        .toSorted((a, b) => b.devices - a.devices || a.name.localeCompare(b.name));
    },
  });
