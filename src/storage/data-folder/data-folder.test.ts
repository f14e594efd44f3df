// One process a data folder, however the last one ended.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DataFolder, DataFolderError } from './data-folder.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'heliograph-folder-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a second claim is refused with the folder, the holder and the way out', () => {
  const first = new DataFolder(folder);
  expect(() => new DataFolder(folder)).toThrow(DataFolderError);
  expect(() => new DataFolder(folder)).toThrow(
    `in use by another Heliograph process (process ${process.pid})`,
  );
  first.release();
  new DataFolder(folder).release();
});

// A process of its own: a busy machine may take long to start one.
const processTimeoutMs = 60_000;

test('a folder held by a killed process is free again', { timeout: processTimeoutMs }, async () => {
  const program = `import { DataFolder } from ${JSON.stringify(new URL('./data-folder.ts', import.meta.url).href)};
    // Kept reachable: the garbage collector closes a database that is not, and with it the lock.
    globalThis.claimed = new DataFolder(process.argv[1]); console.log('held'); setInterval(() => {}, 1000);`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', program, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(holder, 'exit');
  const held = await Promise.race([once(holder.stdout, 'data'), ended.then(() => undefined)]);
  expect(held, 'the process ended before it held the folder').toBeDefined();
  expect(() => new DataFolder(folder)).toThrow(`process ${holder.pid}`);
  holder.kill('SIGKILL');
  await ended;
  new DataFolder(folder).release();
});

test('a folder that cannot be made is refused with the reason', () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect(() => new DataFolder(join(file, 'data'))).toThrow(/cannot be created/);
});
