// Store on a full disk: `npm run bench -- store-full-disk FOLDER`, with the folder on a tmpfs of 24 MB.
// Writers get 507, reads continue, retention frees space on the full disk, and writing resumes
// without a restart.
import assert from 'node:assert/strict';
import process from 'node:process';
import { Problem } from '../src/model/problem.ts';
import { entryOf } from '../src/storage/samples/conformance/sample-entries.ts';
import { keeping } from '../src/storage/samples/conformance/retention-times.ts';
import { openTestSamples } from '../src/storage/samples/testing-samples.ts';
import { verifyStore } from '../src/storage/samples/embedded/store-loader.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: store-full-disk.ts FOLDER');
const dayMs = 86_400_000;
const limits = { segmentBytes: 500_000, journalTailBytes: 3_000_000, lookEveryBytes: 200_000 };
const open = () =>
  openTestSamples({
    directory: folder,
    now: Date.now,
    limits,
    resumeBytesMax: 0,
    resumeAgeMsMax: 0,
  });
let store = await open();
let stored = 0;
let refused = 0;
let at = 0;

/**
 * Sends entries of incompressible samples until some are rejected, or until their number is
 * reached.
 */
async function write(entriesMax: number, refusalsMax: number): Promise<void> {
  let refusals = 0;
  for (let i = 0; i < entriesMax && refusals < refusalsMax; i++) {
    const samples = Array.from({ length: 500 }, () => ({
      at: (at += 7_000),
      data: { x: Math.random(), y: Math.random(), z: Math.random() },
    }));
    try {
      await store.append(entryOf('d1', samples));
      stored += samples.length;
    } catch (error) {
      assert(error instanceof Problem && error.status === 507, String(error));
      at -= samples.length * 7_000;
      refusals++;
      refused++;
    }
  }
}

async function count(): Promise<number> {
  const request = {
    source: 'raw',
    deviceIds: ['d1'],
    topic: 'default',
    dataKey: 'x',
    accumulator: 'COUNT',
  } as const;
  const [[partial] = []] = await store.buckets({ ...request, edges: [0, at + 7_000] });
  return partial?.count ?? 0;
}

await write(100_000, 20);
assert.equal(refused, 20);
assert.equal(await count(), stored, 'reads continue, and what was acknowledged exists');
console.log(`full after ${stored} samples; ${refused} requests rejected with 507; reads continue`);

const dropped = await store.retain(keeping({ w1: at / 2 }));
assert(dropped.bytes > 1_000_000, `retention freed ${dropped.bytes} bytes`);
const kept = await count();
// Samples at every 7 s since the first one: those at the half and later.
assert.equal(kept, stored / 2 + 1, 'reads end at the retention');
assert(dropped.samples <= stored - kept, 'what a chunk with kept samples has is dropped later');
console.log(
  `retention on the full disk dropped ${dropped.samples} samples and freed ${dropped.bytes} bytes`,
);

const before = refused;
await write(60, 1);
assert.equal(refused, before, 'writing resumes without a restart');
console.log(`writing resumed: ${await count()} samples`);

for (let round = 0; round < 5; round++) {
  await write(100_000, 3);
  await store.retain(keeping({ w1: at - dayMs / 2 }));
}
const last = await count();
await store.close();
assert.deepEqual((await verifyStore(folder)).damage, []);
store = await open();
// The retention is known again from its first pass on.
await store.retain(keeping({ w1: at - dayMs / 2 }));
assert.equal(await count(), last);
assert.deepEqual(store.damage, []);
await store.close();
console.log(
  'five more rounds of filling and dropping, closed, verified and opened again: nothing lost',
);
