// The lint settings catch planted mistakes, those that need types included.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runInstalled } from './installed-program.ts';
import { plantedProject } from './fixture-project.ts';

const root = join(import.meta.dirname, '..');

test('each planted mistake is named, and a clean file is not', async () => {
  const planted = plantedProject({
    'tsconfig.json':
      '{ "compilerOptions": { "strict": true, "module": "NodeNext" }, "include": ["src"] }',
    'src/clean.ts': 'export const two = (a: number): boolean => a === 2;\n',
    'src/floating.ts': 'async function late(): Promise<void> {}\nlate();\n',
    'src/any.ts': 'export const value: any = 1;\n',
    'src/thrown.ts': "export function fail(): never {\n  throw 'no error';\n}\n",
    'src/silenced.ts': '// @ts-ignore\nexport const value: number = 1;\n',
    'src/loose.ts': 'export const two = (a: number): boolean => a == 2;\n',
  });
  const settings = ['--config', join(root, '.oxlintrc.json')];
  const { succeeded, output } = await runInstalled(
    'oxlint',
    'oxlint',
    ['--type-aware', '--format=unix', ...settings, 'src'],
    planted,
  );
  expect(succeeded).toBe(false);
  for (const [file, rule] of [
    ['floating', 'no-floating-promises'],
    ['any', 'no-explicit-any'],
    ['thrown', 'only-throw-error'],
    ['silenced', 'ban-ts-comment'],
    ['loose', 'eqeqeq'],
  ])
    expect(output).toMatch(new RegExp(`${file}\\.ts:.*${rule}`));
  expect(output).not.toContain('clean.ts');
});
