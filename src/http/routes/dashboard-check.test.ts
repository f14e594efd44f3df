// Contract 32, 39: a dashboard configuration that declares the schema is checked, any other is accepted.
import { expect, test } from 'vitest';
import type { JsonObject } from '../../model/json.ts';
import { Problem } from '../../model/problem.ts';
import { checkDashboardConfiguration } from './dashboard-check.ts';

const place = { x: 0, y: 0, width: 6, height: 2 };
const series = [{ deviceId: '0200000000000001', dataKey: 'temperature' }];
const line = { id: 'a', kind: 'line', ...place, series };
const declared = (tiles: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  schema: 'heliograph-dashboard',
  version: 1,
  tiles: [...tiles],
  ...more,
});

const building = { name: 'building', kind: 'PLACE', multiple: true };
const second = (tiles: readonly JsonObject[], more: JsonObject = {}): JsonObject =>
  declared(tiles, {
    version: 2,
    variables: [
      building,
      { name: 'note', kind: 'TEXT' },
      { name: 'rooms', kind: 'DEVICE', multiple: true },
    ],
    ...more,
  });
const temperature = { deviceId: 'x', dataKey: 'temperature' };
const inflow = { ...temperature, ref: 'a' };
const outflow = { deviceId: 'y', dataKey: 'temperature', ref: 'b', hidden: true };
const ratio = { as: 'Ratio', expression: 'a / b.MAX * 100', unit: '%', axis: 'RIGHT' };
const calculating = (more: JsonObject): JsonObject => ({
  ...line,
  series: [inflow, outflow],
  calculations: [ratio],
  ...more,
});
const total = { dataKey: 'power', across: 'SUM' };
const bare = { id: 'a', ...place };
const control = { ...bare, kind: 'control', deviceId: 'x', label: 'Pump', downlink: { port: 1 } };

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
  [
    'an expected range and options of accumulators',
    declared([
      {
        ...line,
        series: [
          { deviceId: 'x', dataKey: 'a', expected: true },
          { deviceId: 'x', dataKey: 'a', expected: 'LOW' },
          { deviceId: 'x', dataKey: 'a', accumulator: 'RATE', per: 'PT1H', resets: 'ALL' },
          {
            deviceId: 'x',
            dataKey: 'a',
            accumulator: 'TIME_IN_STATE',
            state: 'open',
            maxGap: 'PT2H',
          },
        ],
      },
      {
        ...line,
        id: 'bar',
        kind: 'bar',
        series: [{ deviceId: 'x', dataKey: 'a', expected: false }],
      },
    ]),
  ],
  ['a series of a tag', declared([{ ...line, series: [{ tagId: 'x', dataKey: 'a' }] }])],
  ['calculations', second([calculating({ calculations: [ratio, { ...ratio, as: 'Other' }] })])],
  [
    'calculations of a repeated variable',
    second([
      calculating({
        repeat: 'rooms',
        series: [
          inflow,
          { variable: 'rooms', expression: 'a * 2', ref: 'b' },
          { ...total, tagId: 'x', ref: 'c' },
          { ...total, placeId: 'x', ref: 'd', across: 'MEDIAN' },
          { ...total, variable: 'building' },
        ],
      }),
    ]),
  ],
  [
    'version 2 with every kind',
    second([
      { ...bare, id: '1', kind: 'line', title: '{{building}}', repeat: 'building' },
      { ...bare, id: '2', kind: 'gauge', min: 0, max: 10, series },
      { ...bare, id: '3', kind: 'heatmap', series: [{ variable: 'building', dataKey: 'a' }] },
      { ...bare, id: '4', kind: 'timeline', series: [{ placeId: 'x', dataKey: 'a' }] },
      { ...bare, id: '5', kind: 'histogram', series: [{ ...series[0], axis: 'RIGHT' }] },
      { ...bare, id: '6', kind: 'devices', columns: [{ dataKey: 'a', spark: true }] },
      { ...bare, id: '7', kind: 'alarms', filter: { severity: 'MAJOR' } },
      {
        ...bare,
        id: '8',
        kind: 'plan',
        variable: 'building',
        marks: [{ deviceId: 'x', dataKey: 'a', x: 0, y: 1 }],
      },
      { ...control, id: '9', input: { key: 'on', kind: 'SWITCH' } },
      {
        ...bare,
        id: '10',
        kind: 'links',
        links: [{ label: 'Manual', url: 'https://example.com' }],
      },
      { ...bare, id: '11', kind: 'map', track: true },
    ]),
  ],
  [
    'version 2 with its settings',
    second([], {
      refresh: 'PT5S',
      compare: 'P7D',
      annotations: { alarms: true, notes: false },
    }),
  ],
])('%s is accepted', (_, configuration) => {
  expect(() => checkDashboardConfiguration(configuration)).not.toThrow();
});

test.each<[string, JsonObject, RegExp]>([
  ['a later version', declared([], { version: 3 }), /configuration\.version: must be 1 or 2/],
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
  [
    'a range around bars',
    declared([
      { ...line, kind: 'bar', series: [{ deviceId: 'x', dataKey: 'a', expected: 'LOW' }] },
    ]),
    /series\.0\.expected: only line tiles draw an expected range/,
  ],
  [
    'a range around a formula',
    declared([{ ...line, series: [{ deviceId: 'x', expression: 'a * 2', expected: true }] }]),
    /series\.0\.expected: requires dataKey/,
  ],
  [
    'an unknown sensitivity',
    declared([{ ...line, series: [{ deviceId: 'x', dataKey: 'a', expected: 'EXTREME' }] }]),
    /series\.0\.expected/,
  ],
  [
    'a time in no state',
    declared([
      { ...line, series: [{ deviceId: 'x', dataKey: 'a', accumulator: 'TIME_IN_STATE' }] },
    ]),
    /series\.0\.state: is required for TIME_IN_STATE/,
  ],
  [
    'a gap without a length',
    declared([
      { ...line, series: [{ deviceId: 'x', dataKey: 'a', accumulator: 'RATE', per: 'P1M' }] },
    ]),
    /series\.0\.per: must not have months or years/,
  ],
  [
    'what is unusual, which is for rules',
    declared([{ ...line, series: [{ deviceId: 'x', expression: 'unusual(a)' }] }]),
    /series\.0\.expression: unusual can be used in conditions of rules only/,
  ],
  [
    'a calculation of a histogram',
    second([calculating({ kind: 'histogram' })]),
    /tiles\.0\.calculations: only value, line, bar, state, table, and gauge tiles/,
  ],
  [
    'two calculations of one value',
    second([
      calculating({
        kind: 'gauge',
        calculations: [
          { as: 'Sum', expression: 'a + b' },
          { as: 'Difference', expression: 'a - b' },
        ],
      }),
    ]),
    /tiles\.0\.calculations\.1: gauge tiles show one calculation/,
  ],
  [
    'a named series of a timeline',
    second([calculating({ kind: 'timeline', calculations: [] })]),
    /tiles\.0\.series\.0\.ref: only series of value, line, bar, state, table, and gauge tiles are named/,
  ],
  [
    'a hidden series without a name',
    second([calculating({ series: [inflow, outflow, { ...temperature, hidden: true }] })]),
    /tiles\.0\.series\.2\.hidden: requires ref/,
  ],
  [
    'a name twice',
    second([calculating({ series: [inflow, { ...outflow, ref: 'a' }] })]),
    /tiles\.0\.series\.1\.ref: must be unique/,
  ],
  [
    'a name of the language',
    second([calculating({ series: [inflow, { ...outflow, ref: 'timestamp' }] })]),
    /series\.1\.ref: timestamp has a meaning of its own/,
  ],
  [
    'a name that is no name',
    second([calculating({ series: [inflow, { ...outflow, ref: 'b-c' }] })]),
    /series\.1\.ref/,
  ],
  ...[
    { tagId: 'x', dataKey: 'a', ref: 'b' },
    { placeId: 'x', dataKey: 'a', ref: 'b' },
    { variable: 'building', dataKey: 'a', ref: 'b' },
    { variable: 'rooms', dataKey: 'a', ref: 'b' },
  ].map((other): [string, JsonObject, RegExp] => [
    `a name for the devices of ${Object.values(other).join(' ')}`,
    second([calculating({ series: [inflow, other] })]),
    /series\.1\.ref: requires a series of a single device/,
  ]),
  [
    'combined devices of a histogram',
    second([{ ...line, kind: 'histogram', series: [{ ...total, tagId: 'x' }] }]),
    /series\.0\.across: only value, line, bar, state, table, and gauge tiles combine devices/,
  ],
  ...[{ deviceId: 'x' }, { variable: 'rooms' }].map((one): [string, JsonObject, RegExp] => [
    `combined devices of ${Object.values(one).join('')}`,
    second([{ ...line, series: [{ ...total, ...one }] }]),
    /series\.0\.across: requires tagId, placeId, or a variable of kind TAG or PLACE/,
  ]),
  [
    'the expected range of combined devices',
    second([{ ...line, series: [{ ...total, tagId: 'x', expected: true }] }]),
    /series\.0\.expected: cannot be set with across/,
  ],
  [
    'an unknown combination of devices',
    second([{ ...line, series: [{ ...total, tagId: 'x', across: 'P95' }] }]),
    /series\.0\.across/,
  ],
  [
    'a calculation of an unknown series',
    second([calculating({ calculations: [{ as: 'Ratio', expression: 'a / c' }] })]),
    /tiles\.0\.calculations\.0\.expression: no series has the ref c \(character 5\)/,
  ],
  [
    'a calculation that is no formula',
    second([calculating({ calculations: [{ as: 'Ratio', expression: 'a /' }] })]),
    /tiles\.0\.calculations\.0\.expression: .*\(character 4\)/,
  ],
  [
    'a calculation of a window',
    second([calculating({ calculations: [{ as: 'Mean', expression: 'avgOver(a, "PT1H")' }] })]),
    /calculations\.0\.expression: calculations read the points of series only/,
  ],
  [
    'a calculation of another device',
    second([calculating({ calculations: [{ as: 'x', expression: 'a - device("d", "b")' }] })]),
    /calculations\.0\.expression: calculations read the points of series only/,
  ],
  [
    'an unknown accumulator',
    second([calculating({ calculations: [{ as: 'x', expression: 'a.BEST' }] })]),
    /calculations\.0\.expression: the series a has no accumulator BEST/,
  ],
  [
    'a time in no state in a calculation',
    second([calculating({ calculations: [{ as: 'x', expression: 'a.TIME_IN_STATE' }] })]),
    /calculations\.0\.expression: TIME_IN_STATE requires state in the series a/,
  ],
  [
    'too many accumulators of a series',
    second([
      calculating({
        calculations: [
          {
            as: 'x',
            expression: Array.from({ length: 9 }, (_, n) => `a.P${n + 1}`).join(' + '),
          },
        ],
      }),
    ]),
    /at most 8 accumulators of a series/,
  ],
  [
    'a label of a calculation twice',
    second([calculating({ calculations: [ratio, ratio] })]),
    /tiles\.0\.calculations\.1\.as: must be unique/,
  ],
  [
    '21 calculations',
    second([
      calculating({
        calculations: Array.from({ length: 21 }, (_, n) => ({ ...ratio, as: `r${n}` })),
      }),
    ]),
    /calculations/,
  ],
  ['a series of nothing', declared([{ ...line, series: [{ dataKey: 'a' }] }]), /series\.0: /],
  ['a kind of version 2', declared([{ ...line, kind: 'gauge' }]), /tiles\.0\.kind: gauge requires/],
  [
    'a series of two',
    second([{ ...line, series: [{ deviceId: 'x', tagId: 'y', dataKey: 'a' }] }]),
    /tiles\.0\.series\.0: set exactly one of deviceId, tagId, placeId and variable/,
  ],
  [
    'an undeclared variable',
    second([{ ...line, series: [{ variable: 'no', dataKey: 'a' }] }]),
    /tiles\.0\.series\.0\.variable: no variable no is declared/,
  ],
  [
    'a series of a text',
    second([{ ...line, series: [{ variable: 'note', dataKey: 'a' }] }]),
    /kind TEXT names no device/,
  ],
  [
    'a variable with a bad name',
    second([], { variables: [{ name: 'B c', kind: 'TEXT' }] }),
    /variables\.0\.name/,
  ],
  [
    'a variable twice',
    second([], { variables: [building, building] }),
    /variables\.1\.name: must be unique/,
  ],
  [
    'a field without its id',
    second([], { variables: [{ name: 'f', kind: 'CUSTOM_FIELD' }] }),
    /variables\.0\.fieldMetaId: is required/,
  ],
  [
    'a narrowed tag',
    second([], { variables: [{ name: 'f', kind: 'TAG', placeId: 'x' }] }),
    /variables\.0\.placeId: only narrows/,
  ],
  [
    '21 variables',
    second([], {
      variables: Array.from({ length: 21 }, (_, n) => ({ name: `v${n}`, kind: 'TEXT' })),
    }),
    /variables/,
  ],
  ['too fast a refresh', second([], { refresh: 'PT4S' }), /refresh: must be from PT5S to P1D/],
  ['a refresh in months', second([], { refresh: 'P1M' }), /refresh: months/],
  [
    'a comparison with words',
    second([], { compare: 'LAST' }),
    /compare: must be PREVIOUS or a duration/,
  ],
  [
    'an empty gauge',
    second([{ ...bare, kind: 'gauge', min: 5, max: 5 }]),
    /tiles\.0\.max: must be greater than min/,
  ],
  [
    'a repetition of one',
    second([{ ...line, repeat: 'one' }], { variables: [{ name: 'one', kind: 'DEVICE' }] }),
    /tiles\.0\.repeat: variable one must have multiple/,
  ],
  [
    'a mark outside',
    second([
      {
        ...bare,
        kind: 'plan',
        blobId: 'x',
        marks: [{ deviceId: 'x', dataKey: 'a', x: 1.5, y: 0 }],
      },
    ]),
    /marks\.0\.x/,
  ],
  [
    'a plan of nothing',
    second([{ ...bare, kind: 'plan' }]),
    /tiles\.0: set exactly one of placeId, variable and blobId/,
  ],
  [
    'a control without a downlink',
    second([{ ...bare, kind: 'control', deviceId: 'x', label: 'Pump' }]),
    /tiles\.0\.downlink: is required/,
  ],
  [
    'a choice without options',
    second([{ ...control, input: { key: 'k', kind: 'CHOICE' } }]),
    /tiles\.0\.input\.options/,
  ],
  [
    'a link over http',
    second([{ ...bare, kind: 'links', links: [{ label: 'a', url: 'http://x' }] }]),
    /links\.0\.url: must be an https URL/,
  ],
  [
    'a link with a script',
    second([{ ...bare, kind: 'links', links: [{ label: 'a', url: 'javascript:alert(1)' }] }]),
    /links\.0\.url/,
  ],
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
