// JSON values: TypeScript types and the test for objects.

type JsonScalar = string | number | boolean | null;
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

// JSON bytes: the structural characters for a scan of UTF-8 bytes.

export const jsonBytes = {
  quote: 0x22,
  comma: 0x2c,
  backslash: 0x5c,
  openBracket: 0x5b,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
  newline: 0x0a,
} as const;

/** Whether JSON allows the byte between its tokens; false after the end. */
export function isJsonWhitespace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
