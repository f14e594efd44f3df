// The schema compiler checks values, and is not loaded before it is used.
import { execFileSync } from 'node:child_process';
import Type from 'typebox';
import { expect, test } from 'vitest';
import { compileSchema } from './schema-compiler.ts';

test('a compiled schema accepts values that fit, and reports where others differ', () => {
  const validator = compileSchema(Type.Object({ name: Type.String() }));
  expect(validator.Check({ name: 'room' })).toBe(true);
  expect(validator.Check({ name: 1 })).toBe(false);
  expect(validator.Errors({ name: 1 })[0]).toMatchObject({ instancePath: '/name' });
});

test('a platform that starts does not load the compiler', () => {
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    await import(${JSON.stringify(new URL('../app/platform.ts', import.meta.url).href)});
    console.log(loaded.filter((url) => url.includes('typebox/build/compile')).length);`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  expect(output.trim()).toBe('0');
});
