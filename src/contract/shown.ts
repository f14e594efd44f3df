// Shown schemas: what the OpenAPI document says of a value whose handler checks it more closely than its schema.
import type { TSchema } from 'typebox';

/** Adds what the document shows in place of the schema. The server checks only the schema. */
export function shownAs<T extends TSchema>(shown: object, schema: T): T {
  return Object.assign(schema, { shownAs: shown });
}
