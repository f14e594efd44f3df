// Copied tiles: in a free place, under an id of their own, and with the variables that they name.
import { expect, test } from 'vitest';
import type { Configuration, Tile, Variable } from '../../../../../src/dashboards/configuration.ts';
import { duplicated, variablesOfTile, withCopy } from './copied-tile.ts';

const tile: Tile = {
  id: 'tile-1',
  kind: 'line',
  title: 'Climate of {{room}}',
  ...{ x: 0, y: 0, width: 6, height: 4 },
  series: [{ variable: 'device', dataKey: 'temperature' }],
};
const variables: Variable[] = [
  { name: 'device', kind: 'DEVICE' },
  { name: 'room', kind: 'TEXT', default: 'A' },
  { name: 'unused', kind: 'TEXT' },
];
const target = (more: Partial<Configuration> = {}): Configuration => ({
  schema: 'heliograph-dashboard',
  version: 1,
  tiles: [{ ...tile, kind: 'text', text: 'Here', series: null }],
  ...more,
});

test('a duplicate is beside the tile, with an id and a title of its own', () => {
  expect(duplicated([tile], tile, 'Climate (copy)')).toEqual({
    ...tile,
    id: 'tile-2',
    title: 'Climate (copy)',
    x: 6,
  });
});

test('variables of values, texts and repetitions go with the tile', () => {
  expect(variablesOfTile(tile, variables).map(({ name }) => name)).toEqual(['device', 'room']);
  const repeated: Tile = { ...tile, title: null, series: [], repeat: 'unused' };
  expect(variablesOfTile(repeated, variables).map(({ name }) => name)).toEqual(['unused']);
});

test('the other dashboard gets the tile and what it lacks; a variable of another kind is named', () => {
  const room: Variable = { name: 'room', kind: 'TEXT', default: 'B' };
  expect(withCopy(target({ variables: [room] }), tile, variables)).toMatchObject({
    version: 2,
    variables: [room, { name: 'device', kind: 'DEVICE' }],
    tiles: [
      { id: 'tile-1', kind: 'text' },
      { id: 'tile-2', kind: 'line', x: 6, y: 0 },
    ],
  });
  const place: Variable = { name: 'room', kind: 'PLACE' };
  expect(withCopy(target({ variables: [place] }), tile, variables)).toEqual({ other: 'room' });
});
