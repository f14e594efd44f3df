// Uplink counters: each result is counted once, and the work settles unchanged.
import { expect, test } from 'vitest';
import type { DurableEntry } from '../model/journal-entry.ts';
import { problem } from '../model/problem.ts';
import { countBackfill, countUplink } from './uplink-counters.ts';

function events() {
  const seen: unknown[] = [];
  const note = (what: unknown) => void seen.push(what);
  return {
    seen,
    uplinkDurable: ({ samples, duplicates }: { samples: number; duplicates: number }) =>
      note({ samples, duplicates }),
    uplinkRefused: note,
    backfilled: note,
    backfillRefused: note,
  };
}

test('a durable uplink', async () => {
  const counters = events();
  const entry = { samples: [{}, {}], duplicates: 1 } as unknown as DurableEntry;
  expect(await countUplink(counters, async () => entry)).toBe(entry);
  expect(counters.seen).toEqual([{ samples: 2, duplicates: 1 }]);
});

test('a backfill', async () => {
  const counters = events();
  const receipt = { accepted: 2, duplicates: 1, rejected: [{}, {}, {}] } as never;
  expect(await countBackfill(counters, async () => receipt)).toBe(receipt);
  expect(counters.seen).toEqual([{ accepted: 2, duplicates: 1, rejected: 3 }]);
});

test.each([
  [problem('storageFull'), 'storageFull'],
  [new Error('bug'), 'internal'],
])('%s is counted as %s', async (error, reason) => {
  const counters = events();
  const failing = async (): Promise<never> => {
    throw error;
  };
  await expect(countUplink(counters, failing)).rejects.toBe(error);
  await expect(countBackfill(counters, failing)).rejects.toBe(error);
  expect(counters.seen).toEqual([reason, reason]);
});
