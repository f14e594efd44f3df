// Audit entry: the author, the time and the content of one change, and the activity of one request (contract 26, 37).
import type { Author } from './principal.ts';
import type { EpochMs } from './instant.ts';
import type { Json } from './json.ts';

export const auditActions = ['CREATE', 'UPDATE', 'DELETE', 'LOGIN', 'LOGOUT'] as const;
export type AuditAction = (typeof auditActions)[number];

/** How one field changed; a secret is named without its values. */
export interface FieldChange {
  readonly field: string;
  readonly before?: Json;
  readonly after?: Json;
  readonly secret?: true;
}

export interface AuditEntry {
  readonly id: string;
  readonly timestamp: EpochMs;
  readonly organizationId: string;
  readonly workspaceId: string | null;
  readonly actor: Author;
  readonly action: AuditAction;
  /** The kind of record in capitals, such as `DEVICE_TYPE`. */
  readonly resourceType: string;
  readonly resourceId: string;
  readonly resourceName: string | null;
  readonly requestId: string | null;
  readonly ip: string | null;
  readonly changes: readonly FieldChange[];
}

// Activity: what one request changed in a workspace, as its readers can see it (contract 37).

/** Records that an activity names; the others are only counted. */
export const namedRecordsMax = 10;

export interface ChangeCount {
  readonly action: AuditAction;
  readonly resourceType: string;
  readonly count: number;
}

export type NamedChange = Pick<
  AuditEntry,
  'action' | 'resourceType' | 'resourceId' | 'resourceName'
>;

export interface Activity {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  /** Null for changes of the platform itself. */
  readonly requestId: string | null;
  readonly actor: Author;
  /** The first and the last change. */
  readonly started: EpochMs;
  readonly timestamp: EpochMs;
  readonly changes: readonly ChangeCount[];
  /** The first ones. */
  readonly records: readonly NamedChange[];
}
