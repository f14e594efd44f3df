// Credentials of machines, stored as hashes and never as secrets, and when they expire (interface 2.5, 2.6; contract 23, 24).
import { type EpochMs, parseInstant } from './instant.ts';
import type { Permissions } from './permission.ts';
import { problem } from './problem.ts';

/** What a credential may do and where; never changed after creation (interface 5 rule 6). */
export interface Grant {
  readonly organizationId: string;
  readonly allWorkspaces: boolean;
  /** Empty when `allWorkspaces`. */
  readonly workspaceIds: readonly string[];
  readonly permissions: Permissions;
}

interface MachineCredential extends Grant {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** SHA-256 of the whole secret, hexadecimal. */
  readonly secretHash: string;
  readonly created: EpochMs;
}

export interface ApiKey extends MachineCredential {
  /** The secret's first characters, so that people recognise a key. */
  readonly secretPrefix: string;
  readonly lastUsed: EpochMs | null;
  /** The key is rejected from this time on; null: never. */
  readonly expiration: EpochMs | null;
}

export interface OAuthClient extends MachineCredential {
  /** The public name that a client gives at the token endpoint. */
  readonly clientId: string;
}

// Expiration of a credential, as a request sends it.

/** Null for a credential that does not expire. Throws 400 for what is not a time. */
export function expirationFrom(sent: string | null | undefined): EpochMs | null {
  if (sent === undefined || sent === null) return null;
  const ms = parseInstant(sent);
  if (ms === undefined)
    throw problem('invalidRequest', { reason: 'body expiration: must be an ISO-8601 date-time' });
  return ms;
}
