// Geofences: inside, outside, holes, edges, several polygons, the antimeridian and invalid fences (contract 13).
import { describe, expect, test } from 'vitest';
import { isInside, parseGeoFence } from './rule.ts';
import type { Json } from './json.ts';

type Ring = readonly (readonly [number, number])[];

function collection(...polygons: readonly (readonly Ring[])[]) {
  const features = polygons.map((coordinates) => ({
    type: 'Feature',
    properties: {},
    geometry: { type: 'Polygon', coordinates },
  }));
  return { type: 'FeatureCollection', features } as unknown as Record<string, Json>;
}

function box(west: number, south: number, east: number, north: number): Ring {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
}

const fences: Readonly<Record<string, Record<string, Json>>> = {
  'a box': collection([box(0, 0, 10, 10)]),
  'a box with a hole': collection([box(0, 0, 10, 10), box(4, 4, 6, 6)]),
  'two boxes': collection([box(0, 0, 2, 2)], [box(8, 8, 10, 10)]),
  'a box within the hole of another': collection(
    [box(0, 0, 10, 10), box(2, 2, 8, 8)],
    [box(4, 4, 6, 6)],
  ),
  'a box around the antimeridian': collection([
    [
      [170, -10],
      [-170, -10],
      [-170, 10],
      [170, 10],
      [170, -10],
    ],
  ]),
  'an arrow': collection([
    [
      [0, 0],
      [10, 0],
      [10, 10],
      [5, 2],
      [0, 10],
      [0, 0],
    ],
  ]),
};

const cases: readonly (readonly [string, number, number, boolean])[] = [
  ['a box', 5, 5, true],
  ['a box', 11, 5, false],
  ['a box', 5, -0.001, false],
  ['a box', 0, 5, true],
  ['a box', 10, 10, true],
  ['a box', 365 - 360, 5, true],
  ['a box with a hole', 5, 5, false],
  ['a box with a hole', 3, 5, true],
  ['a box with a hole', 4, 5, true],
  ['two boxes', 1, 1, true],
  ['two boxes', 9, 9, true],
  ['two boxes', 5, 5, false],
  ['a box within the hole of another', 5, 5, true],
  ['a box within the hole of another', 3, 3, false],
  ['a box within the hole of another', 1, 1, true],
  ['a box around the antimeridian', 175, 0, true],
  ['a box around the antimeridian', -175, 0, true],
  ['a box around the antimeridian', 180, 0, true],
  ['a box around the antimeridian', -180, 0, true],
  ['a box around the antimeridian', 0, 0, false],
  ['a box around the antimeridian', 169, 0, false],
  ['an arrow', 5, 1, true],
  ['an arrow', 5, 5, false],
  ['an arrow', 1, 5, true],
];

test.each(cases)('%s: longitude %d, latitude %d is %s', (name, longitude, latitude, wanted) => {
  const read = parseGeoFence(fences[name]!);
  if ('reason' in read) throw new Error(read.reason);
  expect(isInside(read.fence, longitude, latitude)).toBe(wanted);
});

describe('what is no fence is refused with the place', () => {
  const geometry = (coordinates: unknown) => ({
    type: 'FeatureCollection',
    features: [{ type: 'Feature', geometry: { type: 'Polygon', coordinates } }],
  });
  test.each([
    [{ type: 'Polygon' }, 'type must be FeatureCollection'],
    [{ type: 'FeatureCollection', features: [] }, 'features must list at least one polygon'],
    [
      { type: 'FeatureCollection', features: [{ geometry: { type: 'Point' } }] },
      'features[0].geometry must be a Polygon',
    ],
    [geometry([]), 'features[0].geometry.coordinates must list at least one ring'],
    [
      geometry([
        [
          [0, 0],
          [1, 1],
          [0, 0],
        ],
      ]),
      'features[0].geometry.coordinates[0] must have at least four points',
    ],
    [
      geometry([
        [
          [0, 0],
          [1, 1],
          [1, 0],
          [0, 1],
        ],
      ]),
      'features[0].geometry.coordinates[0] must be closed: the last point must equal the first',
    ],
    [
      geometry([
        [
          [0, 0],
          [1, 91],
          [1, 0],
          [0, 0],
        ],
      ]),
      'features[0].geometry.coordinates[0][1] must be [longitude, latitude], within ±180 and ±90 degrees',
    ],
    [
      geometry([
        [
          [0, 0],
          ['1', 1],
          [1, 0],
          [0, 0],
        ],
      ]),
      'features[0].geometry.coordinates[0][1] must be [longitude, latitude], within ±180 and ±90 degrees',
    ],
  ])('%j', (geoJson, reason) => {
    expect(parseGeoFence(geoJson as never)).toEqual({ reason });
  });
});
