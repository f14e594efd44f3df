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
  anyCredential: 'a user sees and changes only the own second factor',
  userOnly: true,
  beforeSecondFactor: true,
} as const;

export const secondFactor = {
  read: endpoint({
    method: 'GET',
    path: '/v3/auth/second-factor',
    summary: 'What the user shows besides the password to sign in',
    tag,
    access,
    response: secondFactorSchema,
  }),
  beginApp: endpoint({
    method: 'POST',
    path: '/v3/auth/second-factor/app',
    summary: 'Set up an authenticator app; it counts once its first code is confirmed',
    tag,
    access,
    body: ownPassword,
    response: newAppSchema,
  }),
  confirmApp: endpoint({
    method: 'POST',
    path: '/v3/auth/second-factor/app/confirm',
    summary:
      'Confirm an authenticator app by its first code; other sessions end. The recovery codes are shown this once',
    tag,
    access,
    body: appConfirmation,
    response: recoveryCodesSchema,
  }),
  removeApp: endpoint({
    method: 'POST',
    path: '/v3/auth/second-factor/app/remove',
    summary: 'Remove the authenticator app and its recovery codes',
    tag,
    access,
    body: ownPassword,
  }),
  renewRecoveryCodes: endpoint({
    method: 'POST',
    path: '/v3/auth/second-factor/recovery-codes',
    summary: 'Replace the recovery codes; the old ones stop working',
    tag,
    access,
    body: ownPassword,
    response: recoveryCodesSchema,
  }),
} as const;

const open = { open: 'who signs in has no credential yet; the passkey is checked' } as const;

export const passkeys = {
  begin: endpoint({
    method: 'POST',
    path: '/v3/auth/passkeys/options',
    summary: 'Options for the browser to create a passkey',
    tag,
    access,
    body: ownPassword,
    response: passkeyCreation,
  }),
  create: endpoint({
    method: 'POST',
    path: '/v3/auth/passkeys',
    summary: 'Keep a passkey that the browser has created; other sessions end with the first one',
    tag,
    access,
    body: passkeyDraft,
    status: 201,
    response: newPasskeySchema,
  }),
  rename: endpoint({
    method: 'PUT',
    path: '/v3/auth/passkeys/:id',
    summary: 'Give a passkey of the user another name',
    tag,
    access,
    params: idParams,
    body: passkeyUpdate,
  }),
  remove: endpoint({
    method: 'POST',
    path: '/v3/auth/passkeys/:id/remove',
    summary: 'Remove a passkey of the user',
    tag,
    access,
    params: idParams,
    body: ownPassword,
  }),
  request: endpoint({
    method: 'POST',
    path: '/v3/auth/login/passkey-options',
    summary: 'Options for the browser to sign in with a passkey',
    tag,
    access: open,
    response: passkeyRequest,
  }),
  login: endpoint({
    method: 'POST',
    path: '/v3/auth/login/passkey',
    summary: 'Sign in with a passkey; the answer sets the session cookie',
    tag,
    access: open,
    body: passkeyLogin,
    response: signedInSchema,
  }),
} as const;
