// Dashboards, their groups and saved views: what users arrange for themselves, stored as the client sent it (contract 32, 37).
import type { Author } from './principal.ts';
import type { EpochMs } from './instant.ts';
import type { JsonObject } from './json.ts';
import type { AuditFields } from './record.ts';

export interface DashboardGroup extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly description: string | null;
}

export interface Dashboard extends DashboardGroup {
  /** A group of the same workspace; null for none. */
  readonly groupId: string | null;
  /** The device type whose devices show it; one for a type in each workspace. */
  readonly deviceTypeId: string | null;
  /** The kind of the places that show it; one for a kind in each workspace. */
  readonly placeKind: string | null;
  readonly configuration: JsonObject;
}

/** One of the newest versions of a dashboard. */
export interface DashboardVersion {
  readonly version: number;
  readonly at: EpochMs;
  /** Null for a change of the platform itself. */
  readonly by: Author | null;
  readonly name: string;
  /** Of the record as JSON. */
  readonly bytes: number;
}

// Saved view: a filter with its columns, or anything like it, that a console shows again (contract 37).

export interface View extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly description: string | null;
  /** What it is a view of, such as `devices`: a word of the console. */
  readonly kind: string;
  /** Whether all readers of the workspace see it, else only its owner. */
  readonly shared: boolean;
  /** Id of the user, API key or OAuth client that created it. */
  readonly ownerId: string;
  readonly content: JsonObject;
}
