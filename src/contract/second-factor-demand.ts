// Endpoints of the second factor that an organization demands of its members.
import { endpoint } from './endpoint.ts';
import { memberParams } from './members.ts';
import { idParams } from './record-fields.ts';
import { secondFactorDemandSchema } from './second-factor.ts';

const path = '/v3/organizations/:id/second-factor';

export const secondFactorDemand = {
  read: endpoint({
    method: 'GET',
    path,
    summary: 'Get the MFA requirement',
    description: 'Returns whether the organization requires MFA of its members.',
    tag: 'Organizations',
    access: { scope: 'organization', verb: 'read', resource: 'path', userOnly: true },
    params: idParams,
    response: secondFactorDemandSchema,
  }),
  change: endpoint({
    method: 'PUT',
    path,
    summary: 'Set the MFA requirement',
    description:
      'Requires MFA of members or stops requiring it; takes effect in open sessions too.',
    tag: 'Organizations',
    access: { scope: 'organization', verb: 'manage', resource: 'path', userOnly: true },
    params: idParams,
    body: secondFactorDemandSchema,
    response: secondFactorDemandSchema,
  }),
  reset: endpoint({
    method: 'DELETE',
    path: '/v3/organizations/:id/members/:userId/second-factor',
    summary: "Reset a member's MFA",
    description:
      "Removes a member's authenticator app, passkeys, and recovery codes and ends their sessions.",
    tag: 'Members',
    access: { scope: 'organization.member', verb: 'manage', resource: 'path', userOnly: true },
    params: memberParams,
  }),
} as const;
