// Build output: addresses of workers, and files that are not TypeScript.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyAssets, pointUrlsAtJavaScript } from './build-output.ts';
import { plantedProject } from './fixture-project.ts';

test('addresses of TypeScript files next to the code name the compiled files', () => {
  const worker = "new Worker(new URL('./worker.ts', import.meta.url));";
  const script = 'readFileSync(new URL("../demo/decoder.js", import.meta.url));';
  const root = plantedProject({
    'scripting/host.js': `${worker}\n${script}\nconst said = './worker.ts';\n`,
  });
  expect(pointUrlsAtJavaScript(root)).toBe(1);
  const text = readFileSync(join(root, 'scripting/host.js'), 'utf8');
  expect(text).toBe(`${worker.replace('.ts', '.js')}\n${script}\nconst said = './worker.ts';\n`);
});

test('every file that is not TypeScript is copied to the same place', () => {
  const root = plantedProject({
    'clients/demo/devices/decoder.js': 'function consume() {}\n',
    'clients/demo/devices/list.json': '[]',
    'clients/demo/devices/source.ts': 'export {};\n',
  });
  expect(copyAssets(join(root, 'clients'), join(root, 'dist'))).toBe(2);
  expect(readFileSync(join(root, 'dist/demo/devices/decoder.js'), 'utf8')).toBe(
    'function consume() {}\n',
  );
  expect(existsSync(join(root, 'dist/demo/devices/list.json'))).toBe(true);
  expect(existsSync(join(root, 'dist/demo/devices/source.ts'))).toBe(false);
});
