// Variables of dashboards: which values count, and what tiles show with them.
import { expect, test } from 'vitest';
import { type Configuration, configurationOf, type Tile, type Variable } from './configuration.ts';
import {
  boundTiles,
  chosenValues,
  valuesIn,
  variableFault,
  type VariableValues,
} from './variables.ts';

const room: Variable = { name: 'room', kind: 'DEVICE', multiple: true };
const place: Variable = { name: 'place', kind: 'PLACE', default: 'p1' };

function configuration(tiles: readonly Tile[], variables: readonly Variable[]): Configuration {
  return { ...configurationOf(tiles), variables: [...variables] };
}

function tile(id: string, box: readonly [number, number, number, number], more: object = {}): Tile {
  const [x, y, width, height] = box;
  return { id, kind: 'line', x, y, width, height, ...more };
}

const named = (text: string): VariableValues => valuesIn(new URLSearchParams(text));
const upper = (_: Variable, value: string) => value.toUpperCase();
const boxes = (tiles: ReturnType<typeof boundTiles>) =>
  tiles.map(({ id, x, y, width, height }) => [id, x, y, width, height]);

test('contract 39: the address counts before what is remembered, and that before the default', () => {
  const variables = [room, place];
  expect(
    Object.fromEntries(
      chosenValues(variables, [named('var.room=a&var.room=b'), named('var.room=c&var.place=p2')]),
    ),
  ).toEqual({ room: ['a', 'b'], place: ['p2'] });
  expect(Object.fromEntries(chosenValues(variables, [named('var.other=x')]))).toEqual({
    place: ['p1'],
  });
  expect(chosenValues([place], [named('var.place=p2&var.place=p3')]).get('place')).toEqual(['p2']);
});

test.each([
  ['var.floor=1&var.room=a', { name: 'floor', reason: 'UNKNOWN' }],
  ['var.place=p1&var.place=p2&var.room=a', { name: 'place', reason: 'SEVERAL' }],
  ['last=PT1H', { name: 'room', reason: 'OPEN' }],
  ['var.room=a&var.room=b', undefined],
])('contract 39: the parameters %s', (text, fault) => {
  expect(variableFault(configuration([], [room, place]), named(text))).toEqual(fault);
});

test('contract 39: a series of a variable is one for each value, and texts name the values', () => {
  const shown = tile('t', [0, 0, 6, 5], {
    title: 'In {{room}}, not {{nobody}}',
    series: [
      { variable: 'room', dataKey: 'co2', label: 'CO2' },
      { variable: 'place', dataKey: 'co2', label: '{{place}}' },
      { deviceId: 'd', dataKey: 'co2', label: 'Outside' },
    ],
  });
  const values = chosenValues([room, place], [named('var.room=a&var.room=b')]);
  const [bound] = boundTiles(configuration([shown], [room, place]), values, upper);
  expect(bound?.title).toBe('In A, B, not {{nobody}}');
  expect(bound?.series.map(({ source, label, isOfMany }) => [source, label, isOfMany])).toEqual([
    [{ kind: 'DEVICE', id: 'a' }, 'CO2', true],
    [{ kind: 'DEVICE', id: 'b' }, 'CO2', true],
    [{ kind: 'PLACE', id: 'p1' }, 'P1', true],
    [{ kind: 'DEVICE', id: 'd' }, 'Outside', false],
  ]);
});

test('a series of a variable without a value is no series', () => {
  const shown = tile('t', [0, 0, 6, 5], { series: [{ variable: 'room', dataKey: 'co2' }] });
  const [bound] = boundTiles(configuration([shown], [room]), new Map(), upper);
  expect(bound?.series).toEqual([]);
});

test('contract 39: a tile repeats beside and below itself, and pushes down what is below', () => {
  const tiles = [
    tile('r', [0, 0, 4, 3], { repeat: 'room', series: [{ variable: 'room', dataKey: 'co2' }] }),
    tile('beside', [8, 0, 4, 3]),
    tile('below', [0, 3, 12, 2]),
    tile('above it all', [8, 1, 4, 1]),
  ];
  const values = named('var.room=a&var.room=b&var.room=c');
  const bound = boundTiles(configuration(tiles, [room]), values, upper);
  expect(boxes(bound)).toEqual([
    ['r:a', 0, 0, 4, 3],
    ['r:b', 4, 0, 4, 3],
    ['r:c', 0, 3, 4, 3],
    ['beside', 8, 0, 4, 3],
    ['below', 0, 6, 12, 2],
    ['above it all', 8, 1, 4, 1],
  ]);
  expect(bound[1]?.series.map(({ source }) => source)).toEqual([{ kind: 'DEVICE', id: 'b' }]);
});

test('two tiles that repeat in one row push down what is below by the longer one', () => {
  const tiles = [
    tile('r', [0, 0, 6, 2], { repeat: 'room' }),
    tile('s', [6, 0, 3, 2], { repeat: 'room' }),
    tile('below', [0, 2, 12, 2]),
  ];
  const bound = boundTiles(
    configuration(tiles, [room]),
    named('var.room=a&var.room=b&var.room=c'),
    upper,
  );
  expect(boxes(bound)).toEqual([
    ['r:a', 0, 0, 6, 2],
    ['r:b', 0, 2, 6, 2],
    ['r:c', 0, 4, 6, 2],
    ['s:a', 6, 0, 3, 2],
    ['s:b', 9, 0, 3, 2],
    ['s:c', 6, 2, 3, 2],
    ['below', 0, 6, 12, 2],
  ]);
});

test('a tile has at most 50 copies, and none without a value', () => {
  const tiles = [tile('r', [0, 0, 12, 1], { repeat: 'room' }), tile('below', [0, 1, 12, 1])];
  const many = new Map([['room', Array.from({ length: 60 }, (_, n) => `d${n}`)]]);
  const shown = configuration(tiles, [room]);
  expect(boundTiles(shown, many, upper)).toHaveLength(51);
  expect(boxes(boundTiles(shown, new Map(), upper))).toEqual([['below', 0, 1, 12, 1]]);
});

test('contract 39: a link of a title has the values of the variables that it names', () => {
  const [tile] = boundTiles(
    {
      variables: [
        { name: 'device', kind: 'DEVICE', multiple: true },
        { name: 'open', kind: 'TEXT' },
      ],
      tiles: [
        {
          id: 't',
          kind: 'text',
          x: 0,
          y: 0,
          width: 1,
          height: 1,
          link: {
            dashboardId: 'other',
            variables: {
              room: '{{device}}',
              floor: 'two',
              open: '{{open}}',
              list: ['a', '{{device}}'],
            },
          },
        },
      ],
    },
    new Map([['device', ['d1', 'd2']]]),
    (_, value) => value,
  );
  expect(tile?.link).toEqual({
    dashboardId: 'other',
    variables: { room: ['d1', 'd2'], floor: ['two'], list: ['a', 'd1', 'd2'] },
  });
});
