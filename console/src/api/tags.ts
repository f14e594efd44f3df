// Tags of a workspace: asked for once by all forms that offer them.
import { queryOptions } from '@tanstack/react-query';
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
