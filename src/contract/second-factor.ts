// Schemas and endpoints of the second factor and the passkeys of the own account.
import Type from 'typebox';
import { endpoint } from './endpoint.ts';
import { named, namedObject } from './named.ts';
import { id, idParams, list, oneOf, optional, orNull, text, time } from './record-fields.ts';
import { memberParams, signedInSchema } from './members.ts';

const ticketMax = 4_096;
const shown = (description: string) => Type.String({ minLength: 1, maxLength: 64, description });

/** By the standard, which adds members with time. */
const withUnknownMembers = { additionalProperties: true } as const;
const base64Url = Type.String({ maxLength: 20_000 });
const credentialFields = { id: Type.String({ minLength: 1, maxLength: 2_000 }) };

/** What `navigator.credentials.get` returns, as JSON; other members are ignored. */
const assertion = named(
  'PasskeySignature',
  Type.Object(
    {
      ...credentialFields,
      response: Type.Object(
        {
          clientDataJSON: base64Url,
          authenticatorData: base64Url,
          signature: base64Url,
        },
        withUnknownMembers,
      ),
    },
    withUnknownMembers,
  ),
);

const attestation = named(
  'PasskeyCredential',
  Type.Object(
    {
      ...credentialFields,
      response: Type.Object(
        {
          clientDataJSON: base64Url,
          attestationObject: base64Url,
          transports: optional(Type.Array(Type.String({ maxLength: 50 }), { maxItems: 10 })),
        },
        withUnknownMembers,
      ),
    },
    withUnknownMembers,
  ),
);

const passkeySchema = namedObject('Passkey', {
  id,
  name: text,
  created: time,
  lastUsed: orNull(time),
});

const secondFactorSchema = namedObject('SecondFactor', {
  available: Type.Boolean({
    description:
      'False for accounts that sign in with the identity provider, which enforces its own MFA.',
  }),
  authenticatorApp: orNull(Type.Object({ created: time })),
  passkeys: list(passkeySchema),
  recoveryCodes: Type.Integer({ description: 'Number of unused codes.' }),
});

const ticket = Type.String({ description: "Ticket to send back with the browser's response." });
const challenge = Type.String({ description: 'Challenge, base64url-encoded.' });

/** For `PublicKeyCredential.parseCreationOptionsFromJSON`. */
const passkeyCreation = namedObject('PasskeyCreation', {
  ticket,
  options: Type.Object(
    {
      challenge,
      rp: Type.Object({ name: text }, withUnknownMembers),
      user: Type.Object({ id, name: text, displayName: text }, withUnknownMembers),
      pubKeyCredParams: Type.Array(
        Type.Object({ alg: Type.Integer(), type: text }, withUnknownMembers),
      ),
    },
    withUnknownMembers,
  ),
});

/** For `PublicKeyCredential.parseRequestOptionsFromJSON`. */
const requestOptions = Type.Object({ challenge }, withUnknownMembers);
const passkeyRequest = namedObject('PasskeyRequest', { ticket, options: requestOptions });

const passkeyName = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' });
const passkeyDraft = namedObject('PasskeyDraft', {
  ticket: Type.String({ maxLength: ticketMax }),
  name: passkeyName,
  credential: attestation,
});
const passkeyUpdate = namedObject('PasskeyUpdate', { name: passkeyName });
const passkeyLogin = namedObject('PasskeyLogin', {
  ticket: Type.String({ maxLength: ticketMax }),
  passkey: assertion,
  organizationId: optional(id),
});

const ownPassword = namedObject('OwnPassword', {
  password: Type.String({
    minLength: 1,
    maxLength: 1_000,
    description: 'Current password of the user.',
  }),
});

const newAppSchema = namedObject('NewAuthenticatorApp', {
  secret: Type.String({
    description: 'Base32 secret for manual entry, returned only in this response.',
  }),
  address: Type.String({ description: '`otpauth://` URI for the QR code.' }),
});

const appConfirmation = namedObject('AuthenticatorAppConfirmation', {
  code: shown('Six-digit code from the authenticator app.'),
});

const recoveryCodesSchema = namedObject('RecoveryCodes', {
  recoveryCodes: list(Type.String({ description: 'Single-use recovery code.' })),
});

/** Answer of the first step of a sign-in that needs a second one. */
export const secondStepSchema = namedObject('SecondStep', {
  ticket: Type.String({ description: 'Sign-in ticket, valid for five minutes.' }),
  expires: time,
  secondFactors: list(oneOf(['ONE_TIME_CODE', 'PASSKEY', 'RECOVERY_CODE'])),
  passkeyOptions: orNull(requestOptions),
});

export const secondStepBody = namedObject('SecondStepBody', {
  ticket: Type.String({ maxLength: ticketMax }),
  code: optional(shown('Six-digit code from the authenticator app.')),
  recoveryCode: optional(shown('Recovery code, instead of `code`.')),
  passkey: optional(assertion),
});

const secondFactorDemandSchema = namedObject('SecondFactorDemand', {
  secondFactorRequired: Type.Boolean({
    description:
      'Whether members who sign in with a password must use MFA. Without it, they can access only their own account.',
  }),
});

const newPasskeySchema = namedObject('NewPasskey', {
  passkey: passkeySchema,
  recoveryCodes: list(
    Type.String({
      description: 'Recovery codes, returned with the first second factor; otherwise empty.',
    }),
  ),
});

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

// Endpoints of the second factor that an organization demands of its members.

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
