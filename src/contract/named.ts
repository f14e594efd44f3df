// Names of schemas: the OpenAPI document lists a named schema once and refers to it everywhere else.
import Type, { type TProperties, type TSchema } from 'typebox';

/**
 * Gives a new schema its name in the OpenAPI document, as its `title`; two different schemas cannot
 * share one.
 */
export function named<T extends TSchema>(title: string, schema: T): T {
  return Object.assign(schema, { title });
}

/** An object schema with a name of its own in the OpenAPI document. */
export function namedObject<P extends TProperties>(title: string, properties: P) {
  return named(title, Type.Object(properties));
}

/** The same for a part of a body that no other product has, so that unknown members are refused. */
export function ownObject<P extends TProperties>(title: string, properties: P) {
  return named(title, Type.Object(properties, { additionalProperties: false }));
}

// Shown schemas: what the OpenAPI document says of a value whose handler checks it more closely than its schema.

/** Adds what the document shows in place of the schema. The server checks only the schema. */
export function shownAs<T extends TSchema>(shown: object, schema: T): T {
  return Object.assign(schema, { shownAs: shown });
}
