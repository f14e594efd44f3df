// Endpoint of the activity of workspaces (contract 37).
import { activityQuery, activitySchema } from '../activity.ts';
import { endpoint } from '../endpoint.ts';
import { pageSchema } from '../page-envelope.ts';

export const activity = {
  list: endpoint({
    method: 'GET',
    path: '/v3/activity',
    summary: 'List activity',
    description: 'Returns the changes of each request in the requested workspaces, newest first.',
    tag: 'Audit log',
    access: { scope: 'workspace', verb: 'read', resource: 'handler' },
    needsAlso: 'Returns only changes to records that the caller can read.',
    query: activityQuery,
    response: pageSchema(activitySchema),
  }),
} as const;
