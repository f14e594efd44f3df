// Moved tiles and dashboards: every record that they name is replaced or left out, and nothing names what is gone.
import { expect, test } from 'vitest';
import type { Tile, Variable } from '../../../../../src/dashboards/configuration.ts';
import {
  movedDashboard,
  movedTile,
  type RecordKind,
  recordsOf,
  recordsOfDashboard,
} from './moved-tile.ts';

const place = { x: 0, y: 0, width: 6, height: 4 };
const chart: Tile = {
  ...place,
  id: 'chart',
  kind: 'line',
  series: [
    { deviceId: 'here-1', dataKey: 'a', ref: 'a' },
    { deviceId: 'gone-1', dataKey: 'b', ref: 'b' },
    { tagId: 'here-tag', dataKey: 'c' },
    { placeId: 'gone-place', dataKey: 'd' },
    { variable: 'room', dataKey: 'e' },
    { variable: 'owner', dataKey: 'f' },
  ],
  calculations: [
    { as: 'Twice', expression: 'a * 2' },
    { as: 'Sum', expression: 'a + b' },
  ],
  link: { dashboardId: 'here-board', variables: { room: 'here-1' } },
};
const variables: Variable[] = [
  {
    name: 'room',
    kind: 'DEVICE',
    tagId: 'gone-tag',
    multiple: true,
    default: ['gone-1', 'here-1'],
  },
  { name: 'owner', kind: 'CUSTOM_FIELD', fieldMetaId: 'gone-field', default: 'Anna' },
  { name: 'title', kind: 'TEXT', default: 'here-1' },
];
const there = (_: RecordKind, id: string) =>
  id.startsWith('here') ? id.replace('here', 'there') : undefined;

test('every record that a tile and its variables name is found once, with its kind', () => {
  expect(recordsOf(chart, variables).map(({ kind, id }) => `${kind} ${id}`)).toEqual([
    'tag gone-tag',
    'device gone-1',
    'device here-1',
    'field gone-field',
    'tag here-tag',
    'place gone-place',
    'dashboard here-board',
  ]);
});

test('series and calculations of what is gone are left out, and so is a variable without its field', () => {
  const moved = movedTile(chart, variables, there);
  expect(moved.tile).toEqual({
    ...place,
    id: 'chart',
    kind: 'line',
    series: [
      { deviceId: 'there-1', dataKey: 'a', ref: 'a' },
      { tagId: 'there-tag', dataKey: 'c' },
      { variable: 'room', dataKey: 'e' },
    ],
    calculations: [{ as: 'Twice', expression: 'a * 2' }],
    link: { dashboardId: 'there-board' },
  });
  expect(moved.variables).toEqual([
    { name: 'room', kind: 'DEVICE', multiple: true, default: ['there-1'] },
    { name: 'title', kind: 'TEXT', default: 'here-1' },
  ]);
});

test('where everything exists, only the values of the linked dashboard are left out', () => {
  expect(movedTile(chart, variables, (_, id) => id)).toEqual({
    tile: { ...chart, link: { dashboardId: 'here-board' } },
    variables,
  });
});

test('marks, links, and rules of what is gone are left out', () => {
  const plan: Tile = {
    ...place,
    id: 'plan',
    kind: 'plan',
    placeId: 'here-place',
    marks: [
      { deviceId: 'here-1', dataKey: 'a', x: 0, y: 1 },
      { deviceId: 'gone-1', dataKey: 'a', x: 1, y: 1 },
    ],
  };
  expect(movedTile(plan, [], there).tile).toEqual({
    ...plan,
    placeId: 'there-place',
    marks: [{ deviceId: 'there-1', dataKey: 'a', x: 0, y: 1 }],
  });
  const alarms: Tile = {
    ...place,
    id: 'alarms',
    kind: 'alarms',
    filter: { severity: ['MAJOR'], ruleId: ['here-rule', 'gone-rule'] },
  };
  expect(movedTile(alarms, [], there).tile?.filter).toEqual({
    severity: ['MAJOR'],
    ruleId: ['there-rule'],
  });
  const links: Tile = {
    ...place,
    id: 'links',
    kind: 'links',
    links: [
      { label: 'Board', dashboardId: 'gone-board' },
      { label: 'Manual', url: 'https://example.org' },
    ],
  };
  expect(movedTile(links, [], there).tile?.links).toEqual([
    { label: 'Manual', url: 'https://example.org' },
  ]);
});

test('a plan without its place and a control without its device are no tiles', () => {
  const plan: Tile = { ...place, id: 'plan', kind: 'plan', blobId: 'gone-picture' };
  expect(movedTile(plan, [], there).tile).toBeUndefined();
  const control: Tile = {
    ...place,
    id: 'pump',
    kind: 'control',
    label: 'Pump',
    deviceId: 'gone-1',
    downlink: {},
  };
  expect(movedTile(control, [], there).tile).toBeUndefined();
});

test('a dashboard keeps its settings and every tile that can be there; the others close the holes', () => {
  const pump: Tile = { ...place, id: 'pump', kind: 'control', deviceId: 'gone-1', downlink: {} };
  const below: Tile = { ...place, y: 4, id: 'below', kind: 'text', text: 'Below' };
  const right: Tile = { ...chart, x: 6 };
  const configuration = {
    schema: 'heliograph-dashboard',
    version: 2,
    range: { last: 'PT1H' },
    variables,
    tiles: [pump, right, below],
  } as const;
  expect(recordsOfDashboard({ ...configuration, tiles: [pump, below] })).toContainEqual({
    kind: 'device',
    id: 'gone-1',
  });
  const { configuration: moved, left } = movedDashboard(
    { ...configuration, tiles: [...configuration.tiles] },
    there,
  );
  expect(left).toEqual([pump]);
  const { tile, variables: kept } = movedTile(right, variables, there);
  expect(moved).toEqual({
    ...configuration,
    variables: kept,
    tiles: [tile, { ...below, y: 0 }],
  });
});
