// Positions of followers: what was saved is found by the next process, however soon after another follower's.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FollowerPositions } from './journal-recovery.ts';

const directory = mkdtempSync(join(tmpdir(), 'heliograph-followers-'));
beforeEach(() => void mkdirSync(directory, { recursive: true }));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('a forced save waits until every position is on disk, also one told while another save runs', async () => {
  const positions = await FollowerPositions.open(directory, () => 1_000);
  positions.set('status', 1);
  const first = positions.save();
  positions.set('outputs', 2);
  // Within the second of the first save this one writes nothing by itself.
  const [forced, alsoForced] = [positions.save(true), positions.save(true)];
  for (const save of [first, forced]) await save;
  expect((await FollowerPositions.open(directory, () => 1_000)).get('outputs')).toBe(2);
  await alsoForced;
  const found = await FollowerPositions.open(directory, () => 1_000);
  expect([found.get('status'), found.get('outputs')]).toEqual([1, 2]);
});

test('reliability 1: a clock that steps back keeps no position from the disk', async () => {
  let now = 1_000;
  const positions = await FollowerPositions.open(directory, () => now);
  positions.set('status', 1);
  await positions.save();
  now -= 86_400_000;
  positions.set('status', 2);
  await positions.save();
  expect((await FollowerPositions.open(directory, () => now)).get('status')).toBe(2);
});
