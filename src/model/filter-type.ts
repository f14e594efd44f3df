// What a filterable field can be asked; a field has one or more of these types (interface 2.9).

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
