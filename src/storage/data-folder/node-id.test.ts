// Node id: one for each data folder, and never another one.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nodeIdOf } from './data-folder.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'node-id-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('the first start creates it, later ones read it', async () => {
  const id = await nodeIdOf(directory);
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(await nodeIdOf(directory)).toBe(id);
});

test('a damaged one stops the start', async () => {
  await nodeIdOf(directory);
  writeFileSync(join(directory, 'node-id'), '00000000 another\n');
  await expect(nodeIdOf(directory)).rejects.toThrow(/node-id is corrupted/);
});
