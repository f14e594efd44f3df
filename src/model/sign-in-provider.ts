// Sign-in provider: the OpenID Connect provider of the installation, and the roles that its groups give.
import type { OrganizationRole, WorkspaceRole } from './user.ts';

/** The group of every person who may sign in. */
export const everyGroup = '*';

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
