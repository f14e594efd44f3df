// Custom fields: additional fields that a workspace defines, and their values for a device (contract 5).
import type { EpochMs } from './instant.ts';
import type { Json } from './json.ts';
import type { AuditFields } from './record.ts';

export const customFieldTypes = ['NUMBER', 'STRING', 'DATE', 'JSON', 'GPS_COORDINATES'] as const;
export type CustomFieldType = (typeof customFieldTypes)[number];

export interface CustomFieldMeta extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  /** Unique within the workspace. */
  readonly name: string;
  readonly description: string | null;
  readonly type: CustomFieldType;
  /** Every device of the workspace has a value. */
  readonly required: boolean;
  /** The only texts a STRING field takes; null for any. */
  readonly selectOptions: readonly string[] | null;
}

/**
 * A device's value: a number, a string, an ISO-8601 date-time, any JSON, or {latitude, longitude},
 * by the field's type.
 */
export interface CustomFieldValue {
  readonly meta: CustomFieldMeta;
  readonly value: Json;
  readonly created: EpochMs;
  readonly updated: EpochMs | null;
}
