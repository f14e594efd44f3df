// Random streams through the embedded store with tiny limits, sealed and opened again at any moment.
// More than the usual 20: STREAMS=10000 npx vitest run src/storage/samples/embedded/random-streams.test.ts
import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Random } from '../conformance/random-entries.ts';
import { describeRandomStream } from '../conformance/random-streams.conformance.ts';
import { type TestSamples, openTestSamples } from '../testing-samples.ts';
import type { StoreLimits } from './store-limits.ts';

const streams = Number(process.env['STREAMS'] ?? 20);
/** REMOVAL_STREAMS=10000 npm test -- src/storage/samples/embedded/random-streams.test.ts -t removals */
const removalStreams = Number(process.env['REMOVAL_STREAMS'] ?? 20);
/** A stream is one device, so that by turns its rows are in runs, in chunks, or in both. */
const chunkRows = [1_000, 1, 8, 30];
const tiny: Partial<StoreLimits> = {
  rowsToCloseAtDay: 20,
  memtableRowsMax: 50,
  runsToMerge: 3,
  rowsToCloseAtHour: 40,
  rowsMax: 60,
  segmentBytes: 3_000,
  journalTailBytes: 8_000,
  lookEveryBytes: 1_000,
  segmentsToMerge: 3,
  lastRowsMin: 2,
};

async function runStreams(seeds: readonly number[], removalOf?: number): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'streams-'));
  let directory = join(root, '0');
  let copies = 0;
  let opened = 0;
  const open = (): Promise<TestSamples> => {
    const chunkRowsMin = chunkRows[opened % chunkRows.length] ?? 1;
    // Another thread makes the chunks of some stores.
    const ofThreads = opened++ % 9 === 0 ? { chunkRowsAtOnce: 0 } : {};
    const limits = { ...tiny, chunkRowsMin, ...ofThreads };
    return openTestSamples({ directory, now: () => 1, limits });
  };
  let store = await open();
  async function disturb(random: Random): Promise<void> {
    const kind = random.below(4);
    if (random.below(4) === 0) await store.rewritten();
    if (kind === 0) await store.sealAll();
    else if (kind === 1) {
      await store.close();
      store = await open();
    } else if (kind === 2) {
      // What a crash at this moment would leave behind.
      const crashed = directory;
      directory = join(root, String(++copies));
      await store.idle();
      cpSync(crashed, directory, { recursive: true });
      await store.close();
      await rm(crashed, { recursive: true });
      store = await open();
    } else await new Promise((resolve) => setImmediate(resolve));
  }
  try {
    for (const seed of seeds)
      await describeRandomStream({ store: () => store, disturb }, seed, `d${seed}`, removalOf);
    expect(store.damage).toEqual([]);
    await store.close();
  } finally {
    await rm(root, { recursive: true });
  }
}

test.each(Array.from({ length: Math.ceil(streams / 20) }, (_, i) => i))(
  'figures: hourly and raw answers equal the recomputation, streams from %i times 20',
  { timeout: 240_000 },
  async (group) => {
    await runStreams(Array.from({ length: 20 }, (_, i) => group * 20 + i + 1));
  },
);

test.each(Array.from({ length: Math.ceil(removalStreams / 20) }, (_, i) => i))(
  'contract 38: hours equal rows after many removals, streams from %i times 20',
  { timeout: 240_000 },
  async (group) => {
    const seeds = Array.from({ length: 20 }, (_, i) => 1_000_000 + group * 20 + i);
    await runStreams(seeds, 3);
  },
);
