// Duplicate recovery: which journal entries the filter knows after a start.
import { expect, test } from 'vitest';
import { duplicateLimits } from '../ingest/duplicate-filter.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import { recoverDuplicates } from './duplicate-recovery.ts';

const now = 10 * duplicateLimits.windowMs;
const outdated = now - duplicateLimits.windowMs;

async function recovered(batches: readonly (readonly [key: string | undefined, at: number][])[]) {
  const remembered: string[] = [];
  const doubted: string[] = [];
  const readFrom: number[] = [];
  await recoverDuplicates({
    filter: { remember: (key) => remembered.push(key), doubt: (key) => doubted.push(key) },
    log: {
      position: duplicateLimits.recoveredEntriesMax + 7,
      async *entriesFrom(position) {
        readFrom.push(position);
        for (const batch of batches) {
          yield batch.map(
            ([duplicateKey, receivedAt]) =>
              ({ receivedAt, trace: { duplicateKey } }) as unknown as DurableEntry,
          );
        }
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
      [undefined, now - 1],
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
