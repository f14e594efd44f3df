// Schema compiler: checks of values against schemas, with the compiler loaded after the start.
import { createRequire } from 'node:module';
import type { TProperties, TSchema } from 'typebox';
import type * as TypeBoxCompile from 'typebox/compile';

// The compiler is the largest part of the schema library: it would delay the start.
const load = createRequire(import.meta.url);

/** Compiles the schema to a function that checks values. */
export function compileSchema<T extends TSchema>(
  schema: T,
): TypeBoxCompile.Validator<TProperties, T> {
  const { Compile } = load('typebox/compile') as typeof TypeBoxCompile;
  return Compile(schema);
}

/** Loads the compiler in the background, so that the first check does not hold the event loop. */
export async function loadSchemaCompiler(): Promise<void> {
  await import('typebox/compile');
}
