// Record: the members that nearly all records have, its owner for authorization, the notification of a change, and its audit entry (contract 26).
import type { Author } from './principal.ts';
import type { RecordKind } from './ids.ts';
import type { EpochMs } from './instant.ts';
import type { Json } from './json.ts';

export interface AuditFields {
  readonly created: EpochMs;
  /** Null until the first update. */
  readonly updated: EpochMs | null;
  /** Starts at 0, one more with every update (contract 0). */
  readonly version: number;
}

/** Told to everybody who keeps something in memory, after the change is durable. */
export type RecordChange = (MemberChange | StateChange | OtherChange) & {
  readonly id: string;
  readonly action: 'created' | 'updated' | 'deleted';
  /** Of changes with an author, as the audit log has them. */
  readonly about?: ChangedRecord;
};

/** Keeps something of records in memory. */
export class ChangeFollower {
  /** Call for every record change, once it is durable. */
  readonly recordChanged: (change: RecordChange) => void;

  /** A follower that keeps nothing in memory, so that missed changes need no action. */
  constructor(recordChanged: ChangeFollower['recordChanged']) {
    this.recordChanged = recordChanged;
  }

  /** Call when changes of other nodes were missed: every record may have changed. */
  readonly changesMissed = (): void => undefined;
}

interface MemberChange {
  readonly kind: 'member';
  /** Whose rights change. */
  readonly userId: string;
}

/** A condition state of a device, or of a rule for its timed runs; `id` is that one's. */
interface StateChange {
  readonly kind: 'conditionState';
}

interface OtherChange {
  readonly kind: Exclude<RecordKind, 'member'>;
}

export interface ChangedRecord {
  readonly organizationId: string;
  /** Null for a record of the organization itself. */
  readonly workspaceId: string | null;
  /** The workspace that it left with the change. */
  readonly leftWorkspaceId: string | null;
  readonly name: string | null;
  readonly by: Author;
}

// Resource reference: the owner of a record, which authorization compares with the reach of a credential.

export interface Place {
  /**
   * Null for records of the installation itself, which everybody may read and nobody may change.
   */
  readonly organizationId: string | null;
  /** Null for records of the organization itself. */
  readonly workspaceId: string | null;
  /** What the record is called in a 404, for example `device`. */
  readonly what: string;
  readonly id: string;
}

// Audit entry: the author, the time and the content of one change, and the activity of one request (contract 26, 37).

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
