// Custom field values: attributes and variables of other platforms in the types of custom fields.
import type { CustomFieldType } from '../../src/model/device.ts';
import type { Json } from '../../src/model/json.ts';

export type FieldType = CustomFieldType;

/** The type of a new field for the value. */
export function fieldTypeOf(value: Json): FieldType {
  if (typeof value === 'number') return 'NUMBER';
  return typeof value === 'string' ? 'STRING' : 'JSON';
}

/** The value as a field of the type has it; undefined when it does not fit. */
export function fieldValue(type: FieldType, value: Json): Json | undefined {
  if (type === 'STRING') return typeof value === 'string' ? value : JSON.stringify(value);
  if (type !== 'NUMBER') return value;
  const isNumeric = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');
  const number = isNumeric ? Number(value) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}
