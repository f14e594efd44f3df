// Organization: the tenant that owns all other records (contract 1).
import type { JsonObject } from './json.ts';
import type { AuditFields } from './record.ts';

export interface Organization extends AuditFields {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** A data URL. */
  readonly logo: string | null;
  readonly ownerId: string;
  readonly properties: JsonObject | null;
}
