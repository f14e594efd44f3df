// Last rows: what is read of the end of a chunk equals a plain list of its samples, however many are asked for and wherever the range ends.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Random } from '../conformance/random-entries.ts';
import { keeping } from '../conformance/retention-times.ts';
import { entryOf, type Given } from '../conformance/sample-entries.ts';
import { openTestSamples } from '../testing-samples.ts';

const start = Date.UTC(2026, 2, 1);
const seeds = Array.from({ length: 12 }, (_, i) => i + 1);

/** Numbers that are packed, counted up, the same for long and rounded to no digits, a flag, and texts. */
function dataOf(random: Random, i: number): Given['data'] {
  return {
    n: i,
    packed: random.below(50),
    walk: Math.round(1_000 * Math.sin(i / 9) + random.below(9)) / 100,
    rare: i % 37 === 0 ? 1e9 + i : random.below(4),
    large: random.below(2) * 2 ** 45 + i,
    double: random.below(1_000) / 7,
    flag: i % 50 < 20,
    nested: { text: `state ${Math.floor(i / 30)}` },
  };
}

function samplesFrom(random: Random): Given[] {
  const step = random.pick([0, 1, 60_000]);
  let at = start;
  return Array.from({ length: 240 }, (_, i) => {
    // Several at one instant, which the end of a part may divide.
    if (random.below(6) > 0) at += step > 1 ? step : step + random.below(1_000);
    const dataFlowId = i % 3 === 0 && random.below(2) === 0 ? 'f2' : 'f1';
    return { at, data: dataOf(random, i), dataFlowId };
  });
}

test.each(seeds)('figures: reads of the end of chunks equal a plain list, %i', async (seed) => {
  const random = new Random(seed);
  const directory = await mkdtemp(join(tmpdir(), 'last-'));
  const lastRowsMin = random.pick([1, 5, 12]);
  const limits = { chunkRowsMin: 1, rowsMax: random.pick([60, 120, 500]), lastRowsMin };
  const now = () => start;
  let store = await openTestSamples({ directory, now, limits: { ...limits, instantRowsMax: 100 } });
  try {
    const sent = samplesFrom(random);
    await store.append(entryOf('d', sent));
    // A topic whose chunk is behind the first one at the same times.
    await store.append(entryOf('d', [{ at: start - 1, data: { n: -1 }, topic: 'side' }]));
    for (let round = 0; round < 4; round++) {
      // Each time with nothing decoded.
      await store.close();
      store = await openTestSamples({ directory, now, limits });
      let newest = sent.map(({ at, data }) => ({ timestamp: at, data })).reverse();
      if (round === 3) {
        const from = random.pick(sent).at;
        await store.retain(keeping({ w1: from }));
        newest = newest.filter(({ timestamp }) => timestamp >= from);
      }
      for (let i = 0; i < 25; i++) {
        const limit = random.pick([1, 1, 2, 7, 12, 30, 1_000]);
        const skip = random.pick([0, 0, 0, 3, 70]);
        const [from, to] = [random.pick(sent).at, random.pick(sent).at];
        const range = random.pick([{}, {}, { from }, { to }, { from, to }]);
        const found = await store.samples({
          deviceId: 'd',
          topic: 'default',
          limit,
          skip,
          ...range,
        });
        const wanted = newest.filter(
          ({ timestamp }) => timestamp >= (range.from ?? 0) && timestamp < (range.to ?? Infinity),
        );
        const shown = found.map(({ timestamp, data }) => ({ timestamp, data }));
        const asked = JSON.stringify({ limit, skip, range });
        expect(shown, asked).toEqual(wanted.slice(skip, skip + limit));
        const all = await store.samples({ deviceId: 'd', limit: 1, skip: 0 });
        expect(all[0]?.data, asked).toEqual((newest[0] ?? { data: { n: -1 } }).data);
      }
    }
    expect(store.damage).toEqual([]);
  } finally {
    await store.close();
    await rm(directory, { recursive: true });
  }
});
