// Metric properties of Sparkplug B as JSON: sets within sets, with what their senders wrote.
import type { Json } from '../../model/json.ts';
import { standInName } from '../../model/stand-in-name.ts';
import { jsonValue } from './metric-value.ts';
import type { Property, PropertySet, WireValue } from './sparkplug-payload.ts';

/** Undefined without any. A value that does not fit its type is null. */
export function propertiesOf(set: PropertySet | undefined): Json | undefined {
  if (set === undefined || set.keys.length === 0) return undefined;
  return setValue(set);
}

/** A key without a value is null. */
function setValue({ keys, values }: PropertySet): Json {
  return Object.fromEntries(keys.map((key, i) => [standInName(key), propertyValue(values[i])]));
}

function propertyValue(property: Property | undefined): Json {
  if (property === undefined || property.isNull === true) return null;
  const { value, type = 0 } = property;
  // Bytes have a function of that name.
  if (typeof value === 'object' && 'values' in value && Array.isArray(value.values))
    return setValue(value as PropertySet);
  if (typeof value === 'object' && 'sets' in value) return value.sets.map(setValue);
  return jsonValue(value as WireValue | undefined, type, () => undefined);
}
