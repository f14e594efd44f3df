// Endpoints of the second factor that an organization demands of its members.
import { endpoint } from '../endpoint.ts';
import { memberParams } from '../member.ts';
import { idParams } from '../record-fields.ts';
import { secondFactorDemandSchema } from '../second-factor.ts';

const path = '/v3/organizations/:id/second-factor';

export const secondFactorDemand = {
  read: endpoint({
    method: 'GET',
    path,
    summary: 'Whether members of an organization must have a second factor',
    tag: 'Organizations',
    access: { scope: 'organization', verb: 'read', resource: 'path', userOnly: true },
    params: idParams,
    response: secondFactorDemandSchema,
  }),
  change: endpoint({
    method: 'PUT',
    path,
    summary:
      'Demand a second factor of the members of an organization, or no longer; it counts for open sessions too',
    tag: 'Organizations',
    access: { scope: 'organization', verb: 'manage', resource: 'path', userOnly: true },
    params: idParams,
    body: secondFactorDemandSchema,
    response: secondFactorDemandSchema,
  }),
  reset: endpoint({
    method: 'DELETE',
    path: '/v3/organizations/:id/members/:userId/second-factor',
    summary:
      'Remove the authenticator app, passkeys and recovery codes of a member, and end the sessions of the member',
    tag: 'Members',
    access: { scope: 'organization.member', verb: 'manage', resource: 'path', userOnly: true },
    params: memberParams,
  }),
} as const;
