// JSON objects: parses a string that may be anything.
import { isJsonObject, type JsonObject } from '../../model/json.ts';
import { parsedJson } from '../../model/json-keys.ts';

/** Undefined when the string is not JSON or is not an object. */
export function parseJsonObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = parsedJson(text);
    if (isJsonObject(value)) return value;
  } catch {
    return undefined;
  }
  return undefined;
}
