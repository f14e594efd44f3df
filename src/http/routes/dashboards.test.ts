// Contract 32: a dashboard configuration that declares the schema is checked, any other is accepted.
import { expect, test } from 'vitest';
import type { JsonObject } from '../../model/json.ts';
import { Problem } from '../../model/problem.ts';
import { checkDashboardConfiguration } from './dashboards.ts';

const place = { x: 0, y: 0, width: 6, height: 2 };
const series = [{ deviceId: '0200000000000001', dataKey: 'temperature' }];
const line = { id: 'a', kind: 'line', ...place, series };
const declared = (tiles: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  schema: 'heliograph-dashboard',
  version: 1,
  tiles: [...tiles],
  ...more,
});

test.each<[string, JsonObject | null | undefined]>([
  ['none', undefined],
  ['null', null],
  ['an empty object', {}],
  ['that of another client', { schemaVersion: 39, panels: [{ type: 'graph' }], version: 7 }],
  ['one that declares another schema', { schema: 'mine', version: 'x', tiles: 'none' }],
  ['no tiles', declared([])],
  [
    'a tile of each kind',
    declared(
      ['value', 'line', 'bar', 'state', 'map', 'table', 'text'].map((kind, n) => ({
        ...line,
        id: `t${n}`,
        kind,
        text: '# words',
      })),
    ),
  ],
  ['further members', declared([{ ...line, mine: { a: [1] } }], { theme: 'dark' })],
  ['a range and a zone', declared([line], { range: { last: 'PT24H' }, timeZone: 'Europe/Zurich' })],
  ['thresholds', declared([{ ...line, thresholds: [{ from: 21.5, tone: 'WARNING' }] }])],
  ['a formula', declared([{ ...line, series: [{ deviceId: 'x', expression: 'a * 2' }] }])],
  ['a series of a tag', declared([{ ...line, series: [{ tagId: 'x', dataKey: 'a' }] }])],
])('%s is accepted', (_, configuration) => {
  expect(() => checkDashboardConfiguration(configuration)).not.toThrow();
});

test.each<[string, JsonObject, RegExp]>([
  ['a later version', declared([], { version: 2 }), /configuration\.version: must be 1/],
  ['no tiles at all', { schema: 'heliograph-dashboard', version: 1 }, /tiles/],
  ['an unknown kind', declared([{ ...line, kind: 'pie' }]), /tiles\.0\.kind.*value, line, bar/],
  ['no place', declared([{ id: 'a', kind: 'line', series }]), /tiles\.0/],
  ['a tile beyond the grid', declared([{ ...line, x: 8 }]), /tiles\.0\.width/],
  [
    'a line of nothing',
    declared([{ ...line, series: [] }]),
    /tiles\.0\.series: is required for kind line/,
  ],
  ['a text without one', declared([{ ...line, kind: 'text' }]), /tiles\.0\.text/],
  ['a tone of its own', declared([{ ...line, thresholds: [{ from: 1, tone: 'x' }] }]), /tone/],
  ['the same id twice', declared([line, line]), /tiles\.1\.id: must be unique/],
  [
    'an invalid formula',
    declared([{ ...line, series: [{ deviceId: 'x', expression: 'a * foo()' }] }]),
    /series\.0\.expression: Unknown function foo \(character 5\)/,
  ],
  [
    'a key and a formula',
    declared([{ ...line, series: [{ deviceId: 'x', dataKey: 'a', expression: 'a' }] }]),
    /series\.0: set either dataKey or expression/,
  ],
  ['a series of nothing', declared([{ ...line, series: [{ dataKey: 'a' }] }]), /series\.0: /],
  [
    '201 tiles',
    declared(Array.from({ length: 201 }, (_, n) => ({ ...line, id: `${n}` }))),
    /tiles/,
  ],
])('%s is refused, with its place', (_, configuration, reason) => {
  let thrown: unknown;
  try {
    checkDashboardConfiguration(configuration);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(Problem);
  expect((thrown as Problem).status).toBe(400);
  expect((thrown as Problem).message).toMatch(reason);
});
