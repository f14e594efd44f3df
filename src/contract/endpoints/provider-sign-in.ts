// Endpoints of sign-in by the OpenID Connect provider of the installation.
import { endpoint } from '../endpoint.ts';
import { callbackQuery, logoutTokenForm, startQuery } from '../provider-sign-in.ts';

const tag = 'Sign-in';
const formBytesMax = 64 * 1024;

export const providerSignIn = {
  start: endpoint({
    method: 'GET',
    path: '/v3/auth/oidc/start',
    summary: 'Go to the provider to sign in; a link of the sign-in page, not for programs',
    tag,
    access: { open: 'a user who signs in has no credential yet' },
    query: startQuery,
    status: 302,
  }),
  callback: endpoint({
    method: 'GET',
    path: '/v3/auth/oidc/callback',
    summary: 'Come back from the provider; the answer sets the session cookie and redirects',
    tag,
    access: { open: 'the code of the provider and the sealed cookie of the start are checked' },
    query: callbackQuery,
    status: 302,
  }),
  backChannelLogout: endpoint({
    method: 'POST',
    path: '/v3/auth/oidc/back-channel-logout',
    summary:
      'The provider ends the sessions that it began (OpenID Connect Back-Channel Logout 1.0)',
    tag,
    access: { open: 'the signature of the provider is checked by the handler' },
    form: true,
    bodyTypes: { 'application/x-www-form-urlencoded': logoutTokenForm },
    bodyBytesMax: formBytesMax,
    status: 200,
  }),
} as const;
