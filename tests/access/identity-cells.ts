// Expected cells of the authorization matrix: how users sign in and what they see of it (contract 35).
import { record } from './record-cell.ts';
import type { Cell } from './route-cell.ts';

function ownPath(path: string): Cell {
  return { who: 'anyUser', level: 'none', path: () => path };
}

function open(path: string): Cell {
  return { who: 'anybody', level: 'none', path: () => path };
}

export const identityCells: Readonly<Record<string, Cell>> = {
  'POST /v3/auth/login': open('/v3/auth/login'),
  'POST /v3/auth/login/second-factor': open('/v3/auth/login/second-factor'),
  'GET /v3/auth/second-factor': ownPath('/v3/auth/second-factor'),
  'POST /v3/auth/second-factor/app': ownPath('/v3/auth/second-factor/app'),
  'POST /v3/auth/second-factor/app/confirm': ownPath('/v3/auth/second-factor/app/confirm'),
  'POST /v3/auth/second-factor/app/remove': ownPath('/v3/auth/second-factor/app/remove'),
  'POST /v3/auth/second-factor/recovery-codes': ownPath('/v3/auth/second-factor/recovery-codes'),
  'POST /v3/auth/passkeys/options': ownPath('/v3/auth/passkeys/options'),
  'POST /v3/auth/passkeys': ownPath('/v3/auth/passkeys'),
  'PUT /v3/auth/passkeys/:id': ownPath('/v3/auth/passkeys/56ffffffffffffff'),
  'POST /v3/auth/passkeys/:id/remove': ownPath('/v3/auth/passkeys/56ffffffffffffff/remove'),
  'GET /v3/organizations/:id/second-factor': record(
    'organization',
    ['organization', 'read'],
    (of) => `/v3/organizations/${of.organization}/second-factor`,
    undefined,
    'permittedUser',
  ),
  'PUT /v3/organizations/:id/second-factor': record(
    'organization',
    ['organization', 'manage'],
    (of) => `/v3/organizations/${of.organization}/second-factor`,
    () => ({ secondFactorRequired: 'x' }),
    'permittedUser',
  ),
  'DELETE /v3/organizations/:id/members/:userId/second-factor': record(
    'organization',
    ['organization.member', 'manage'],
    (of) => `/v3/organizations/${of.organization}/members/50ffffffffffffff/second-factor`,
    undefined,
    'permittedUser',
  ),
  'POST /v3/auth/login/passkey-options': open('/v3/auth/login/passkey-options'),
  'POST /v3/auth/login/passkey': open('/v3/auth/login/passkey'),
  'POST /v3/auth/password-reset': {
    ...open('/v3/auth/password-reset'),
    body: () => ({ email: 'x@y.z' }),
  },
  'POST /v3/auth/password-reset/:token': open('/v3/auth/password-reset/t'),
  'GET /v3/auth/invitations/:token': open('/v3/auth/invitations/t'),
  'POST /v3/auth/invitations/:token': open('/v3/auth/invitations/t'),
  'GET /v3/auth/sessions': ownPath('/v3/auth/sessions'),
  'DELETE /v3/auth/sessions/:id': ownPath('/v3/auth/sessions/54ffffffffffffff'),
  'POST /v3/auth/sessions/end-others': ownPath('/v3/auth/sessions/end-others'),
};
