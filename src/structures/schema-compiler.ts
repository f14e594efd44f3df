// Schema compiler: checks of values against schemas, with the compiler loaded at the end of the start.
import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';
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

/**
 * Loads the compiler and what it uses, in parts of some 40 ms, so that the first check does not hold
 * the event loop. A start waits for it: later, without a free file descriptor, no module loads.
 */
export async function loadSchemaCompiler(): Promise<void> {
  await import('typebox/schema');
  await setImmediate();
  await import('typebox/value');
  await setImmediate();
  await import('typebox/compile');
}
