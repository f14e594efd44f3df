// Who is asking: the holder of a credential and what it may reach (interface 5).
import type { Permissions } from './permission.ts';

export interface Principal {
  readonly kind: 'USER' | 'API_KEY' | 'OAUTH_CLIENT';
  /** Record id of the user, key or client. */
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  /** `all` includes workspaces created later; otherwise only the listed ones. */
  readonly workspaces: 'all' | ReadonlySet<string>;
  readonly permissions: Permissions;
}
