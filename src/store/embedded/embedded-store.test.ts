// The embedded store passes the suite of all sample stores, and survives being opened again.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { allSamples, collect, entryOf } from '../conformance/sample-entries.ts';
import { sampleStoreMustBehave } from '../conformance/sample-store.conformance.ts';
import { type EmbeddedStore, openEmbeddedStore } from './embedded-store.ts';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function temporaryFolder(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'store-'));
  cleanups.push(() => rm(directory, { recursive: true }));
  return directory;
}

async function openIn(directory: string, clock: { now: number }): Promise<EmbeddedStore> {
  const store = await openEmbeddedStore({ directory, now: () => clock.now });
  cleanups.push(() => store.close());
  return store;
}

sampleStoreMustBehave(async (clock) => openIn(await temporaryFolder(), clock));

test('what was acknowledged is there after opening again, with positions, cursors and followers going on', async () => {
  const directory = await temporaryFolder();
  const clock = { now: 500 };
  const before = await openIn(directory, clock);
  const entries = [];
  for (let i = 0; i < 10; i++) entries.push(await before.append(entryOf('d1', [{ at: i, data: { i } }])));
  before.setFollowerPosition('rules', 7);
  const samples = await allSamples(before, 'd1');
  await before.close();

  clock.now = 400;
  const after = await openIn(directory, clock);
  expect(after.damage).toEqual([]);
  expect(await allSamples(after, 'd1')).toEqual(samples);
  expect(await collect(after.entriesFrom(0))).toEqual(entries);
  expect(after.followerPosition('rules')).toBe(7);
  expect(after.position).toBe(10);
  const next = await after.append(
    entryOf('d1', [
      { at: 3, data: { i: 3 } },
      { at: 3, data: { i: 'new' } },
    ]),
  );
  expect(next).toMatchObject({ position: 10, duplicates: 1, samples: [{ storedAt: 500 }] });
});
