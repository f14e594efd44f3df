// Schemas and endpoints of usage and quotas.
import Type from 'typebox';
import { endpoint } from './endpoint.ts';
import { listParameter } from './list-parameters.ts';
import { namedObject } from './named.ts';
import { id, list } from './record-fields.ts';

const usageQuery = Type.Object({
  organizationId: Type.Optional(Type.String()),
  workspaceId: listParameter,
  workspaceIds: listParameter,
});

const amounts = {
  samples: Type.Integer({ minimum: 0, description: 'Number of stored samples.' }),
  bytes: Type.Integer({
    minimum: 0,
    description: 'Stored bytes: compressed size on disk, plus an estimate for recent samples.',
  }),
};

/** What a retention that is not set yet would do (contract 37). */
export const retentionEffectSchema = namedObject('RetentionEffect', {
  stored: Type.Object(amounts),
  expired: Type.Object(amounts, {
    description: 'Estimate of what would be deleted, based on block times.',
  }),
});

const usageSchema = namedObject('Usage', {
  content: list(Type.Object({ workspaceId: id, name: Type.String(), ...amounts })),
  total: Type.Object(amounts),
  quotas: Type.Optional(
    Type.Array(
      Type.Object({
        limit: Type.String({ description: 'Name of the limit, as in error responses.' }),
        per: Type.String({ description: 'Scope of the limit: organization, device, or uplink.' }),
        max: Type.Integer(),
        used: Type.Union([Type.Integer(), Type.Null()], {
          description: 'Current use. Null for limits per device or uplink.',
        }),
      }),
      { description: 'Returned only to credentials with access to the whole organization.' },
    ),
  ),
});

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
