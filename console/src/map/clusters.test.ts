// Clusters of the map: every device is in exactly one, and those far apart are single.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clustersOf, type MapPoint, mapStates } from './clusters.ts';
import { worldOf } from './view.ts';

const point: fc.Arbitrary<MapPoint> = fc.record({
  id: fc.uuid(),
  name: fc.constant('x'),
  at: fc.record({
    x: fc.double({ min: 0, max: 1, noNaN: true }),
    y: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  state: fc.constantFrom(...mapStates),
});

test('property: no device is lost or shown twice', () => {
  fc.assert(
    fc.property(
      fc.array(point, { maxLength: 60 }),
      fc.integer({ min: 0, max: 19 }),
      (all, zoom) => {
        const clusters = clustersOf(all, zoom);
        expect(clusters.flatMap(({ points }) => points).toSorted(byId)).toEqual(all.toSorted(byId));
        for (const { points, counts } of clusters)
          expect(counts.online + counts.silent + counts.never).toBe(points.length);
      },
    ),
  );
});

test('two cities part when one comes closer', () => {
  const at = (id: string, longitude: number, latitude: number): MapPoint => {
    return { id, name: id, at: worldOf({ longitude, latitude }), state: 'online' };
  };
  const cities = [at('Bern', 7.45, 46.95), at('Zurich', 8.54, 47.37)];
  expect(clustersOf(cities, 2)).toHaveLength(1);
  expect(clustersOf(cities, 8)).toHaveLength(2);
});

test('10,000 devices take a moment', () => {
  const many = Array.from({ length: 10_000 }, (_, n): MapPoint => {
    return {
      id: `${n}`,
      name: '',
      at: { x: (n * 0.618) % 1, y: (n * 0.414) % 1 },
      state: 'online',
    };
  });
  const startedAt = performance.now();
  for (let zoom = 0; zoom < 10; zoom++) clustersOf(many, zoom);
  // 2 ms each on a quiet machine.
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});

function byId(a: MapPoint, b: MapPoint): number {
  return Number(a.id > b.id) - Number(a.id < b.id);
}
