// The value of a data key in a sample: first looked up as it stands, then as a path (contract 35).
import { isJsonObject, type Json, type JsonObject } from './json.ts';

/** Undefined when the sample has no such key. At every depth a key that itself contains dots wins, then the shortest first step. */
export function dataValue(data: JsonObject, dataKey: string): Json | undefined {
  if (Object.hasOwn(data, dataKey)) return data[dataKey];
  for (let dot = dataKey.indexOf('.'); dot >= 0; dot = dataKey.indexOf('.', dot + 1)) {
    const head = dataKey.slice(0, dot);
    const inner = Object.hasOwn(data, head) ? data[head] : undefined;
    if (!isJsonObject(inner)) continue;
    const value = dataValue(inner, dataKey.slice(dot + 1));
    if (value !== undefined) return value;
  }
  return undefined;
}
