// Endpoints of the second factor and the passkeys of the own account.
import { endpoint } from '../endpoint.ts';
import { signedInSchema } from '../member.ts';
import { idParams } from '../record-fields.ts';
import {
  appConfirmation,
  newAppSchema,
  newPasskeySchema,
  ownPassword,
  passkeyCreation,
  passkeyDraft,
  passkeyLogin,
  passkeyRequest,
  passkeyUpdate,
  recoveryCodesSchema,
  secondFactorSchema,
} from '../second-factor.ts';

const tag = 'Sign-in';
const access = {
  anyCredential: "The user's own MFA settings.",
  userOnly: true,
  beforeSecondFactor: true,
} as const;

export const secondFactor = {
  read: endpoint({
    method: 'GET',
    path: '/v3/auth/second-factor',
    summary: 'Get MFA settings',
    description: "Returns the user's authenticator app, passkeys, and remaining recovery codes.",
    tag,
    access,
    response: secondFactorSchema,
  }),
  beginApp: endpoint({
    method: 'POST',
    path: '/v3/auth/second-factor/app',
    summary: 'Start authenticator app setup',
    description:
      'Returns the shared secret for an authenticator app, which takes effect after its first code is confirmed.',
    tag,
    access,
    body: ownPassword,
    response: newAppSchema,
  }),
  confirmApp: endpoint({
    method: 'POST',
    path: '/v3/auth/second-factor/app/confirm',
    summary: 'Confirm the authenticator app',
    description: "Turns on MFA, returns recovery codes once, and ends the user's other sessions.",
    tag,
    access,
    body: appConfirmation,
    response: recoveryCodesSchema,
  }),
  removeApp: endpoint({
    method: 'POST',
    path: '/v3/auth/second-factor/app/remove',
    summary: 'Remove the authenticator app',
    description:
      'Removes the authenticator app and its recovery codes after checking the password.',
    tag,
    access,
    body: ownPassword,
  }),
  renewRecoveryCodes: endpoint({
    method: 'POST',
    path: '/v3/auth/second-factor/recovery-codes',
    summary: 'Regenerate recovery codes',
    description: 'Returns new recovery codes once and invalidates the old ones.',
    tag,
    access,
    body: ownPassword,
    response: recoveryCodesSchema,
  }),
} as const;

const open = { open: 'Authenticated by the passkey.' } as const;

export const passkeys = {
  begin: endpoint({
    method: 'POST',
    path: '/v3/auth/passkeys/options',
    summary: 'Get passkey creation options',
    description: 'Returns the WebAuthn options for creating a passkey in the browser.',
    tag,
    access,
    body: ownPassword,
    response: passkeyCreation,
  }),
  create: endpoint({
    method: 'POST',
    path: '/v3/auth/passkeys',
    summary: 'Create a passkey',
    description:
      "Registers a passkey created by the browser; the first one ends the user's other sessions.",
    tag,
    access,
    body: passkeyDraft,
    status: 201,
    response: newPasskeySchema,
  }),
  rename: endpoint({
    method: 'PUT',
    path: '/v3/auth/passkeys/:id',
    summary: 'Rename a passkey',
    description: 'Changes the name of a passkey.',
    tag,
    access,
    params: idParams,
    body: passkeyUpdate,
  }),
  remove: endpoint({
    method: 'POST',
    path: '/v3/auth/passkeys/:id/remove',
    summary: 'Delete a passkey',
    description: 'Deletes a passkey after checking the password.',
    tag,
    access,
    params: idParams,
    body: ownPassword,
  }),
  request: endpoint({
    method: 'POST',
    path: '/v3/auth/login/passkey-options',
    summary: 'Get passkey sign-in options',
    description: 'Returns the WebAuthn options for signing in with a passkey.',
    tag,
    access: open,
    response: passkeyRequest,
  }),
  login: endpoint({
    method: 'POST',
    path: '/v3/auth/login/passkey',
    summary: 'Sign in with a passkey',
    description: 'Verifies the passkey response and sets the session cookie.',
    tag,
    access: open,
    body: passkeyLogin,
    response: signedInSchema,
  }),
} as const;
