// Settings of the sign-in provider: `OIDC_...`, checked as far as this is possible without asking the provider.
import { ConfigError, flagOf, listOf, refuse } from './config-values.ts';
import { emailAddressOf } from './model/email-address.ts';
import { hasFormOfId } from './model/ids.ts';
import type { GroupRole, SignInProvider } from './model/sign-in-provider.ts';
import { organizationRoles, workspaceRoles } from './model/user.ts';

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
      `${given} is set and OIDC_ISSUER is not: set the address of the provider`,
    );
  }
  const clientId = text('OIDC_CLIENT_ID');
  if (clientId === undefined)
    throw new ConfigError(
      'OIDC_ISSUER is set and OIDC_CLIENT_ID is not: register the platform at the provider and set the id that it gives',
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
  throw new ConfigError(
    'LOCAL_SIGN_IN=0 cannot be used without OIDC_ISSUER: no user could sign in',
  );
}

function issuerOf(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url?.hostname ?? '');
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback)) return value;
  return refuse('OIDC_ISSUER', value, 'an https URL, as the provider names itself');
}

function scopesOf(value: string | undefined): string {
  if (value === undefined) return 'openid email profile';
  if (!value.split(' ').includes('openid'))
    refuse('OIDC_SCOPES', value, 'scopes separated by spaces, openid among them');
  return value;
}

const rolesForm =
  'entries such as admins=ADMIN@28…;basel=EDITOR@29…: a group, a role, and the id of an organization or a workspace';

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
