// User: a person, with the roles in organizations and workspaces, also those of the sign-in provider (contract 2).
import type { EpochMs } from './instant.ts';
import type { AuditFields } from './record.ts';
import {
  everyPermission,
  type Permissions,
  type Scope,
  type Verb,
  verbsOfScope,
} from './principal.ts';

export const organizationRoles = ['OWNER', 'ADMIN', 'EDITOR', 'VIEWER', 'MEMBER'] as const;
export type OrganizationRole = (typeof organizationRoles)[number];

export const workspaceRoles = ['ADMIN', 'EDITOR', 'VIEWER'] as const;
export type WorkspaceRole = (typeof workspaceRoles)[number];

/** `GET /v3/auth/me` lists the permissions of this many workspaces (contract 37). */
export const callerWorkspacesMax = 1_000;

export interface User extends AuditFields {
  readonly id: string;
  readonly name: string;
  /** Lower case; unique. */
  readonly email: string;
  /** Argon2id with its parameters, as one string; null until an invitation is accepted. */
  readonly passwordHash: string | null;
  /**
   * Whether the user has shown to own the address: by a link that was mailed to it, or as the owner
   * of the installation.
   */
  readonly proven: boolean;
}

export interface Member<R extends string> {
  readonly id: string;
  readonly userId: string;
  readonly role: R;
  readonly created: EpochMs;
  /** Null while the invitation is open: the role counts for nothing until then. */
  readonly acceptedAt: EpochMs | null;
}

/** How a session began: `PROVIDER` is the OpenID Connect provider of the installation. */
export const signInKinds = ['PASSWORD', 'PASSKEY', 'PROVIDER'] as const;
export type SignInKind = (typeof signInKinds)[number];

export interface Session {
  readonly id: string;
  /** SHA-256 of the cookie's value. */
  readonly tokenHash: string;
  readonly userId: string;
  /** The organization that the user works in; one at a time. */
  readonly organizationId: string;
  readonly created: EpochMs;
  readonly lastSeen: EpochMs;
  readonly expiresAt: EpochMs;
  readonly signInKind: SignInKind;
  /** The beginning of what the browser said about itself; null when it said nothing. */
  readonly userAgent: string | null;
  /** Null for a session that began without a request. */
  readonly ip: string | null;
  /** The session at the provider, by the name that the provider gave it. */
  readonly providerSession: string | null;
  /** What the provider proved, sealed: it is shown again to sign out there. */
  readonly idToken: string | null;
}

export interface Invitation {
  readonly id: string;
  readonly tokenHash: string;
  /** Of the link that only the mail holds; null when no mail was sent. */
  readonly mailedTokenHash: string | null;
  readonly organizationId: string;
  readonly userId: string;
  readonly created: EpochMs;
  readonly expiresAt: EpochMs;
}

/** A mailed link that sets a new password. */
export interface PasswordReset {
  readonly tokenHash: string;
  readonly userId: string;
  readonly created: EpochMs;
  readonly expiresAt: EpochMs;
}

// E-mail address: the one form in which addresses are stored and compared.

/**
 * Lower-cases the letters A to Z only, because other scripts have letters that become one of these:
 * the Kelvin sign would turn the address of another person into `k` (contract 42).
 */
export function emailAddressOf(text: string): string {
  return text
    .replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '')
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

// Roles: the permissions of the roles of members, in one table (contract 2).

// What lives in workspaces, or serves what lives there.
const contentScopes = [
  'asset',
  'deviceType',
  'dataFlow',
  'integration',
  'rule',
  'customLogic',
  'deviceCredential',
  'dashboard',
  'dashboard.group',
  'blob',
  'dataFusionLayer',
] as const satisfies readonly Scope[];

const allOfContent: Permissions = Object.fromEntries(
  contentScopes.map((scope) => [scope, verbsOfScope[scope]]),
);
const readContent: Permissions = Object.fromEntries(
  contentScopes.map((scope) => [scope, ['read']]),
);

function without(verb: Verb, verbs: readonly Verb[]): readonly Verb[] {
  return verbs.filter((one) => one !== verb);
}

export const organizationRolePermissions: { readonly [R in OrganizationRole]: Permissions } = {
  OWNER: everyPermission,
  ADMIN: { ...everyPermission, organization: without('delete', verbsOfScope.organization) },
  EDITOR: {
    ...allOfContent,
    organization: ['read', 'update'],
    'organization.member': ['read'],
    workspace: ['create', 'read', 'update', 'delete'],
    'workspace.member': ['read'],
  },
  VIEWER: {
    ...readContent,
    organization: ['read'],
    'organization.member': ['read'],
    workspace: ['read'],
    'workspace.member': ['read'],
  },
  MEMBER: { organization: ['read'] },
};

/** Every role reads the same, so that a list over several workspaces needs no look at each. */
export const workspaceRolePermissions: { readonly [R in WorkspaceRole]: Permissions } = {
  ADMIN: {
    ...allOfContent,
    workspace: ['read', 'update', 'delete', 'manage'],
    'workspace.member': verbsOfScope['workspace.member'],
  },
  EDITOR: { ...allOfContent, workspace: ['read', 'update'], 'workspace.member': ['read'] },
  VIEWER: { ...readContent, workspace: ['read'], 'workspace.member': ['read'] },
};

// Sign-in provider: the OpenID Connect provider of the installation, and the roles that its groups give.

/** Members of a group have the role in an organization, or in one workspace. */
export type GroupRole =
  | { readonly group: string; readonly role: OrganizationRole; readonly organizationId: string }
  | { readonly group: string; readonly role: WorkspaceRole; readonly workspaceId: string };

export interface SignInProvider {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a public client, which has only the code verifier. */
  readonly clientSecret: string | undefined;
  /** What the button of the sign-in page names. */
  readonly label: string;
  readonly scopes: string;
  /** Name of the claim, or its path with dots. */
  readonly groupsClaim: string;
  readonly roles: readonly GroupRole[];
  /** Without any, addresses of every domain may sign in. */
  readonly allowedDomains: readonly string[];
  /** Whether addresses count as verified that the provider does not call so. */
  readonly trustsEmail: boolean;
}

/** A person as the provider has proven it. */
export interface ProvenPerson {
  readonly issuer: string;
  /** Never given to another person by the issuer. */
  readonly subject: string;
  /** Verified, in lower case. */
  readonly email: string | undefined;
  readonly name: string | undefined;
  readonly groups: readonly string[];
}

/** Why a sign-in by the provider led to no session; the sign-in page says it in words. */
const providerFailures = [
  'DENIED',
  'EXPIRED',
  'UNREACHABLE',
  'FAILED',
  'NO_ENTRY',
  'EMAIL_NOT_VERIFIED',
  'EMAIL_TAKEN',
  'TOO_MANY_ATTEMPTS',
] as const;
export type ProviderFailure = (typeof providerFailures)[number];
