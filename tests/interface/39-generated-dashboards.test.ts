// Contract 39: dashboards that are generated from schemas.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkDashboardConfiguration } from '../../src/http/routes/dashboard-check.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { generatedDashboard } from '../../src/query/generated-dashboard.ts';

interface Tile {
  readonly id: string;
  readonly kind: string;
  readonly title?: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly series?: readonly { readonly topic: string; readonly dataKey: string }[];
}

function tilesOf(schemas: Record<string, JsonObject>): readonly Tile[] {
  const made = Object.entries(schemas).map(([topic, properties]) => [topic, { properties }]);
  const configuration = generatedDashboard(Object.fromEntries(made), '3300000000000001');
  expect(() => checkDashboardConfiguration(configuration)).not.toThrow();
  return configuration['tiles'] as unknown as readonly Tile[];
}

const number = (unit?: string, more: JsonObject = {}): JsonObject => ({
  type: 'number',
  ...(unit !== undefined && { unit }),
  ...more,
});

test('values, a line for each unit, states, a map, and alarms last', () => {
  const tiles = tilesOf({
    default: {
      temperature: number('°C', { title: 'Temperature' }),
      dewPoint: number('°C'),
      humidity: number('%'),
      door: { type: 'boolean' },
      mode: { type: 'string', enum: ['AUTO', 'OFF'] },
      note: { type: 'string' },
      latitude: number(),
      longitude: number(),
      frames: number(undefined, { hideFromKpis: true }),
      inner: { type: 'object', properties: { pressure: number('hPa') } },
    },
  });
  const told = tiles.map(({ kind, series }) => [kind, series?.map(({ dataKey }) => dataKey)]);
  expect(told).toEqual([
    ['value', ['temperature']],
    ['value', ['dewPoint']],
    ['value', ['humidity']],
    ['value', ['inner.pressure']],
    ['line', ['temperature', 'dewPoint']],
    ['line', ['humidity']],
    ['line', ['frames']],
    ['line', ['inner.pressure']],
    ['timeline', ['door', 'mode']],
    ['map', ['latitude', 'longitude']],
    ['alarms', undefined],
  ]);
  expect(tiles[0]).toMatchObject({
    title: 'Temperature',
    series: [{ variable: 'device', topic: 'default', label: 'Temperature', unit: '°C' }],
  });
});

test('without a key there are alarms alone', () => {
  expect(tilesOf({}).map(({ kind }) => kind)).toEqual(['alarms']);
  expect(tilesOf({ default: { name: { type: 'string' } } })).toHaveLength(1);
});

const unit = fc.constantFrom(undefined, '°C', '%', 'V');
const property = fc.oneof(
  unit.map((of) => number(of)),
  fc.constant<JsonObject>({ type: 'boolean' }),
  fc.constant<JsonObject>({ type: 'string', enum: ['a'] }),
  fc.constant<JsonObject>({ type: 'string' }),
);
const schemas = fc.dictionary(
  fc.constantFrom('default', 'status', 'gps'),
  fc.dictionary(fc.string({ minLength: 1, maxLength: 20 }), property, { maxKeys: 400 }),
);

test('any schemas make a valid configuration, the same again, whose tiles do not overlap', () => {
  fc.assert(
    fc.property(schemas, (random) => {
      const tiles = tilesOf(random);
      expect(tilesOf(random)).toEqual(tiles);
      const cells = new Set<string>();
      for (const { x, y, width, height } of tiles)
        for (let column = x; column < x + width; column += 1)
          for (let row = y; row < y + height; row += 1) {
            expect(cells.has(`${column} ${row}`)).toBe(false);
            cells.add(`${column} ${row}`);
          }
      const drawn = tiles.flatMap(({ kind, series }) => (kind === 'line' ? (series ?? []) : []));
      const numbers = Object.values(random).flatMap((properties) =>
        Object.values(properties).filter(({ type }) => type === 'number'),
      );
      // Each number is in a chart, up to the limit of tiles.
      if (numbers.length <= 150) expect(drawn).toHaveLength(numbers.length);
    }),
    { numRuns: 100 },
  );
});
