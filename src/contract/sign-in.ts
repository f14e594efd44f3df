// Endpoints of sign-in and the own account (contract 35).
import Type from 'typebox';
import { endpoint } from './endpoint.ts';
import {
  accountSchema,
  callerSchema,
  endedSessionsSchema,
  loginBody,
  organizationSwitch,
  passwordChange,
  preferencesBytesMax,
  preferencesSchema,
  signedInSchema,
} from './members.ts';
import { endSessionSchema } from './provider-sign-in.ts';
import { secondStepBody, secondStepSchema } from './second-factor.ts';
import { endingConfirmation } from './own-sessions.ts';

const tag = 'Sign-in';
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
