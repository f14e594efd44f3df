// Adopting a copy: which node is meant, and what is said of an id that cannot be one.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readConfig } from '../config/config.ts';
import { nodeIdOf } from '../../storage/data-folder/data-folder.ts';
import { adoptCopy } from './adopt.ts';

const folder = mkdtempSync(join(tmpdir(), 'heliograph-adopt-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const id = await nodeIdOf(folder);
const file = readFileSync(join(folder, 'node-id'), 'utf8');
const [checksum = ''] = file.split(' ');

/** The platform is none of several nodes, which is found after the id was understood. */
const understood = 'NODE_URL is not set';

test.each<[string, string[], string]>([
  ['the id', [id], understood],
  ['the whole file as it stands', [file], understood],
  ['the words of the file', [checksum, id], understood],
  ['nothing', [], 'Usage: heliograph adopt NODE'],
  ['too much', [checksum, id, id], 'Usage: heliograph adopt NODE'],
  ['the checksum alone', [checksum], `"${checksum}" is not the id of a node`],
  ['an id with a wrong checksum', ['00000000', id], `"00000000" does not belong to the id ${id}`],
])('reliability 4: %s', async (_, words, message) => {
  const config = readConfig({ DATA_DIR: folder });
  await expect(adoptCopy(config, words, () => undefined)).rejects.toThrow(message);
});
