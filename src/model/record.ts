// Record: the members that nearly all records have, its owner for authorization, and the notification of a change.
import type { Author } from './principal.ts';
import type { RecordKind } from './ids.ts';
import type { EpochMs } from './instant.ts';

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
