// A data key in a data object: first as it stands, then as a dotted path (contract 35).
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';

/** The value the key names; undefined when there is none. A key that itself contains dots is found first, at every depth. */
export function lookUp(data: JsonObject, dataKey: string): Json | undefined {
  if (Object.hasOwn(data, dataKey)) return data[dataKey];
  for (let dot = dataKey.indexOf('.'); dot >= 0; dot = dataKey.indexOf('.', dot + 1)) {
    const head = dataKey.slice(0, dot);
    const child = Object.hasOwn(data, head) ? data[head] : undefined;
    const found = isJsonObject(child) ? lookUp(child, dataKey.slice(dot + 1)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
