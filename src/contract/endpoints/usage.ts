// Endpoints of usage and quotas.
import { endpoint } from '../endpoint.ts';
import { usageQuery, usageSchema } from '../usage.ts';

export const storedUsage = {
  read: endpoint({
    method: 'GET',
    path: '/v3/usage',
    summary:
      'Stored samples and the bytes they take, by workspace, and the quotas of the organization',
    tag: 'Workspaces',
    access: { scope: 'workspace', verb: 'read', resource: 'handler' },
    query: usageQuery,
    response: usageSchema,
  }),
} as const;
