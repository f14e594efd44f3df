// Activity: what one request changed in a workspace, as its readers can see it (contract 37).
import type { Actor } from './actor.ts';
import type { AuditAction, AuditEntry } from './audit-entry.ts';
import type { EpochMs } from './instant.ts';

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
  readonly actor: Pick<Actor, 'type' | 'id' | 'name'>;
  /** The first and the last change. */
  readonly started: EpochMs;
  readonly timestamp: EpochMs;
  readonly changes: readonly ChangeCount[];
  /** The first ones. */
  readonly records: readonly NamedChange[];
}
