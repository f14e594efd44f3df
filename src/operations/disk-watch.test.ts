// Disk watch: on a real folder, whose disk is full when the journal says so.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DataFolderError } from '../storage/data-folder/data-folder.ts';
import { DiskWatch, reserveLimits } from './disk-watch.ts';
import { manualTimers } from '../structures/testing-timers.ts';
import { telemetryOf } from '../telemetry/testing-telemetry.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'heliograph-disk-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function opened() {
  const timers = manualTimers();
  const events: string[] = [];
  const watch = new DiskWatch(
    directory,
    telemetryOf({
      writingChanged: ({ kind }) => void events.push(kind),
      descriptorsProbed: (isOut) => void (isOut && events.push('no descriptors')),
      backgroundFailed: (what, error) => void events.push(`${what}: ${String(error)}`),
    }),
    timers.setTimer,
  );
  return { watch, timers, events };
}

test('free space and the bytes of all files are known after the first look', async () => {
  mkdirSync(join(directory, 'samples'));
  writeFileSync(join(directory, 'samples', 'file'), 'x'.repeat(1_000));
  const { watch, timers, events } = opened();
  expect(watch.freeBytes()).toBeNaN();
  expect(timers.delays()).toEqual([2_000]);
  await watch.close();
  expect(timers.delays()).toEqual([]);
  expect(watch.freeBytes()).toBeGreaterThan(2 * reserveLimits.bytes);
  expect(watch.folderBytes()).toBe(1_000);
  expect(events).toEqual(['writing']);
});

test('a full journal stops samples until the reserve is filled again', async () => {
  const { watch, timers, events } = opened();
  watch.writingChanged({ kind: 'full', error: new Error('full') });
  expect(watch.isFull()).toBe(true);
  watch.writingChanged({ kind: 'writing' });
  expect(events).toEqual(['full']);
  const cause = new Error('cannot open');
  expect(() => watch.explain(cause)).toThrow(DataFolderError);
  expect(() => watch.explain(cause)).toThrow(/16 MiB/);
  timers.fire();
  await watch.close();
  expect(watch.isFull()).toBe(false);
  expect(events.at(-1)).toBe('writing');
  expect(() => watch.explain(cause)).toThrow(cause);
});

test('a look that fails is reported', async () => {
  const { watch, events } = opened();
  rmSync(directory, { recursive: true });
  await watch.close();
  expect(events).toEqual([expect.stringMatching(/^looking at the disk: Error: ENOENT/)]);
});
