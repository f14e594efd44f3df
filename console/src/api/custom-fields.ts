// Custom fields of a workspace: asked for once by all screens that show them.
import { queryOptions } from '@tanstack/react-query';
import { ask, platform } from './platform.ts';

const fieldsMax = 1_000;

export const customFieldsOf = (workspaceId: string) =>
  queryOptions({
    queryKey: ['custom-fields', workspaceId],
    queryFn: ({ signal }) => {
      const query = { workspaceId, size: fieldsMax, sort: 'name,asc' };
      return ask(platform.GET('/v3/custom-fields/meta', { signal, params: { query } }));
    },
  });
