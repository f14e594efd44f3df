// Endpoints of sign-in and the own account (contract 35).
import { endpoint } from '../endpoint.ts';
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
} from '../member.ts';
import { endSessionSchema } from '../provider-sign-in.ts';
import { secondStepBody, secondStepSchema } from '../second-factor.ts';

const tag = 'Sign-in';
const ownAccount = {
  anyCredential: 'a user may always see to the own account',
  userOnly: true,
  beforeSecondFactor: true,
} as const;

const ownPreferences = {
  anyCredential: 'only the owner of the preferences sees them',
  beforeSecondFactor: true,
} as const;

export const signIn = {
  login: endpoint({
    method: 'POST',
    path: '/v3/auth/login',
    summary:
      'Sign in with e-mail and password; the answer sets the session cookie, or is 202 with a ticket for the second step',
    tag,
    access: { open: 'e-mail and password in the body are checked by the handler' },
    body: loginBody,
    response: signedInSchema,
    otherAnswers: { 202: secondStepSchema },
  }),
  secondStep: endpoint({
    method: 'POST',
    path: '/v3/auth/login/second-factor',
    summary: 'Complete a sign-in with the second factor; the answer sets the session cookie',
    tag,
    access: { open: 'the ticket of the first step and the second factor are checked' },
    body: secondStepBody,
    response: signedInSchema,
  }),
  logout: endpoint({
    method: 'POST',
    path: '/v3/auth/logout',
    summary: 'Sign out of this session; 200 with an address to open if a provider began it',
    tag,
    access: ownAccount,
    otherAnswers: { 200: endSessionSchema },
  }),
  logoutEverywhere: endpoint({
    method: 'POST',
    path: '/v3/auth/logout-everywhere',
    summary: 'Sign out of every session of the user',
    tag,
    access: ownAccount,
    response: endedSessionsSchema,
  }),
  account: endpoint({
    method: 'GET',
    path: '/v3/auth/me',
    summary: 'The signed-in user, API key or OAuth client, and what it may do in each workspace',
    tag,
    access: {
      anyCredential: 'a caller may always ask who it is and what it may do',
      beforeSecondFactor: true,
    },
    response: callerSchema,
  }),
  preferences: endpoint({
    method: 'GET',
    path: '/v3/auth/me/preferences',
    summary: 'What the caller stored for a console',
    tag,
    access: ownPreferences,
    response: preferencesSchema,
  }),
  savePreferences: endpoint({
    method: 'PUT',
    path: '/v3/auth/me/preferences',
    summary: 'Replace what the caller stored for a console',
    tag,
    access: ownPreferences,
    body: preferencesSchema,
    bodyBytesMax: preferencesBytesMax,
    response: preferencesSchema,
  }),
  switchOrganization: endpoint({
    method: 'PUT',
    path: '/v3/auth/organization',
    summary: 'Go on in another organization of the user',
    tag,
    access: ownAccount,
    body: organizationSwitch,
    response: accountSchema,
  }),
  changePassword: endpoint({
    method: 'PUT',
    path: '/v3/auth/password',
    summary: 'Change the own password; every other session of the user ends',
    tag,
    access: ownAccount,
    body: passwordChange,
  }),
} as const;
