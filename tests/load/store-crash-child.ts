// Store crash, child process: writes as fast as possible and prints what was acknowledged.
// Arguments: folder, first id. Each line is an id, or `+` and `-` around a moment that the parent
// may wait for; it kills at any time.
import { writeSync } from 'node:fs';
import process from 'node:process';
import { entryOf, type Given } from '../../src/storage/samples/conformance/sample-entries.ts';
import { keeping } from '../../src/storage/samples/conformance/retention-times.ts';
import { openTestSamples } from '../../src/storage/samples/testing-samples.ts';
import {
  crashDevice,
  crashLimits,
  type CrashMoment,
  crashSample,
  removal,
  removalSample,
  removalStart,
} from './store-crash-samples.ts';

const [folder, first] = process.argv.slice(2);
if (folder === undefined || first === undefined)
  throw new Error('usage: store-crash-child.ts FOLDER FIRST_ID');
let next = Number(first);

/**
 * A pipe whose reader is behind refuses for a moment; what it took is a whole line or nothing, as
 * lines are short.
 */
function tell(text: string): void {
  for (;;) {
    try {
      writeSync(1, text);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}

async function within<T>(moment: CrashMoment, work: () => Promise<T>): Promise<T> {
  tell(`+${moment}\n`);
  const done = await work();
  tell(`-${moment}\n`);
  return done;
}

const store = await within('recovery', () =>
  openTestSamples({ directory: folder, now: Date.now, limits: crashLimits }),
);

/** Entries of a few samples, one after the other, as one connection sends them. */
async function connection(): Promise<void> {
  for (;;) {
    const ids = Array.from({ length: 1 + (next % 7) }, () => next++);
    const device = crashDevice(ids[0]!);
    const isStored = await append(device, ids.map(crashSample));
    // Immediately and unbuffered: lines that the parent reads were acknowledged.
    if (isStored) tell(ids.map((id) => `${id}\n`).join(''));
  }
}

/** False when the disk refuses, which the parent may let it do. */
async function append(device: string, samples: readonly Given[]): Promise<boolean> {
  try {
    await store.append(entryOf(device, samples));
    return true;
  } catch (error) {
    tell(`refused\n`);
    await refusedBy(error);
    return false;
  }
}

/** Resolves later when the disk refused; every other error ends the child. */
async function refusedBy(error: unknown): Promise<void> {
  const { code, status } = error as { code?: string; status?: number };
  if (code !== 'ENOSPC' && code !== 'EIO' && status !== 507 && status !== 503) throw error;
  await new Promise((resolve) => setTimeout(resolve, 20));
}

/** A device that sends and is deleted; nothing of it may come back. */
async function deleting(round: number): Promise<void> {
  // A child that stores nothing is followed by one with the same first id.
  const device = `deleted-${process.pid}-${first}-${round}`;
  for (let i = 0; i < 3; i++) await append(device, [crashSample(10 * (i + 1))]);
  await within('deleting', () => store.dropDevice(device));
  tell(`-deleted ${device}\n`);
}

/** A device whose middle samples are removed: neither may these come back, nor others go. */
async function removing(round: number): Promise<void> {
  const device = `removed-${process.pid}-${first}-${round}`;
  const size = round % 4 === 0 ? removal.rows : 8;
  for (let n = 0; n < removal.rows; n += size) {
    const samples = Array.from({ length: size }, (_, i) => removalSample(n + i));
    if (!(await append(device, samples))) return;
  }
  tell(`-stored ${device}\n`);
  const [from, to] = [removal.from, removal.to].map((n) => removalStart + n * 60_000);
  const ranges = [{ topics: null, from: from!, to: to! }];
  await within('removing', async () => {
    const replaces = { cause: 'DELETED', workspaceId: 'kept', ranges } as const;
    await store.append(entryOf(device, [], { replaces }));
    tell(`-removed ${device}\n`);
    await store.rewritten();
  });
}

async function removals(): Promise<void> {
  for (let round = 0; ; round++) {
    await new Promise((resolve) => setTimeout(resolve, 25));
    await removing(round).catch(refusedBy);
  }
}

async function housekeeping(): Promise<void> {
  for (let round = 0; ; round++) {
    await new Promise((resolve) => setTimeout(resolve, 15));
    try {
      if (round % 2 === 0) await deleting(round);
      if (round % 5 === 0) await within('sealing', store.sealAll);
      if (round % 3 === 0)
        await within('retention', () => store.retain(keeping({ old: Number.POSITIVE_INFINITY })));
      store.setFollowerPosition('follower', store.position);
    } catch (error) {
      await refusedBy(error);
    }
  }
}

await Promise.all([...Array.from({ length: 16 }, connection), housekeeping(), removals()]);
