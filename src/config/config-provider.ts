// Settings of the sign-in provider: `OIDC_...`, checked as far as this is possible without asking the provider.
import { ConfigError, flagOf, listOf, refuse } from './config-values.ts';
import { emailAddressOf } from '../model/email-address.ts';
import { hasFormOfId } from '../model/ids.ts';
import type { GroupRole, SignInProvider } from '../model/sign-in-provider.ts';
import { organizationRoles, workspaceRoles } from '../model/user.ts';

type Read = (name: string) => string | undefined;

const others = [
  'OIDC_CLIENT_ID',
  'OIDC_CLIENT_SECRET',
  'OIDC_LABEL',
  'OIDC_SCOPES',
  'OIDC_GROUPS_CLAIM',
  'OIDC_ROLES',
  'OIDC_ALLOWED_DOMAINS',
  'OIDC_TRUST_EMAIL',
] as const;

/** Undefined without `OIDC_ISSUER`. */
export function providerOf(text: Read): SignInProvider | undefined {
  const issuer = text('OIDC_ISSUER');
  if (issuer === undefined) {
    const given = others.find((name) => text(name) !== undefined);
    if (given === undefined) return undefined;
    throw new ConfigError(
      `${given} is set but OIDC_ISSUER is not. Set it to the issuer URL of the identity provider.`,
    );
  }
  const clientId = text('OIDC_CLIENT_ID');
  if (clientId === undefined)
    throw new ConfigError(
      'OIDC_ISSUER is set but OIDC_CLIENT_ID is not. Register the platform with the identity provider and set the client ID.',
    );
  return {
    issuer: issuerOf(issuer),
    clientId,
    clientSecret: text('OIDC_CLIENT_SECRET'),
    label: text('OIDC_LABEL') ?? new URL(issuer).hostname,
    scopes: scopesOf(text('OIDC_SCOPES')),
    groupsClaim: text('OIDC_GROUPS_CLAIM') ?? 'groups',
    roles: rolesOf(text('OIDC_ROLES')),
    allowedDomains: listOf(text('OIDC_ALLOWED_DOMAINS')).map(emailAddressOf),
    trustsEmail: flagOf('OIDC_TRUST_EMAIL', text('OIDC_TRUST_EMAIL')),
  };
}

/** Whether users sign in with passwords and passkeys of the platform. */
export function localSignInOf(text: Read, provider: SignInProvider | undefined): boolean {
  const isOn = flagOf('LOCAL_SIGN_IN', text('LOCAL_SIGN_IN') ?? '1');
  if (isOn || provider !== undefined) return isOn;
  throw new ConfigError('LOCAL_SIGN_IN=0 requires OIDC_ISSUER; otherwise no one could sign in');
}

function issuerOf(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url?.hostname ?? '');
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback)) return value;
  return refuse('OIDC_ISSUER', value, 'the issuer URL of the provider, with https');
}

function scopesOf(value: string | undefined): string {
  if (value === undefined) return 'openid email profile';
  if (!value.split(' ').includes('openid'))
    refuse('OIDC_SCOPES', value, 'space-separated scopes that include openid');
  return value;
}

const rolesForm = 'entries of the form GROUP=ROLE@ID, such as admins=ADMIN@28…;basel=EDITOR@29…';

/** Groups may contain `=`, as names of directories do, so that the last one separates. */
function rolesOf(value: string | undefined): readonly GroupRole[] {
  const entries = (value ?? '').split(';').map((entry) => entry.trim());
  return entries.filter((entry) => entry !== '').map(groupRoleOf);
}

function groupRoleOf(entry: string): GroupRole {
  const [, group = '', role, id = ''] = /^(.+)=([A-Z]+)@([0-9a-f]{16})$/.exec(entry) ?? [];
  const inOrganization = organizationRoles.find((one) => one === role);
  if (hasFormOfId('organization', id) && inOrganization !== undefined)
    return { group, role: inOrganization, organizationId: id };
  const inWorkspace = workspaceRoles.find((one) => one === role);
  if (hasFormOfId('workspace', id) && inWorkspace !== undefined)
    return { group, role: inWorkspace, workspaceId: id };
  return refuse('OIDC_ROLES', entry, rolesForm);
}
