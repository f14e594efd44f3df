// Largest triangle three buckets: ends and peaks stay, the number of points is kept, and streaming equals the textbook.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type SeriesPoint, Thinning } from './legacy-series.ts';

function thinned(points: readonly SeriesPoint[], wanted: number): readonly SeriesPoint[] {
  const run = new Thinning(points.length, wanted);
  for (const point of points) run.add(point);
  return run.kept();
}

/** The textbook's form over a whole array. */
function textbook(
  points: readonly { readonly at: number; readonly value: number }[],
  wanted: number,
) {
  const every = (points.length - 2) / (wanted - 2);
  const bucketOf = (i: number) => Math.min(wanted - 2, 1 + Math.floor((i - 1) / every));
  const buckets = Array.from({ length: wanted - 2 }, (_, b) =>
    points.filter((_, i) => i > 0 && i < points.length - 1 && bucketOf(i) === b + 1),
  );
  const kept = [points[0]!];
  for (const [b, bucket] of buckets.entries()) {
    const next = buckets[b + 1] ?? [points.at(-1)!];
    const x = next.reduce((sum, { at }) => sum + at, 0) / next.length;
    const y = next.reduce((sum, { value }) => sum + value, 0) / next.length;
    const a = kept.at(-1)!;
    const area = (p: { at: number; value: number }) =>
      Math.abs((a.at - x) * (p.value - a.value) - (a.at - p.at) * (y - a.value));
    kept.push(bucket.reduce((best, point) => (area(point) > area(best) ? point : best)));
  }
  return [...kept, points.at(-1)!];
}

test('review behaviour 14: streamed thinning is the textbook algorithm', () => {
  const values = fc.array(fc.integer({ min: -1_000, max: 1_000 }), {
    minLength: 3,
    maxLength: 200,
  });
  fc.assert(
    fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (levels, share) => {
      const points = levels.map((value, i) => ({ at: i * 1_000, value }));
      const wanted = 3 + Math.floor(share * (points.length - 3));
      const kept = thinned(points, wanted);
      expect(kept).toHaveLength(wanted);
      expect(kept).toEqual(textbook(points, wanted));
    }),
  );
});

test('review behaviour 14: a single peak among a thousand flat points stays', () => {
  const points = Array.from({ length: 1_000 }, (_, i) => ({ at: i, value: i === 637 ? 50 : 1 }));
  expect(thinned(points, 20)).toContainEqual({ at: 637, value: 50 });
});

test('contract 36: points that came between counting and thinning lose none of the ends', () => {
  const run = new Thinning(5, 4);
  for (let i = 0; i < 7; i++) run.add({ at: i, value: i });
  const kept = run.kept();
  expect([kept[0]?.at, kept.at(-1)?.at]).toEqual([0, 6]);
});
