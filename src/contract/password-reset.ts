// Endpoints of password resets (contract 36).
import { endpoint } from './endpoint.ts';
import { invitationParams, passwordResetBody, passwordResetRequest } from './members.ts';

const tag = 'Sign-in';

export const passwordReset = {
  request: endpoint({
    method: 'POST',
    path: '/v3/auth/password-reset',
    summary: 'Request a password reset',
    description:
      'Emails a reset link if the account exists; the response is the same for every address.',
    tag,
    access: { open: 'No authentication.' },
    body: passwordResetRequest,
    status: 202,
  }),
  complete: endpoint({
    method: 'POST',
    path: '/v3/auth/password-reset/:token',
    summary: 'Reset a password',
    description: 'Sets a new password with an emailed token and ends every session of the user.',
    tag,
    access: { open: 'Authenticated by the token in the path.' },
    secretPath: true,
    params: invitationParams,
    body: passwordResetBody,
  }),
} as const;
