// An API key as it is kept: never its secret, only the secret's hash (interface 2.6, contract 23).
import type { EpochMs } from './instant.ts';
import type { Permissions } from './permission.ts';

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly organizationId: string;
  readonly allWorkspaces: boolean;
  /** Empty when `allWorkspaces`. */
  readonly workspaceIds: readonly string[];
  readonly permissions: Permissions;
  /** SHA-256 of the whole secret, hexadecimal. */
  readonly secretHash: string;
  /** The secret's first characters, so that people recognise a key. */
  readonly secretPrefix: string;
  readonly created: EpochMs;
  readonly lastUsed: EpochMs | null;
}
