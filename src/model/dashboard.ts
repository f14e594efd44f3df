// Dashboards and their groups: configuration for the console, stored as the client sent it (contract 32).
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
  readonly configuration: JsonObject;
}
