// Endpoints of usage and quotas.
import { endpoint } from '../endpoint.ts';
import { usageQuery, usageSchema } from '../usage.ts';

export const storedUsage = {
  read: endpoint({
    method: 'GET',
    path: '/v3/usage',
    summary: 'Get usage and quotas',
    description:
      "Returns stored samples and bytes per workspace, and the organization's quotas with their current use.",
    tag: 'Workspaces',
    access: { scope: 'workspace', verb: 'read', resource: 'handler' },
    query: usageQuery,
    response: usageSchema,
  }),
} as const;
