// Replay: the edited decoder on the newest stored uplinks of the type's devices; nothing is stored.
import { queryOptions } from '@tanstack/react-query';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';

export type Replay = components['schemas']['Replay'];
export type ReplayedUplink = Replay['uplinks'][number];

/** `code` is the changed decoder; null runs the stored one. */
export function replayBody(code: string | null, limit: number) {
  return { limit, ...(code === null ? {} : { uplinkScript: { code } }) };
}

export const replayOf = (typeId: string, code: string | null, limit: number) =>
  queryOptions({
    queryKey: ['replay', typeId, limit, code],
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    gcTime: 0,
    queryFn: ({ signal }) =>
      ask(
        platform.POST('/v3/device-types/{id}/replay', {
          signal,
          params: { path: { id: typeId } },
          body: replayBody(code, limit),
        }),
      ),
  });

/** Names of devices of this workspace, at most 50 as in a replay. */
export const namesOfDevices = (workspaceId: string, ids: readonly string[]) =>
  queryOptions({
    queryKey: ['device-names', workspaceId, ids],
    enabled: ids.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const { content } = await ask(
        platform.GET('/v3/assets', {
          signal,
          params: { query: { workspaceId, assetIds: [...ids], size: 50, fields: 'id,name' } },
        }),
      );
      return new Map(content.map(({ id, name }) => [id, name]));
    },
  });
