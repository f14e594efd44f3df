// Map view: places go onto the map and back, and what is fixed while zooming stays.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  fitted,
  metersPerPixel,
  panned,
  placeOf,
  scaleLength,
  screenOf,
  type View,
  worldAt,
  worldOf,
  zoomedAt,
} from './view.ts';

const size = { width: 800, height: 500 };
const place = fc.record({
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  latitude: fc.double({ min: -85, max: 85, noNaN: true }),
});
const view: fc.Arbitrary<View> = fc.record({
  center: place.map(worldOf),
  zoom: fc.double({ min: 2, max: 18, noNaN: true }),
});
const pixel = fc.record({
  x: fc.integer({ min: 0, max: 800 }),
  y: fc.integer({ min: 0, max: 500 }),
});

describe('property', () => {
  test('a place is found again', () => {
    fc.assert(
      fc.property(place, (one) => {
        const again = placeOf(worldOf(one));
        expect(again.longitude).toBeCloseTo(one.longitude, 6);
        expect(again.latitude).toBeCloseTo(one.latitude, 6);
      }),
    );
  });

  test('a pixel is found again', () => {
    fc.assert(
      fc.property(view, pixel, (one, at) => {
        const again = screenOf(one, size, worldAt(one, size, at));
        expect(again.x).toBeCloseTo(at.x, 3);
        expect(again.y).toBeCloseTo(at.y, 3);
      }),
    );
  });

  test('what all points fit into shows each of them', () => {
    fc.assert(
      fc.property(fc.array(place.map(worldOf), { minLength: 2, maxLength: 9 }), (points) => {
        const shown = fitted(points, size);
        for (const point of points) {
          const { x, y } = screenOf(shown, size, point);
          expect(Math.abs(x - 400)).toBeLessThanOrEqual(1_200);
          if (shown.zoom > 1.7) {
            expect(x).toBeGreaterThanOrEqual(0);
            expect(x).toBeLessThanOrEqual(800);
            expect(y).toBeGreaterThanOrEqual(0);
            expect(y).toBeLessThanOrEqual(500);
          }
        }
      }),
    );
  });
});

test('what is under the pointer stays there while zooming', () => {
  const bern = worldOf({ longitude: 7.45, latitude: 46.95 });
  const before: View = { center: bern, zoom: 8 };
  const at = { x: 200, y: 120 };
  const under = worldAt(before, size, at);
  const after = zoomedAt(before, size, at, 2.5);
  expect(after.zoom).toBe(10.5);
  expect(screenOf(after, size, under).x).toBeCloseTo(200, 6);
  expect(screenOf(after, size, under).y).toBeCloseTo(120, 6);
});

test('the middle never leaves the world', () => {
  const edge = panned({ center: { x: 0.99, y: 0.5 }, zoom: 3 }, 5_000, 5_000);
  expect(edge.center).toEqual({ x: 1, y: 1 });
});

test('one device is shown with the country around it', () => {
  const shown = fitted([worldOf({ longitude: 7.45, latitude: 46.95 })], size);
  const kilometers = (metersPerPixel(shown) * size.width) / 1_000;
  expect(kilometers).toBeGreaterThan(100);
  expect(kilometers).toBeLessThan(300);
});

test('a pixel at the equator', () => {
  expect(metersPerPixel({ center: { x: 0.5, y: 0.5 }, zoom: 0 })).toBeCloseTo(156_543, 0);
});

test.each([
  [1, 100, 100],
  [1, 99, 50],
  [10, 45, 200],
  [0.3, 100, 20],
])('scale of %d m a pixel in %d pixels: %d m', (meters, most, expected) => {
  expect(scaleLength(meters, most)).toBe(expected);
});
