// On-call orders of a workspace, and who is on call.
import { queryOptions } from '@tanstack/react-query';
import { ask, platform } from './platform.ts';

/** As many as a workspace has at most. */
const ordersMax = 100;

export const onCallOrders = (workspaceId: string) =>
  queryOptions({
    queryKey: ['on-call', workspaceId],
    queryFn: ({ signal }) => {
      const query = { workspaceId, size: ordersMax, sort: 'name,asc' };
      return ask(platform.GET('/v3/on-call', { signal, params: { query } }));
    },
  });
