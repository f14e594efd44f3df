// Devices by their ids: names for rows that only carry an id, asked for together.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { components } from '../../generated/interface-types.ts';
import { ask, platform } from './platform.ts';

export type FoundDevice = Pick<components['schemas']['Device'], 'id' | 'name' | 'deviceId'>;

const idsMax = 100;
const fields = ['id', 'name', 'deviceId'].join();

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
