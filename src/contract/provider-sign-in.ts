// Schemas and endpoints of sign-in by the OpenID Connect provider of the installation.
import Type from 'typebox';
import { endpoint } from './endpoint.ts';
import { namedObject } from './named.ts';

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

export const endSessionSchema = namedObject('SignedOut', {
  endSessionUrl: Type.String({
    description: 'URL to open in the browser to sign out of the identity provider.',
  }),
});

const tag = 'Sign-in';
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
