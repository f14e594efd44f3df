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
