// Search: what a search over all records finds, and the kinds of records that it covers (contract 37).

export const searchKinds = [
  'DEVICE',
  'TAG',
  'PLACE',
  'CUSTOM_FIELD',
  'DEVICE_TYPE',
  'DATA_FLOW',
  'DEVICE_CONNECTOR',
  'OUTPUT_CONNECTOR',
  'INTEGRATION',
  'RULE',
  'CUSTOM_LOGIC',
  'DASHBOARD',
  'DASHBOARD_GROUP',
  'VIEW',
  'BLOB',
  'WORKSPACE',
  'MEMBER',
  'API_KEY',
  'OAUTH_CLIENT',
] as const;
export type SearchKind = (typeof searchKinds)[number];

export const searchLimitDefault = 20;
export const searchLimitMax = 100;
export const searchLengthMax = 200;

/** The field of the record that matched. `tag` is the name of a tag of the device. */
export const searchFields = [
  'id',
  'name',
  'deviceId',
  'deviceEui',
  'tag',
  'email',
  'manufacturer',
] as const;
export type SearchField = (typeof searchFields)[number];

export interface SearchHit {
  readonly kind: SearchKind;
  readonly id: string;
  readonly name: string;
  /** Null for records of the organization itself. */
  readonly workspaceId: string | null;
  readonly match: { readonly field: SearchField; readonly value: string };
}
