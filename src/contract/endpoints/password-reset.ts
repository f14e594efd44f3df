// Endpoints of password resets (contract 36).
import { endpoint } from '../endpoint.ts';
import { invitationParams, passwordResetBody, passwordResetRequest } from '../member.ts';

const tag = 'Sign-in';

export const passwordReset = {
  request: endpoint({
    method: 'POST',
    path: '/v3/auth/password-reset',
    summary:
      'Ask for a mail with a link that sets a new password; the answer is the same for every address',
    tag,
    access: { open: 'who forgot the password has no credential' },
    body: passwordResetRequest,
    status: 202,
  }),
  complete: endpoint({
    method: 'POST',
    path: '/v3/auth/password-reset/:token',
    summary: 'Set a new password with a mailed link; every session of the user ends',
    tag,
    access: { open: 'whoever holds the link reads the mail of the address' },
    secretPath: true,
    params: invitationParams,
    body: passwordResetBody,
  }),
} as const;
