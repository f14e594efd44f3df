// Schema compiler: checks of values against schemas, with the compiler loaded at the first use.
import { createRequire } from 'node:module';
import type { TProperties, TSchema } from 'typebox';
import type * as TypeBoxCompile from 'typebox/compile';

// The compiler is the largest part of the schema library, and a starting server does not need it
// yet.
const load = createRequire(import.meta.url);

/** Compiles the schema to a function that checks values. */
export function compileSchema<T extends TSchema>(
  schema: T,
): TypeBoxCompile.Validator<TProperties, T> {
  const { Compile } = load('typebox/compile') as typeof TypeBoxCompile;
  return Compile(schema);
}
