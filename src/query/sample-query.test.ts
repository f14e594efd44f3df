// The samples query, exports and the inferred schema on a plain list of samples.
import { afterAll, describe, expect, test } from 'vitest';
import { filledStore, type FilledStore } from '../../tests/oracle/filled-store.ts';
import type { JsonObject } from '../model/json.ts';
import { Problem } from '../model/problem.ts';
import type { Sample } from '../model/sample.ts';
import { inferSchema } from './inferred-schema.ts';
import { rawSeries, seriesText } from './legacy-series.ts';
import { sampleAnswer, sampleExport, sampleScan } from './sample-query.ts';

const filled: FilledStore[] = [];

afterAll(async () => {
  for (const { close } of filled) await close();
});

async function storeOf(samples: readonly Sample[]) {
  const made = await filledStore(samples);
  filled.push(made);
  return made.store;
}

const noon = Date.parse('2026-03-01T12:00:00Z');
const sample = (
  minute: number,
  data: JsonObject,
  topic = 'default',
  meta?: JsonObject,
): Sample => ({
  deviceId: 'd1',
  topic,
  timestamp: noon + minute * 60_000,
  data,
  ...(meta === undefined ? {} : { meta }),
});

function problemOf(run: () => unknown): Problem {
  try {
    run();
  } catch (error) {
    if (error instanceof Problem) return error;
  }
  throw new Error('nothing was refused');
}

describe('contract 20: the samples query', () => {
  test('topic is `default` when absent and `*` is all; limit is 8,000 and skip 0', () => {
    expect(sampleScan('d1', {})).toEqual({
      deviceId: 'd1',
      topic: 'default',
      limit: 8_000,
      skip: 0,
    });
    expect(sampleScan('d1', { topic: '*', limit: 5, skip: 2 })).toEqual({
      deviceId: 'd1',
      limit: 5,
      skip: 2,
    });
    const nulls = { topic: null, timestamp: null, limit: null, skip: null };
    expect(sampleScan('d1', nulls)).toEqual(sampleScan('d1', {}));
  });

  test.each([
    [{ gt: '2026-03-01T12:00:00Z' }, { from: noon + 1 }],
    [{ gte: '2026-03-01T13:00:00+01:00' }, { from: noon }],
    [{ lt: '2026-03-01T12:00:00.000999Z' }, { to: noon }],
    [{ lte: '2026-03-01T12:00:00Z' }, { to: noon + 1 }],
    [{ gt: '2026-03-01T12:00:00Z', gte: '2026-03-01T11:00:00Z', lt: null }, { from: noon + 1 }],
    [
      { gte: '2026-03-01T12:00:00Z', lte: '2026-03-01T12:00:00Z' },
      { from: noon, to: noon + 1 },
    ],
  ])('bounds %j are %j in whole milliseconds', (timestamp, range) => {
    expect(sampleScan('d1', { timestamp })).toEqual({ ...sampleScan('d1', {}), ...range });
  });

  test.each([
    [{ limit: 0 }, 'got 0'],
    [{ limit: 10_001 }, '1 to 10000'],
    [{ skip: -1 }, 'got -1'],
    [{ timestamp: { gt: 'noon' } }, 'Invalid timestamp.gt noon'],
  ])('%j is refused', (body, text) => {
    const refused = problemOf(() => sampleScan('d1', body));
    expect([refused.status, refused.message]).toEqual([400, expect.stringContaining(text)]);
  });

  test('a sample is answered with every name of the device id that clients read', () => {
    const { deviceId, ...rest } = sampleAnswer(sample(0, { a: 1 }), true);
    expect({ deviceId, ...rest }).toEqual({
      timestamp: '2026-03-01T12:00:00.000Z',
      deviceId: 'd1',
      svcDeviceId: 'd1',
      akenzaDeviceId: 'd1',
      topic: 'default',
      data: { a: 1 },
    });
    expect(Object.keys(sampleAnswer(sample(0, {}, 'default', { m: 1 }), false))).toEqual([
      'timestamp',
      'deviceId',
      'svcDeviceId',
      'topic',
      'data',
      'meta',
    ]);
  });
});

test('contract 21: the older raw series holds the values of the key, oldest first', async () => {
  const store = await storeOf([
    sample(2, { a: 2 }),
    sample(1, { a: 'x' }),
    sample(3, { b: 1 }),
    sample(4, { a: null }),
  ]);
  const asked = { topic: 'default', dataKey: 'a', timestamp: { gte: '2026-03-01T12:00:00Z' } };
  const series = await rawSeries('d1', asked, store);
  expect(JSON.parse([...seriesText(series, 'a')].join(''))).toEqual({
    dataPoints: [
      ['x', '2026-03-01T12:01:00.000Z'],
      [2, '2026-03-01T12:02:00.000Z'],
    ],
    key: 'a',
  });
});

test('review behaviour 14: more points than the limit are thinned to it, and the answer says so', async () => {
  const store = await storeOf(
    Array.from({ length: 50 }, (_, i) => sample(i, { a: i === 20 ? 99 : 1 })),
  );
  const { points, thinned } = await rawSeries('d1', { topic: 'default', dataKey: 'a' }, store, {
    pointsMax: 10,
  });
  expect([thinned, points.length]).toEqual([true, 10]);
  expect(points.map(({ value }) => value)).toContain(99);
  expect(
    (await rawSeries('d1', { topic: 'default', dataKey: 'a' }, store, { pointsMax: 50 })).thinned,
  ).toBe(false);
});

describe('export', () => {
  async function textOf(format: 'csv' | 'ndjson', samples: readonly Sample[]): Promise<string> {
    const { text } = await sampleExport({ deviceId: 'd1' }, format, await storeOf(samples));
    return (await Array.fromAsync(text)).join('');
  }
  const samples = [
    sample(1, { a: 1, position: { lat: 47.5, tags: [1, 'x'] } }),
    sample(0, { a: 'say "hi", you', b: true }, 'other', { note: 1 }),
    sample(2, { a: '=1+1', b: null }),
    sample(3, { a: -1, c: 'line\nbreak' }),
  ];

  test('NDJSON holds one sample a line, oldest first', async () => {
    const lines = (await textOf('ndjson', samples))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toHaveLength(4);
    expect(lines[0]).toEqual({
      timestamp: '2026-03-01T12:00:00.000Z',
      deviceId: 'd1',
      topic: 'other',
      data: { a: 'say "hi", you', b: true },
      meta: { note: 1 },
    });
  });

  test('CSV has one column per key of any sample, quotes what needs it and defuses formulas', async () => {
    expect((await textOf('csv', samples)).split('\r\n')).toEqual([
      'timestamp,deviceId,topic,a,b,position.lat,position.tags,c,meta',
      '2026-03-01T12:00:00.000Z,d1,other,"say ""hi"", you",true,,,,"{""note"":1}"',
      '2026-03-01T12:01:00.000Z,d1,default,1,,47.5,"[1,""x""]",,',
      "2026-03-01T12:02:00.000Z,d1,default,'=1+1,,,,,",
      '2026-03-01T12:03:00.000Z,d1,default,-1,,,,"line\nbreak",',
      '',
    ]);
  });

  test('more keys than columns share the last column as JSON', async () => {
    const wide = Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`k${i}`, i]));
    const [header, row] = (await textOf('csv', [sample(0, wide)])).split('\r\n');
    expect(header).toMatch(/,k999,otherData$/);
    expect(row).toMatch(/,999,"\{""k1000"":1000\}"$/);
  });

  test('no sample is no line, and a header alone', async () => {
    expect([await textOf('ndjson', []), await textOf('csv', [])]).toEqual([
      '',
      'timestamp,deviceId,topic\r\n',
    ]);
  });
});

describe('interface 2.4: the inferred schema', () => {
  test('joins declared with measured properties, nested ones too', async () => {
    const declared = {
      default: JSON.stringify({
        $id: 'https://example.org/climate.json',
        title: 'Climate',
        properties: {
          temperature: { title: 'Temperature', type: 'number', unit: '°C', maximum: 85 },
          position: { type: 'object', properties: { lat: { type: 'number', title: 'Latitude' } } },
          humidity: { $ref: 'https://example.org/models#/humidity' },
        },
      }),
      unused: { properties: { level: { type: 'number' } } },
      broken: '{',
    };
    const data = {
      temperature: 20.5,
      position: { lat: 1, lon: 2 },
      humidity: 40,
      door: 'open',
      mixed: 1,
      list: [1],
    };
    const store = await storeOf([
      sample(0, data),
      sample(1, { mixed: null, door: null }),
      sample(2, { mixed: 'x' }),
    ]);
    expect(await inferSchema('d1', declared, store, noon)).toEqual({
      default: {
        $id: 'https://example.org/climate.json',
        $schema: 'http://json-schema.org/draft-07/schema#',
        title: 'Climate',
        type: 'object',
        properties: {
          temperature: {
            title: 'Temperature',
            type: 'number',
            types: ['number'],
            unit: '°C',
            maximum: 85,
            inferred: false,
          },
          position: {
            title: 'position',
            type: 'object',
            types: ['object'],
            inferred: false,
            properties: {
              lat: { title: 'Latitude', type: 'number', types: ['number'], inferred: false },
              lon: { title: 'lon', type: 'number', types: ['number'], inferred: true },
            },
          },
          humidity: {
            title: 'humidity',
            type: 'number',
            types: ['number'],
            $ref: 'https://example.org/models#/humidity',
            inferred: false,
          },
          door: { title: 'door', type: 'string', types: ['null', 'string'], inferred: true },
          mixed: {
            title: 'mixed',
            type: 'string',
            types: ['null', 'number', 'string'],
            inferred: true,
          },
          list: { title: 'list', type: 'array', types: ['array'], inferred: true },
        },
      },
      unused: expect.objectContaining({ title: 'unused', type: 'object' }),
      broken: expect.objectContaining({ properties: {} }),
    });
  });

  test('behaviour 20: the type is one text, that of the newest value that is not null', async () => {
    const declared = {
      default: {
        properties: { list: { type: ['null', 'string', 'number'] }, kept: { type: 'string' } },
      },
      unused: { properties: { level: { type: ['null', 'number'] } } },
    };
    const dayLater = 25 * 60;
    const store = await storeOf([
      sample(0, { state: 'on', list: 'a', kept: 1, in: { deep: true } }),
      sample(1, { state: 5, list: 1, in: { deep: 1 } }),
      ...Array.from({ length: 250 }, (_, i) => sample(2 + i, { state: null, other: i })),
      sample(dayLater, { state: true, list: 'from the future' }),
    ]);
    const { default: schema, unused } = await inferSchema('d1', declared, store, noon);
    expect(schema!.properties).toMatchObject({
      state: { type: 'number', types: ['boolean', 'null', 'number', 'string'] },
      list: { type: 'number', types: ['null', 'string', 'number'] },
      kept: { type: 'string', types: ['number'] },
      in: {
        type: 'object',
        properties: { deep: { type: 'number', types: ['boolean', 'number'] } },
      },
      other: { type: 'number', types: ['number'] },
    });
    expect(unused!.properties['level']).toMatchObject({
      type: 'number',
      types: ['null', 'number'],
    });
  });

  test('contract 35: {} only when nothing is declared and nothing stored', async () => {
    expect(await inferSchema('d1', {}, await storeOf([]), noon)).toEqual({});
    expect(Object.keys(await inferSchema('d1', { alarm: {} }, await storeOf([]), noon))).toEqual([
      'alarm',
    ]);
  });

  test('interface 8: the newest 50 topics at most, declared ones first', async () => {
    const samples = Array.from({ length: 60 }, (_, i) => sample(i, { a: i }, `topic${i}`));
    const topics = Object.keys(
      await inferSchema('d1', { declared: {} }, await storeOf(samples), noon),
    );
    expect(topics).toEqual(['declared', ...Array.from({ length: 49 }, (_, i) => `topic${59 - i}`)]);
  });

  test('an object too wide to be taken apart is told by the newest sample of its topic', async () => {
    const wide = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, i]));
    const store = await storeOf([
      sample(0, { k1: 'text', old: true }),
      sample(1, { ...wide, on: null, in: { a: 1 } }),
    ]);
    const { properties } = (await inferSchema('d1', {}, store, noon))['default']!;
    expect(Object.keys(properties)).toHaveLength(303);
    expect(properties).toMatchObject({
      k0: { type: 'number', inferred: true },
      k1: { type: 'number', types: ['number', 'string'] },
      old: { type: 'boolean' },
      on: { type: 'null' },
      in: { type: 'object' },
    });
  });
});
