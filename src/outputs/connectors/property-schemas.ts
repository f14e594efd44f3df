// Property schemas: members of the property objects as clients send them, each with its description.
import Type, { type TSchema } from 'typebox';

/** A member that may be absent or null. */
export function optional<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** One of a list of strings. */
export function oneOf<const T extends readonly string[]>(values: T) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: values });
}

export function text(description: string): TSchema {
  return Type.String({ description });
}

export function optionalText(description: string) {
  return optional(Type.String({ description }));
}

export function optionalFlag(description: string) {
  return optional(Type.Boolean({ description }));
}

/** A map of strings. */
export function optionalTexts(description: string) {
  const schema = { type: 'object', additionalProperties: { type: 'string' }, description };
  return optional(Type.Unsafe<object>(schema));
}

export const anyText = Type.String();
export const anyObject = Type.Unsafe<object>({ type: 'object' });
