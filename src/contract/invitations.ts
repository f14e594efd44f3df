// Endpoints of invitations (contract 35).
import { endpoint } from './endpoint.ts';
import {
  acceptedSchema,
  invitationAcceptance,
  invitationParams,
  invitationSchema,
} from './members.ts';

const tag = 'Sign-in';
const access = { open: 'Authenticated by the token in the path.' } as const;

export const invitations = {
  read: endpoint({
    method: 'GET',
    path: '/v3/auth/invitations/:token',
    summary: 'Get an invitation',
    description: 'Returns the organization and role that an invitation grants.',
    tag,
    access,
    secretPath: true,
    params: invitationParams,
    response: invitationSchema,
  }),
  accept: endpoint({
    method: 'POST',
    path: '/v3/auth/invitations/:token',
    summary: 'Accept an invitation',
    description:
      'Adds the invited person as a member; new users choose a name and password, existing users confirm theirs.',
    tag,
    access,
    secretPath: true,
    params: invitationParams,
    body: invitationAcceptance,
    response: acceptedSchema,
  }),
} as const;
