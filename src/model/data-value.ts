// Data value: the value of a data key in a sample, by the exact name or by path (contract 35).
import { isJsonObject, type Json, type JsonObject } from './json.ts';

/**
 * Undefined when the sample has no such key. At every depth a key that itself contains dots wins,
 * then the shortest first step. Elements of arrays are numbered from 0: `list.0.key`.
 */
export function dataValue(data: JsonObject, dataKey: string): Json | undefined {
  if (Object.hasOwn(data, dataKey)) return data[dataKey];
  for (let dot = dataKey.indexOf('.'); dot >= 0; dot = dataKey.indexOf('.', dot + 1)) {
    const head = dataKey.slice(0, dot);
    if (!Object.hasOwn(data, head)) continue;
    const value = valueAt(data[head], dataKey.slice(dot + 1));
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The same for a path that begins in any value: an object or an array. */
export function valueAt(value: Json | undefined, path: string): Json | undefined {
  if (Array.isArray(value)) return elementAt(value, path);
  return isJsonObject(value) ? dataValue(value, path) : undefined;
}

/** Whether a path may name an element of an array, or something inside one. */
export function isElementPath(path: string): boolean {
  return /^\d{1,9}(?:\.|$)/.test(path);
}

function elementAt(list: readonly Json[], path: string): Json | undefined {
  if (!isElementPath(path)) return undefined;
  const dot = path.indexOf('.');
  if (dot < 0) return list[Number(path)];
  return valueAt(list[Number(path.slice(0, dot))], path.slice(dot + 1));
}
