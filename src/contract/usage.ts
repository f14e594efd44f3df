// API schemas of usage: stored samples of workspaces, and the quotas of the organization.
import Type from 'typebox';
import { listParameter } from './list-parameters.ts';
import { id, list } from './record-fields.ts';
import { namedObject } from './named.ts';

export const usageQuery = Type.Object({
  organizationId: Type.Optional(Type.String()),
  workspaceId: listParameter,
  workspaceIds: listParameter,
});

const amounts = {
  samples: Type.Integer({ minimum: 0, description: 'Stored samples' }),
  bytes: Type.Integer({
    minimum: 0,
    description:
      'Bytes they take: on disk once compressed, an estimate for the newest, which are not yet',
  }),
};

/** What a retention that is not set yet would do (contract 37). */
export const retentionEffectSchema = namedObject('RetentionEffect', {
  stored: Type.Object(amounts),
  expired: Type.Object(amounts, {
    description: 'About what would be dropped: no sample is read, blocks count by their times',
  }),
});

export const usageSchema = namedObject('Usage', {
  content: list(Type.Object({ workspaceId: id, name: Type.String(), ...amounts })),
  total: Type.Object(amounts),
  quotas: Type.Optional(
    Type.Array(
      Type.Object({
        limit: Type.String({ description: 'Name of the limit, as refusals tell it' }),
        per: Type.String({ description: 'What it is counted for: organization, device or uplink' }),
        max: Type.Integer(),
        used: Type.Union([Type.Integer(), Type.Null()], {
          description: 'Null for limits of single devices and uplinks',
        }),
      }),
      { description: 'Only for credentials that reach the whole organization' },
    ),
  ),
});
