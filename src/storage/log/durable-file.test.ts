// Folders of the data folder: made once, and there after a power cut, because every folder that got an entry was synced.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeFolder } from './durable-file.ts';

const root = mkdtempSync(join(tmpdir(), 'heliograph-folders-'));
afterAll(() => rmSync(root, { recursive: true }));

async function syncedBy(path: string): Promise<string[]> {
  const synced: string[] = [];
  await makeFolder(path, async (directory) => void synced.push(directory));
  expect(existsSync(path)).toBe(true);
  return synced;
}

test('review rules 7: every folder that got an entry is synced, from the inside out, and the one above at each later start', async () => {
  const journal = join(root, 'samples', 'journal');
  expect(await syncedBy(journal)).toEqual([join(root, 'samples'), root]);
  expect(await syncedBy(journal)).toEqual([join(root, 'samples')]);
  expect(await syncedBy(join(root, 'uplinks'))).toEqual([root]);
  await makeFolder(join(root, 'really', 'synced'));
  expect(existsSync(join(root, 'really', 'synced'))).toBe(true);
});

test('review rules 7: a folder that cannot be synced is an error, not a hope', async () => {
  const failing = async () => {
    throw new Error('EIO');
  };
  await expect(makeFolder(join(root, 'other'), failing)).rejects.toThrow('EIO');
});
