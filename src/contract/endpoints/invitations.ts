// Endpoints of invitations (contract 35).
import { endpoint } from '../endpoint.ts';
import {
  acceptedSchema,
  invitationAcceptance,
  invitationParams,
  invitationSchema,
} from '../member.ts';

const tag = 'Sign-in';
const access = { open: 'whoever holds the link is the invited person' } as const;

export const invitations = {
  read: endpoint({
    method: 'GET',
    path: '/v3/auth/invitations/:token',
    summary: 'What an invitation is for',
    tag,
    access,
    secretPath: true,
    params: invitationParams,
    response: invitationSchema,
  }),
  accept: endpoint({
    method: 'POST',
    path: '/v3/auth/invitations/:token',
    summary:
      'Accept an invitation: a new user chooses name and password, another one gives the own password',
    tag,
    access,
    secretPath: true,
    params: invitationParams,
    body: invitationAcceptance,
    response: acceptedSchema,
  }),
} as const;
