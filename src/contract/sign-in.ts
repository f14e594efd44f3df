// Schemas and endpoints of sign-in, of the own account, its second factor and its passkeys (contract 35).
import Type from 'typebox';
import { endpoint } from './endpoint.ts';
import {
  accountSchema,
  callerSchema,
  invitationParams,
  loginBody,
  memberParams,
  passwordChange,
  passwordResetRequest,
  signedInSchema,
} from './members.ts';
import { signInKinds } from '../model/user.ts';
import {
  id,
  idParams,
  list,
  named,
  namedObject,
  oneOf,
  optional,
  orNull,
  text,
  time,
  unpagedSchema,
} from './schema-parts.ts';
import type { JsonObject } from '../model/json.ts';

const preferencesBytesMax = 64 * 1024;

const preferencesSchema = named(
  'Preferences',
  Type.Unsafe<JsonObject>({
    type: 'object',
    description: 'Console preferences, up to 64 kB of JSON.',
  }),
);

const endedSessionsSchema = namedObject('EndedSessions', { sessions: Type.Integer() });

const organizationSwitch = namedObject('OrganizationSwitch', { organizationId: id });

const passwordResetBody = Type.Object({ password: Type.String() });

const tag = 'Sign-in';

// Schemas and endpoints of the second factor and the passkeys of the own account.

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
const secondStepSchema = namedObject('SecondStep', {
  ticket: Type.String({ description: 'Sign-in ticket, valid for five minutes.' }),
  expires: time,
  secondFactors: list(oneOf(['ONE_TIME_CODE', 'PASSKEY', 'RECOVERY_CODE'])),
  passkeyOptions: orNull(requestOptions),
});

const secondStepBody = namedObject('SecondStepBody', {
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

// Schemas and endpoints of the own sessions (contract 35).

const sessionSchema = namedObject('Session', {
  id,
  current: Type.Boolean({ description: 'Whether this is the current session.' }),
  signInKind: oneOf(signInKinds),
  userAgent: orNull(text),
  ip: orNull(Type.String({ description: 'IP address that signed in.' })),
  created: time,
  lastSeen: Type.String({
    format: 'date-time',
    description: 'Time of the last request, accurate to the minute.',
  }),
  expires: Type.String({ format: 'date-time', description: 'Latest expiration time.' }),
});
const own = {
  anyCredential: "The user's own sessions.",
  userOnly: true,
  beforeSecondFactor: true,
} as const;

/** What a session needs that ends others, unless it began a short time ago. */
const endingConfirmation = Type.Object({
  password: optional(
    Type.String({
      maxLength: 200,
      description: 'Current password. Required if the user signed in more than 10 minutes ago.',
    }),
  ),
});

export const ownSessions = {
  list: endpoint({
    method: 'GET',
    path: '/v3/auth/sessions',
    summary: 'List sessions',
    description: "Returns the user's active sessions, newest first.",
    tag,
    access: own,
    response: unpagedSchema(sessionSchema),
  }),
  end: endpoint({
    method: 'DELETE',
    path: '/v3/auth/sessions/:id',
    summary: 'End a session',
    description: "Ends one of the user's sessions and closes its live connections.",
    tag,
    access: own,
    params: idParams,
    body: Type.Optional(endingConfirmation),
  }),
  endOthers: endpoint({
    method: 'POST',
    path: '/v3/auth/sessions/end-others',
    summary: 'End other sessions',
    description: 'Ends every session of the user except the current one.',
    tag,
    access: own,
    body: Type.Optional(endingConfirmation),
    response: endedSessionsSchema,
  }),
} as const;

// Schemas and endpoints of sign-in by the OpenID Connect provider of the installation.

const textMax = 4_096;

const startQuery = Type.Object({
  to: Type.Optional(
    Type.String({
      maxLength: textMax,
      description: 'Path of the console to continue at after the sign-in.',
    }),
  ),
});

/** What providers add to the address differs, so that nothing here may be refused by its shape. */
const callbackQuery = Type.Object({
  code: Type.Optional(Type.String()),
  state: Type.Optional(Type.String()),
  iss: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  error_description: Type.Optional(Type.String()),
});

const logoutTokenForm = Type.Object({ logout_token: Type.String() });

const endSessionSchema = namedObject('SignedOut', {
  endSessionUrl: Type.String({
    description: 'URL to open in the browser to sign out of the identity provider.',
  }),
});
const formBytesMax = 64 * 1024;

export const providerSignIn = {
  start: endpoint({
    method: 'GET',
    path: '/v3/auth/oidc/start',
    summary: 'Start sign-in with the identity provider',
    description:
      'Redirects the browser to the identity provider. For links on the sign-in page, not for programs.',
    tag,
    access: { open: 'No authentication.' },
    query: startQuery,
    status: 302,
  }),
  callback: endpoint({
    method: 'GET',
    path: '/v3/auth/oidc/callback',
    summary: 'Complete sign-in with the identity provider',
    description:
      'Receives the browser from the identity provider, sets the session cookie, and redirects to the console.',
    tag,
    access: {
      open: "Authenticated by the identity provider's code and the cookie that the start set.",
    },
    query: callbackQuery,
    status: 302,
  }),
  backChannelLogout: endpoint({
    method: 'POST',
    path: '/v3/auth/oidc/back-channel-logout',
    summary: "End sessions at the identity provider's request",
    description:
      'Ends the sessions that the identity provider started (OpenID Connect Back-Channel Logout 1.0).',
    tag,
    access: { open: "Authenticated by the identity provider's signature." },
    form: true,
    bodyTypes: { 'application/x-www-form-urlencoded': logoutTokenForm },
    bodyBytesMax: formBytesMax,
    status: 200,
  }),
} as const;

const ownAccount = {
  anyCredential: "The user's own account.",
  userOnly: true,
  beforeSecondFactor: true,
} as const;

const ownPreferences = {
  anyCredential: 'Any valid credential. Preferences are private to the caller.',
  beforeSecondFactor: true,
} as const;

export const signIn = {
  login: endpoint({
    method: 'POST',
    path: '/v3/auth/login',
    summary: 'Sign in',
    description:
      'Signs in with email and password and sets the session cookie; returns 202 with a ticket when MFA is required.',
    tag,
    access: { open: 'Authenticated by the email and password in the body.' },
    body: loginBody,
    response: signedInSchema,
    otherAnswers: { 202: secondStepSchema },
  }),
  secondStep: endpoint({
    method: 'POST',
    path: '/v3/auth/login/second-factor',
    summary: 'Complete sign-in with MFA',
    description: 'Verifies a one-time code, passkey, or recovery code and sets the session cookie.',
    tag,
    access: { open: 'Authenticated by the sign-in ticket and the second factor.' },
    body: secondStepBody,
    response: signedInSchema,
  }),
  logout: endpoint({
    method: 'POST',
    path: '/v3/auth/logout',
    summary: 'Sign out',
    description:
      'Ends the current session; returns 200 with a URL to open when the identity provider started it.',
    tag,
    access: ownAccount,
    otherAnswers: { 200: endSessionSchema },
  }),
  logoutEverywhere: endpoint({
    method: 'POST',
    path: '/v3/auth/logout-everywhere',
    summary: 'Sign out everywhere',
    description: 'Ends every session of the signed-in user, including this one.',
    tag,
    access: ownAccount,
    body: Type.Optional(endingConfirmation),
    response: endedSessionsSchema,
  }),
  account: endpoint({
    method: 'GET',
    path: '/v3/auth/me',
    summary: 'Get the current caller',
    description:
      'Returns the signed-in user, API key, or OAuth client and its permissions in each workspace.',
    tag,
    access: {
      anyCredential: 'Any valid credential.',
      beforeSecondFactor: true,
    },
    response: callerSchema,
  }),
  preferences: endpoint({
    method: 'GET',
    path: '/v3/auth/me/preferences',
    summary: 'Get preferences',
    description: 'Returns the console preferences of the caller.',
    tag,
    access: ownPreferences,
    response: preferencesSchema,
  }),
  savePreferences: endpoint({
    method: 'PUT',
    path: '/v3/auth/me/preferences',
    summary: 'Replace preferences',
    description: 'Replaces the console preferences of the caller.',
    tag,
    access: ownPreferences,
    body: preferencesSchema,
    bodyBytesMax: preferencesBytesMax,
    response: preferencesSchema,
  }),
  switchOrganization: endpoint({
    method: 'PUT',
    path: '/v3/auth/organization',
    summary: 'Switch organization',
    description: 'Switches the session to another organization of the user.',
    tag,
    access: ownAccount,
    body: organizationSwitch,
    response: accountSchema,
  }),
  changePassword: endpoint({
    method: 'PUT',
    path: '/v3/auth/password',
    summary: 'Change password',
    description: "Changes the user's password and ends their other sessions.",
    tag,
    access: ownAccount,
    body: passwordChange,
  }),
} as const;

// Endpoints of password resets (contract 36).

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
