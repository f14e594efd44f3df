// Endpoint of the activity of workspaces (contract 37).
import { activityQuery, activitySchema } from '../activity.ts';
import { endpoint } from '../endpoint.ts';
import { pageSchema } from '../page-envelope.ts';

export const activity = {
  list: endpoint({
    method: 'GET',
    path: '/v3/activity',
    summary: 'What each request changed in workspaces, newest first',
    tag: 'Audit log',
    access: { scope: 'workspace', verb: 'read', resource: 'handler' },
    needsAlso: 'Only changes of records that the caller may read are shown.',
    query: activityQuery,
    response: pageSchema(activitySchema),
  }),
} as const;
