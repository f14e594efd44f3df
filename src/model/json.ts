// JSON values: TypeScript types and the test for objects.

export type JsonScalar = string | number | boolean | null;
export type Json = JsonScalar | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Whether a value is a JSON object: neither null, nor an array, nor a scalar. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value when it is a JSON object; otherwise an object without members. */
export function objectOrEmpty(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
