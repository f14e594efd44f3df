// No raw uplinks: nothing of earlier starts is left.
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeRawUplinks } from './raw-uplink-list.ts';

test('the folder and the follower are removed, and lists are empty', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-raw-'));
  writeFileSync(join(directory, 'segment'), 'x');
  const removed: string[] = [];
  const raw = removeRawUplinks({ removeFollower: (name) => void removed.push(name) }, directory);
  expect([existsSync(directory), removed]).toEqual([false, ['raw-uplinks']]);
  expect(await raw.list({ deviceId: 'd', skip: 0, limit: 10 })).toEqual({ uplinks: [], total: 0 });
  await raw.dropDevices(new Set(['d']));
  await raw.runMaintenance();
  await raw.close();
});
