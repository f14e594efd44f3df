// Keys of the columns of the device list, as its address has them.

export const standardColumns = ['seen', 'type', 'tags', 'values', 'battery'] as const;
export type StandardColumn = (typeof standardColumns)[number];

export type ColumnName =
  | { readonly kind: 'standard'; readonly name: StandardColumn }
  /** A custom field. */
  | { readonly kind: 'field'; readonly name: string }
  /** A value of the newest sample of a topic. */
  | { readonly kind: 'value'; readonly topic: string; readonly key: string };

export function columnKey(column: ColumnName): string {
  if (column.kind === 'standard') return column.name;
  if (column.kind === 'field') return `field:${encodeURIComponent(column.name)}`;
  return `value:${encodeURIComponent(column.topic)}:${encodeURIComponent(column.key)}`;
}

/** Undefined for an unknown key, such as a mistake in an address. */
export function readColumnKey(key: string): ColumnName | undefined {
  const name = standardColumns.find((one) => one === key);
  if (name !== undefined) return { kind: 'standard', name };
  const [kind, first = '', second = ''] = key.split(':').map(decoded);
  if (kind === 'field' && first !== '') return { kind, name: first };
  if (kind === 'value' && second !== '') return { kind, topic: first, key: second };
  return undefined;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
