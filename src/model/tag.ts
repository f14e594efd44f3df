// Tag: a named group of devices of one workspace (contract 6).
import type { AuditFields } from './record.ts';

export interface Tag extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly description: string | null;
  /** `#RRGGBB` */
  readonly color: string | null;
}
