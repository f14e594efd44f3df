// Duplicate recovery: which journal entries the filter knows after a start.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { DuplicateFilter, duplicateLimits } from '../../transports/duplicate-filter.ts';
import { ShapeInterner, LeafValues } from '../../storage/log/data-shape.ts';
import type { EntryToEncode } from '../../storage/log/entry-codec.ts';
import { EntryLog } from '../../storage/log/entry-log.ts';
import { collect, entryOf } from '../../storage/samples/conformance/sample-entries.ts';
import { recoverDuplicates } from './duplicate-recovery.ts';

const now = 10 * duplicateLimits.windowMs;
const outdated = now - duplicateLimits.windowMs;

async function recovered(
  batches: readonly (readonly [key: string, at: number][])[],
  firstInWindow = 0,
) {
  const remembered: string[] = [];
  const doubted: string[] = [];
  const readFrom: number[] = [];
  await recoverDuplicates({
    filter: { remember: (key) => remembered.push(key), doubt: (key) => doubted.push(key) },
    log: {
      position: duplicateLimits.recoveredEntriesMax + 7,
      positionAt: async (storedAt) => {
        expect(storedAt).toBe(outdated);
        return firstInWindow;
      },
      async *duplicateKeysFrom(position) {
        readFrom.push(position);
        for (const batch of batches)
          yield batch.map(([duplicateKey, receivedAt]) => ({ duplicateKey, receivedAt }));
      },
    },
    confirmedAfterMs: 1_000,
    now,
  });
  return { remembered, doubted, readFrom };
}

test('the newest entries are read, and keys within the window are known', async () => {
  const { remembered, readFrom } = await recovered([
    [
      ['old', outdated],
      ['first', outdated + 1],
    ],
    [
      ['key id part hash', now - 1],
      ['last', now],
    ],
  ]);
  expect(remembered).toEqual(['first', 'last']);
  expect(readFrom).toEqual([7]);
});

test('keys of the last moments before the stop are doubted, also across batches', async () => {
  const { doubted } = await recovered([
    [
      ['early', now - 2_001],
      ['late', now - 1_000],
    ],
    [['last', now]],
  ]);
  expect(doubted).toEqual(['late', 'last']);
});

test('speed 1: what was stored before the window is not read', async () => {
  expect((await recovered([], 9_000)).readFrom).toEqual([9_000]);
});

test('speed 1: a start decodes no value of the entries that it takes keys of', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'duplicate-recovery-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const shapes = new ShapeInterner();
  const log = await EntryLog.open({
    directory,
    now: () => now,
    shapes,
    replayFrom: 0,
    replay: () => undefined,
    damaged: ({ reason }) => expect.fail(reason),
    failed: (error) => expect.fail(String(error)),
    segmentBytes: 64 * 1024,
  });
  onTestFinished(() => log.close());
  const entry = (i: number): EntryToEncode => {
    const given = Array.from({ length: 200 }, (_, at) => ({
      at,
      data: { n: at, label: `row ${at}` },
    }));
    const trace = i % 2 === 0 && { trace: { duplicateKey: `message ${i}` } };
    const made = entryOf('0200000000000001', given, { receivedAt: now, ...trace });
    const values = new LeafValues();
    const rows = {
      samples: made.samples,
      shapes: made.samples.map(({ data }) => shapes.shapeOf(data, values, undefined)),
      values,
    };
    return { entry: made, rows, duplicates: 0, firstOrder: 200 * i };
  };
  await Promise.all(Array.from({ length: 20 }, (_, i) => log.append(entry(i)).durable));
  const values = [
    vi.spyOn(LeafValues.prototype, 'addNumber'),
    vi.spyOn(LeafValues.prototype, 'addText'),
  ];
  onTestFinished(() => void vi.restoreAllMocks());
  const read = (): number => values.reduce((sum, { mock }) => sum + mock.calls.length, 0);
  const filter = new DuplicateFilter(() => now);
  await recoverDuplicates({ filter, log, confirmedAfterMs: 1_000, now });
  expect(filter.size).toBe(10);
  expect(read()).toBe(0);
  // Entries that are read whole are what this test would count.
  await collect(log.entriesFrom(0));
  expect(read()).toBeGreaterThan(20 * 200);
});
