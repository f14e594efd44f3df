// Endpoints of sign-in and the own account (contract 35).
import Type from 'typebox';
import { endpoint } from './endpoint.ts';
import {
  accountSchema,
  callerSchema,
  endedSessionsSchema,
  invitationParams,
  loginBody,
  organizationSwitch,
  passwordChange,
  passwordResetBody,
  passwordResetRequest,
  preferencesBytesMax,
  preferencesSchema,
  signedInSchema,
} from './members.ts';
import { secondStepBody, secondStepSchema } from './second-factor.ts';
import { signInKinds } from '../model/user.ts';
import { namedObject } from './named.ts';
import { unpagedSchema } from './list-parameters.ts';
import { id, idParams, oneOf, optional, orNull, text, time } from './record-fields.ts';

const tag = 'Sign-in';

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
