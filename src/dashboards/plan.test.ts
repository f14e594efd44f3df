// Plan of a dashboard: every tile of a dashboard is served by one request for series and one for newest values.
import { expect, test } from 'vitest';
import type { Tile, TileKind } from './configuration.ts';
import {
  answersByKey,
  deviceSeriesOf,
  groupsOf,
  latestBodies,
  linesMax,
  seriesBody,
  seriesPlan,
  seriesRequests,
  sharedBucket,
  tileSeriesOf,
} from './plan.ts';
import { type BoundSeries, type BoundTile, boundTiles, sourceKey } from './variables.ts';

function tile(id: string, kind: TileKind, series: Tile['series']): BoundTile {
  const stored: Tile = { id, kind, x: 0, y: 0, width: 3, height: 2, series: series ?? null };
  const [bound] = boundTiles({ tiles: [stored] }, new Map(), (_, value) => value);
  if (bound === undefined) throw new Error('a tile is one tile');
  return bound;
}

function seriesOfTile(series: NonNullable<Tile['series']>[number]): BoundSeries {
  const [bound] = tile('a', 'line', [series]).series;
  if (bound === undefined) throw new Error('a series of a device or tag is one series');
  return bound;
}
const temperature = { deviceId: 'd1', dataKey: 'temperature' };
const dayMs = 86_400_000;

test('a series that three tiles show is asked for once, with what all of them need', () => {
  const tiles = [
    tile('a', 'value', [temperature]),
    tile('b', 'line', [temperature]),
    tile('c', 'bar', [{ ...temperature, accumulator: 'SUM' }]),
  ];
  expect(seriesRequests(tiles, new Map()).map(({ series }) => series)).toEqual([
    [
      {
        deviceId: 'd1',
        topic: 'default',
        dataKey: 'temperature',
        ref: 's0',
        accumulators: ['AVG', 'LAST', 'MIN', 'MAX', 'SUM'],
      },
    ],
  ]);
});

test('contract 38: series with other options are other series', () => {
  const rate = { ...temperature, accumulator: 'RATE', per: 'PT1H' } as const;
  const state = { ...temperature, accumulator: 'TIME_IN_STATE', state: 'open' } as const;
  const tiles = [tile('a', 'line', [temperature]), tile('b', 'line', [rate, state])];
  const plan = seriesPlan(tiles, new Map(), { fromMs: 0, toMs: dayMs });
  expect(plan.map(({ series }) => series)).toMatchObject([
    [
      { accumulators: ['AVG', 'MIN', 'MAX'] },
      { accumulators: ['RATE'], per: 'PT1H' },
      { accumulators: ['TIME_IN_STATE'], state: 'open' },
    ],
  ]);
  const answers = answersByKey(plan[0] ?? { keys: new Map() }, [
    { ref: 's1', name: 'rate' },
    { ref: 's0', name: 'average' },
  ]);
  const [average] = tileSeriesOf(tiles[0] ?? tile('a', 'line', []), new Map());
  expect(new Map(answers).get(average?.key ?? '')).toMatchObject({ name: 'average' });
  const [one] = deviceSeriesOf(seriesOfTile({ ...temperature, expected: true }), new Map());
  expect(one).toMatchObject({ expected: 'MEDIUM', order: {} });
});

test('the newest values of all tiles are one request, with the position for a map', () => {
  const tiles = [
    tile('a', 'value', [temperature]),
    tile('b', 'map', [{ deviceId: 'd2', dataKey: 'latitude' }]),
    tile('c', 'text', null),
  ];
  expect(latestBodies(tiles)).toEqual([
    { deviceIds: ['d1', 'd2'], size: 1_000, keys: ['temperature', 'latitude', 'longitude'] },
  ]);
});

test('a series of a tag is one of each of its devices', () => {
  const series = { tagId: 't1', topic: 'air', dataKey: 'co2', label: 'All rooms' };
  const tag = { kind: 'TAG', id: 't1' } as const;
  const devices = new Map([[sourceKey(tag), ['d1', 'd2']]]);
  expect(groupsOf([tile('a', 'line', [series])])).toEqual([tag]);
  const bound = seriesOfTile(series);
  expect(deviceSeriesOf(bound, devices).map(({ deviceId, topic }) => [deviceId, topic])).toEqual([
    ['d1', 'air'],
    ['d2', 'air'],
  ]);
  expect(deviceSeriesOf(bound, new Map())).toEqual([]);
});

test('very many series are several requests, each within the limit of points', () => {
  const many = Array.from({ length: 100 }, (_, n) =>
    tile(
      `t${n}`,
      'line',
      Array.from({ length: 10 }, (__, m) => ({ deviceId: `d${n * 10 + m}`, dataKey: 'a' })),
    ),
  );
  const requests = seriesRequests(many, new Map());
  expect(requests.map(({ series }) => series.length)).toEqual([300, 300, 300, 100]);
  const bucket = sharedBucket(
    requests.map(({ series }) => series),
    { fromMs: 0, toMs: 30 * dayMs },
  );
  expect((30 * 86_400 * 300 * 3) / bucket.seconds).toBeLessThanOrEqual(100_000);
});

test('few series have the shortest bucket that a chart shows', () => {
  const requests = seriesRequests([tile('a', 'line', [temperature])], new Map());
  expect(
    sharedBucket(
      requests.map(({ series }) => series),
      { fromMs: 0, toMs: dayMs },
    ).iso,
  ).toBe('PT2M');
});

test('of a tag with many devices only the lines that are drawn are asked for', () => {
  const ids = Array.from({ length: 200 }, (_, n) => `d${n}`);
  const shown = tile('a', 'line', [{ tagId: 't1', dataKey: 'co2' }]);
  expect(
    seriesRequests([shown], new Map([[sourceKey({ kind: 'TAG', id: 't1' }), ids]]))[0]?.series,
  ).toHaveLength(linesMax);
});

test.each([
  ['a bucket that the range shows is asked for', 'PT15M', 'PT15M'],
  ['one of a calendar too', 'P1M', 'P1M'],
  ['one that is too short for the range is not', 'PT1S', 'PT2M'],
  ['nor what is not a duration', 'hourly', 'PT2M'],
  ['nor an empty one', 'P', 'PT2M'],
])('%s: %s', (_, bucketInterval, asked) => {
  const shown = { ...tile('a', 'line', [temperature]), bucketInterval };
  const day = { fromMs: 0, toMs: dayMs };
  expect(seriesPlan([shown], new Map(), day).map(({ bucket }) => bucket.iso)).toEqual([asked]);
});

test('tiles that name a bucket leave that of the others as it is', () => {
  const plain = tile('a', 'line', [temperature]);
  const hourly = { ...tile('b', 'bar', [temperature]), bucketInterval: 'PT1H' };
  const plan = seriesPlan([plain, hourly, plain], new Map(), { fromMs: 0, toMs: dayMs });
  expect(plan.map(({ bucket, series }) => [bucket.iso, series[0]?.accumulators])).toEqual([
    ['PT2M', ['AVG', 'MIN', 'MAX']],
    ['PT1H', ['AVG', 'COUNT']],
  ]);
});

test('a short bucket for many series is several requests within the limit of points', () => {
  const many = Array.from({ length: 40 }, (_, n) => ({
    ...tile(`t${n}`, 'line', [{ deviceId: `d${n}`, dataKey: 'a' }]),
    bucketInterval: 'PT2M',
  }));
  const plan = seriesPlan(many, new Map(), { fromMs: 0, toMs: dayMs });
  expect(plan.flatMap(({ series }) => series)).toHaveLength(40);
  for (const { series } of plan) {
    const lines = series.reduce((sum, { accumulators }) => sum + accumulators.length, 0);
    expect(lines * 721).toBeLessThanOrEqual(100_000);
  }
});

// Calculations between series.

const level = { deviceId: 'd1', dataKey: 'level', ref: 'a' };
const limit = { deviceId: 'd2', dataKey: 'limit', ref: 'b', hidden: true, accumulator: 'MAX' };
const difference = { as: 'Difference', expression: 'a.MAX - b' };

function calculating(kind: TileKind, series: Tile['series'], more: Partial<Tile> = {}): BoundTile {
  const place = { id: 'a', kind, x: 0, y: 0, width: 3, height: 2 };
  const stored: Tile = { ...place, series: series ?? null, calculations: [difference], ...more };
  const [bound] = boundTiles({ tiles: [stored] }, new Map(), (_, value) => value);
  if (bound === undefined) throw new Error('a tile is one tile');
  return bound;
}

test('contract 38: a tile with calculations asks for them with its series, also for hidden ones', () => {
  const shown = calculating('line', [level, limit, { deviceId: 'd3', dataKey: 'level' }]);
  const other = tile('b', 'line', [{ deviceId: 'd1', dataKey: 'level' }]);
  const plan = seriesPlan([shown, other], new Map(), { fromMs: 0, toMs: dayMs });
  expect(plan.map(({ series, calculations }) => ({ series, calculations }))).toMatchObject([
    {
      series: [
        { ref: 'a', accumulators: ['AVG', 'MIN', 'MAX'] },
        { ref: 'b', hidden: true, accumulators: ['MAX'] },
        { ref: 's0', accumulators: ['AVG', 'MIN', 'MAX'] },
      ],
      calculations: [{ as: '=0', expression: 'a.MAX - b' }],
    },
    { series: [{ ref: 's0' }], calculations: undefined },
  ]);
  const all = tileSeriesOf(shown, new Map());
  expect(all.map(({ deviceId, label, accumulator }) => [deviceId, label, accumulator])).toEqual([
    ['d1', undefined, 'AVG'],
    ['d3', undefined, 'AVG'],
    ['', 'Difference', 'VALUE'],
  ]);
  const answered = [{ ref: 'a' }, { ref: 's0' }, { as: '=0' }, { as: 'of nobody' }];
  const answers = answersByKey(plan[0] ?? { keys: new Map() }, answered);
  expect(answers.map(([key]) => key)).toEqual(all.map(({ key }) => key));
});

test('bars of calculations are buckets, because values of finer ones cannot be added up', () => {
  const range = { fromMs: 0, toMs: dayMs };
  const bucketOfTile = (shown: BoundTile) =>
    seriesPlan([shown], new Map(), range).map(({ bucket, isOwn }) => [bucket.iso, isOwn]);
  expect(bucketOfTile(calculating('bar', [level, limit]))).toEqual([['PT3H', true]]);
  const named = calculating('bar', [level, limit], { bucketInterval: 'PT1H' });
  expect(bucketOfTile(named)).toEqual([['PT1H', true]]);
  expect(bucketOfTile(calculating('line', [level, limit]))).toEqual([['PT2M', false]]);
});

test('a calculation of a series without a device is left out, and one of a tile without any too', () => {
  const range = { fromMs: 0, toMs: dayMs };
  const missing = { variable: 'gone', dataKey: 'limit', ref: 'b' };
  const [request] = seriesPlan([calculating('line', [level, missing])], new Map(), range);
  expect(request?.calculations).toEqual([]);
  expect(request && seriesBody(request, range, 'UTC')).not.toHaveProperty('calculations');
  expect(seriesPlan([calculating('line', [missing])], new Map(), range)).toEqual([]);
});

test('however many series a tile with calculations has, its request is within the limit of points', () => {
  const many = Array.from({ length: 50 }, (_, n) => ({
    ...level,
    deviceId: `d${n}`,
    ref: `a${n}`,
  }));
  const calculations = [{ as: 'All', expression: many.map(({ ref }) => `${ref}.MAX`).join(' + ') }];
  const shown = calculating('line', many, { calculations, bucketInterval: 'PT2M' });
  const [request] = seriesPlan([shown], new Map(), { fromMs: 0, toMs: dayMs });
  const lines = request?.series.reduce((sum, { accumulators }) => sum + accumulators.length, 0);
  expect(request?.series).toHaveLength(50);
  expect(((lines ?? 0) * dayMs) / 1_000 / (request?.bucket.seconds ?? 1)).toBeLessThan(100_000);
});

test('combined devices are one series in a request of their tile, and no device is asked for', () => {
  const total = { tagId: 't1', dataKey: 'power', across: 'SUM' } as const;
  const tiles = [
    tile('a', 'line', [{ ...total, label: 'Total' }, temperature]),
    tile('b', 'value', [{ placeId: 'p1', dataKey: 'power', across: 'MAX' }]),
    tile('c', 'line', [temperature]),
  ];
  expect(groupsOf(tiles)).toEqual([]);
  expect(latestBodies(tiles)).toEqual([]);
  const plan = seriesPlan(tiles, new Map(), { fromMs: 0, toMs: dayMs });
  const power = { topic: 'default', dataKey: 'power' };
  expect(plan.map(({ series, bucket }) => [bucket.iso, series])).toMatchObject([
    [
      'PT2M',
      [
        { ...power, devices: { tagId: 't1' }, across: 'SUM', accumulators: ['AVG'] },
        { deviceId: 'd1', accumulators: ['AVG', 'MIN', 'MAX'] },
      ],
    ],
    ['P100Y', [{ ...power, devices: { placeId: 'p1' }, across: 'MAX', accumulators: ['LAST'] }]],
    ['PT2M', [{ deviceId: 'd1' }]],
  ]);
  expect(
    tileSeriesOf(tiles[0]!, new Map()).map(({ label, isOfMany }) => [label, isOfMany]),
  ).toEqual([
    ['Total', false],
    [undefined, false],
  ]);
});

test('the more devices are combined, the longer are the buckets; bars have buckets of their own', () => {
  const totals = Array.from({ length: 12 }, (_, at) => {
    return { tagId: `t${at}`, dataKey: 'power', across: 'SUM' } as const;
  });
  const planOf = (kind: TileKind, count: number) =>
    seriesPlan([tile('a', kind, totals.slice(0, count))], new Map(), { fromMs: 0, toMs: dayMs });
  for (const [count, iso] of [
    [1, 'PT2M'],
    [4, 'PT15M'],
    [12, 'PT30M'],
  ] as const) {
    const [request] = planOf('line', count);
    expect(request?.bucket.iso).toBe(iso);
  }
  expect(planOf('bar', 1)).toMatchObject([{ isOwn: true, bucket: { iso: 'PT1H' } }]);
});

test('combined devices of a variable are named by each of its values', () => {
  const stored: Tile = {
    ...{ id: 'a', kind: 'line', x: 0, y: 0, width: 3, height: 2 },
    series: [
      { variable: 'floor', dataKey: 'power', across: 'SUM' },
      { variable: 'floor', dataKey: 'power', across: 'AVG', label: 'Mean of {{floor}}' },
    ],
  };
  const configuration = {
    tiles: [stored],
    variables: [{ name: 'floor', kind: 'PLACE', multiple: true } as const],
  };
  const values = new Map([['floor', ['p1', 'p2']]]);
  const [bound] = boundTiles(configuration, values, (_, value) => value.toUpperCase());
  expect(bound?.series.map(({ label, source }) => [label, source.id])).toEqual([
    ['P1', 'p1'],
    ['P2', 'p2'],
    ['Mean of P1', 'p1'],
    ['Mean of P2', 'p2'],
  ]);
});
