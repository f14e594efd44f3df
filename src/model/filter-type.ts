// Filter types: the kinds of values that a filterable field has, one or more (interface 2.9).

export const filterTypes = [
  'STRING',
  'NUMBER',
  'DATE',
  'BOOLEAN',
  'ENUM',
  'LIST',
  'CUSTOM_FIELD',
] as const;
export type FilterType = (typeof filterTypes)[number];
