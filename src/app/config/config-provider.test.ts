// Settings of the sign-in provider: what is read, and a message that names the variable for the rest.
import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

const organization = '28a1b2c3d4e5f607';
const workspace = '29a1b2c3d4e5f607';
const base = { OIDC_ISSUER: 'https://id.example.org/realm', OIDC_CLIENT_ID: 'heliograph' };

test('groups may contain the signs that separate', () => {
  const OIDC_ROLES = `cn=a,ou=b=ADMIN@${organization}; x@y=EDITOR@${workspace};`;
  expect(readConfig({ ...base, OIDC_ROLES }).provider?.roles).toEqual([
    { group: 'cn=a,ou=b', role: 'ADMIN', organizationId: organization },
    { group: 'x@y', role: 'EDITOR', workspaceId: workspace },
  ]);
});

test('without settings the provider is undefined, and with an issuer the rest has defaults', () => {
  expect(readConfig({}).provider).toBeUndefined();
  expect(readConfig(base).provider).toMatchObject({
    label: 'id.example.org',
    scopes: 'openid email profile',
    groupsClaim: 'groups',
    clientSecret: undefined,
    roles: [],
  });
});

test.each([
  [{ OIDC_CLIENT_ID: 'x' }, /OIDC_CLIENT_ID is set but OIDC_ISSUER is not/],
  [{ OIDC_ISSUER: base.OIDC_ISSUER }, /OIDC_CLIENT_ID is not/],
  [{ ...base, OIDC_ISSUER: 'http://id.example.org' }, /OIDC_ISSUER=.* https/],
  [{ ...base, OIDC_ISSUER: 'id' }, /OIDC_ISSUER=id:/],
  [{ ...base, OIDC_SCOPES: 'email' }, /OIDC_SCOPES=email: .*openid/],
  [{ ...base, OIDC_ROLES: 'admins' }, /OIDC_ROLES=admins:/],
  [{ ...base, OIDC_ROLES: `a=BOSS@${organization}` }, /OIDC_ROLES=a=BOSS/],
  [{ ...base, OIDC_ROLES: `a=OWNER@${workspace}` }, /OIDC_ROLES=a=OWNER/],
  [{ ...base, OIDC_TRUST_EMAIL: 'maybe' }, /OIDC_TRUST_EMAIL=maybe/],
  [{ LOCAL_SIGN_IN: '0' }, /LOCAL_SIGN_IN=0 .* no one could sign in/],
])('%j is refused with a reason', (environment, message) => {
  expect(() => readConfig(environment)).toThrow(message);
});
