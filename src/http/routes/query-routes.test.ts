// The query routes over a real socket: paths, shapes, pages, status codes and who may read what.
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { filledStore } from '../../../tests/oracle/filled-store.ts';
import { problem } from '../../model/problem.ts';
import type { Place } from '../../model/record.ts';
import type { Sample } from '../../model/sample.ts';
import { openTimeZones } from '../../model/time-zone.ts';
import { Calendars } from '../../query/calendars.ts';
import { openPublicHolidays } from '../../query/public-holidays.ts';
import { createServer } from '../edge/server.ts';
import { kpiQueryRoutes } from './kpi-queries.ts';
import { sampleQueryRoutes } from './sample-queries.ts';
import { seriesQueryRoutes } from './series-queries.ts';

const noon = Date.parse('2026-03-01T12:00:00Z');
const workspaces: Readonly<Record<string, string>> = {
  d1: 'w1',
  d2: 'w1',
  empty: 'w1',
  foreign: 'w2',
};
const calendar = { timezone: null, workingHours: null, holidays: null, holidayRegion: null };
const samples: readonly Sample[] = ['d1', 'd2', 'foreign'].flatMap((deviceId, d) =>
  Array.from(
    { length: 6 },
    (_, i): Sample => ({
      deviceId,
      topic: i === 5 ? 'alarm' : 'default',
      timestamp: noon + i * 600_000,
      data: { value: (d + 1) * 10 + i },
    }),
  ),
);
const interval = { from: '2026-03-01T12:00:00Z', to: '2026-03-01T13:00:00Z' };
const common = {
  topic: 'default',
  dataKey: 'value',
  accumulator: 'SUM',
  interval,
  bucketInterval: 'PT30M',
};

let base: string;
let close: () => Promise<void>;

function placeOfDevice(id: string): Place {
  const workspaceId = workspaces[id];
  if (workspaceId === undefined) throw problem('notFound', { what: 'device', id });
  return { organizationId: 'o1', workspaceId, what: 'device', id };
}

function authorize(_principal: unknown, scope: string, verb: string, place?: Place): void {
  expect([scope, verb]).toEqual(['asset', 'read']);
  if (place !== undefined && place.workspaceId !== 'w1') throw problem('permissionDenied');
}

beforeAll(async () => {
  const { store, close: closeStore } = await filledStore(samples);
  const parts = {
    // No request here reads records.
    records: undefined as never,
    store,
    calendars: new Calendars(() => calendar, openTimeZones(), openPublicHolidays()),
    now: () => noon + 86_400_000,
    placeOfDevice,
    fieldsOfDevice: () => ({}),
    placeOfTag: (id: string): Place => {
      if (id !== 'office') throw problem('notFound', { what: 'tag', id });
      return { organizationId: 'o1', workspaceId: 'w1', what: 'tag', id };
    },
    devicesOfTag: () => ['d1', 'd2', 'empty'].map((id) => ({ id, workspaceId: 'w1' })),
    ownerOfPlace: (id: string): Place => {
      throw problem('notFound', { what: 'place', id });
    },
    devicesOfPlace: () => [],
    ownerOfWorkspace: (id: string): Place => {
      throw problem('notFound', { what: 'workspace', id });
    },
    devicesByPlace: async () => new Map(),
    typeOfDevice: async () => null,
    authorize,
    aliased: (headers: IncomingHttpHeaders) => headers['akenza-client'] !== undefined,
  };
  const app = await createServer({
    routes: [...sampleQueryRoutes(parts), ...kpiQueryRoutes(parts), ...seriesQueryRoutes(parts)],
    guard: {
      identify: () => ({
        kind: 'API_KEY',
        id: 'k',
        name: 'k',
        organizationId: 'o1',
        workspaces: new Set(['w1']),
        permissions: { asset: ['read'] },
      }),
      authorize,
    },
    events: { answered: () => undefined, failed: (error) => console.error(error) },
    now: () => noon,
    publicUrl: 'http://localhost:1',
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  close = async () => {
    await app.close();
    await closeStore();
  };
});

afterAll(() => close());

async function call(path: string, body?: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(base + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const json = answer.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: answer.status, headers: answer.headers, body: json ? JSON.parse(text) : text };
}

describe('interface 4.4: samples', () => {
  test('POST and GET answer the same array, newest first', async () => {
    const asked = { topic: '*', timestamp: { gt: '2026-03-01T12:10:00Z' }, limit: 2, skip: 1 };
    const posted = await call('/v3/devices/d1/query', asked);
    expect(posted.status).toBe(200);
    expect(posted.body.map((s: { data: unknown }) => s.data)).toEqual([
      { value: 14 },
      { value: 13 },
    ]);
    const got = await call(
      '/v3/devices/d1/query?topic=*&timestamp.gt=2026-03-01T12:10:00Z&limit=2&skip=1',
    );
    expect(got.body).toEqual(posted.body);
    expect(Object.keys(got.body[0])).toEqual([
      'timestamp',
      'deviceId',
      'svcDeviceId',
      'topic',
      'data',
    ]);
  });

  test('contract 34: the alias of the device id goes to the clients that read it', async () => {
    const [sample] = (await call('/v3/devices/d1/query', {}, { 'akenza-client': 'java' })).body;
    expect(sample).toMatchObject({ deviceId: 'd1', svcDeviceId: 'd1', akenzaDeviceId: 'd1' });
  });

  test('topics, latest sample, and 404 without any', async () => {
    expect((await call('/v3/devices/d1/query/topics')).body).toEqual(['alarm', 'default']);
    expect((await call('/v3/devices/d1/query/latest-sample')).body).toMatchObject({
      topic: 'alarm',
    });
    expect((await call('/v3/devices/d1/query/latest-sample?topic=default')).body.data).toEqual({
      value: 14,
    });
    const none = await call('/v3/devices/empty/query/latest-sample');
    expect([none.status, none.body.errorCode]).toEqual([404, '40430_NO_SAMPLE']);
    expect((await call('/v3/devices/empty/query', {})).body).toEqual([]);
  });

  test.each([
    [{ timestamp: { after: '2026-03-01T12:10:00Z' } }, 400],
    [{ limit: 10_001 }, 400],
    [{ limit: 1.5 }, 400],
    [{ topic: 5 }, 400],
    [[], 400],
  ])('%j is refused', async (body, status) =>
    expect((await call('/v3/devices/d1/query', body)).status).toBe(status),
  );
});

describe('interface 4.4: kpi and series', () => {
  test.each([
    ['raw', '2026-03-01T12:00:00.000Z'],
    ['aggregated/hourly', '2026-03-01T12:00:00.000Z'],
  ])('%s/kpi ignores bucketInterval', async (source) => {
    const { status, body } = await call(`/v3/devices/d1/query/${source}/kpi`, common);
    expect([status, body]).toEqual([
      200,
      { deviceId: 'd1', topic: 'default', dataKey: 'value', kpi: 60 },
    ]);
  });

  test('raw and hourly series', async () => {
    expect((await call('/v3/devices/d1/query/raw/time-series', common)).body).toEqual({
      deviceId: 'd1',
      topic: 'default',
      dataKey: 'value',
      dataPoints: [33, 27],
      timestamps: ['2026-03-01T12:00:00.000Z', '2026-03-01T12:30:00.000Z'],
    });
    const hourly = await call('/v3/devices/d1/query/aggregated/hourly/time-series', common);
    expect([hourly.status, hourly.body.errorCode]).toEqual([400, '40031_BAD_BUCKET_INTERVAL']);
  });

  test('contract 21: both older forms', async () => {
    const raw = {
      topic: 'default',
      dataKey: 'value',
      timestamp: { gte: interval.from, lte: '2026-03-01T12:10:00Z' },
    };
    expect((await call('/v3/devices/d1/query/time-series', raw)).body).toEqual({
      dataPoints: [
        [10, '2026-03-01T12:00:00.000Z'],
        [11, '2026-03-01T12:10:00.000Z'],
      ],
      key: 'value',
    });
    const older = {
      data: { key: 'value', topic: 'default' },
      timestamp: interval,
      bucket: { interval: 'PT1H', aggregation: 'MAX' },
    };
    expect((await call('/v3/devices/d1/query/time-series/aggregation', older)).body).toEqual({
      data: { dataPoints: [14], timestamps: ['2026-03-01T12:00:00.000Z'] },
    });
  });

  test.each(['topic', 'dataKey', 'accumulator', 'interval'])(
    'a body without %s is a 400 that names it',
    async (field) => {
      const { [field]: _, ...rest } = common as Record<string, unknown>;
      const { status, body } = await call('/v3/devices/d1/query/raw/kpi', rest);
      expect([status, body.message]).toEqual([400, expect.stringContaining(field)]);
    },
  );

  test('an unknown device is a 404 and a forbidden one a 403, before the body is read', async () => {
    expect((await call('/v3/devices/nobody/query/raw/kpi', {})).status).toBe(404);
    expect((await call('/v3/devices/foreign/query/raw/kpi', {})).status).toBe(403);
  });
});

describe('interface 4.5: tags and batches', () => {
  const kpi = (deviceId: string, value: number | null) => ({
    deviceId,
    topic: 'default',
    dataKey: 'value',
    kpi: value,
  });

  test('a tag is answered as a page of 20 with one item per device', async () => {
    const { body } = await call('/v3/tags/office/query/raw/kpi', common);
    expect(body).toMatchObject({
      totalElements: 3,
      size: 20,
      number: 0,
      totalPages: 1,
      last: true,
      empty: false,
    });
    expect(body.content).toEqual([kpi('d1', 60), kpi('d2', 110), kpi('empty', null)]);
    const second = (await call('/v3/tags/office/query/aggregated/hourly/kpi?page=1&size=2', common))
      .body;
    expect([second.content, second.first, second.last]).toEqual([
      [kpi('empty', null)],
      false,
      true,
    ]);
  });

  test.each(['raw', 'aggregated/hourly'])('%s/accumulated-kpi sums the devices', async (source) => {
    const tagged = await call(`/v3/tags/office/query/${source}/accumulated-kpi`, common);
    expect(tagged.body).toEqual({ kpi: 170, tagId: 'office', topic: 'default', dataKey: 'value' });
    const listed = await call(`/v3/devices/query/batch/${source}/accumulated-kpi`, {
      ...common,
      deviceIds: ['d2', 'd1', 'd2'],
    });
    expect(listed.body).toEqual({
      kpi: 170,
      topic: 'default',
      dataKey: 'value',
      deviceIds: ['d2', 'd1'],
    });
  });

  test.each(['', '/raw/kpi', '/aggregated/hourly/kpi'])(
    'contract 21: batch%s is a page in the order asked',
    async (path) => {
      const { body } = await call(`/v3/devices/query/batch${path}?size=1`, {
        ...common,
        deviceIds: ['d2', 'd1'],
      });
      expect([body.content, body.totalElements, body.totalPages]).toEqual([[kpi('d2', 110)], 2, 2]);
    },
  );

  test('contract 36: unknown devices are omitted from a batch, a forbidden one refuses it', async () => {
    const batch = (deviceIds: string[]) =>
      call('/v3/devices/query/batch/raw/kpi', { ...common, deviceIds });
    const unknown = await batch(['d1', 'nobody']);
    expect(unknown.body.content.map(({ deviceId }: { deviceId: string }) => deviceId)).toEqual([
      'd1',
    ]);
    const none = await batch(['nobody']);
    expect([none.status, none.body.message]).toEqual([404, 'No device with id nobody']);
    expect((await batch(['d1', 'foreign'])).status).toBe(403);
    expect((await batch([])).status).toBe(400);
    expect((await call('/v3/tags/nothing/query/raw/kpi', common)).status).toBe(404);
  });
});

test('interface 4.1: infer-schema', async () => {
  const { body } = await call('/v3/devices/d1/infer-schema');
  expect(Object.keys(body)).toEqual(['alarm', 'default']);
  expect(body.default.properties).toEqual({
    value: { title: 'value', type: 'number', types: ['number'], inferred: true },
  });
});

test('exports are downloads of all topics, or of one, in the range', async () => {
  const all = await call('/v3/devices/d1/export');
  expect([all.status, all.headers.get('content-type')]).toEqual([
    200,
    'application/x-ndjson; charset=utf-8',
  ]);
  expect(all.body.trimEnd().split('\n')).toHaveLength(6);
  const csv = await call(
    `/v3/devices/d1/export?format=csv&topic=default&from=${interval.from}&to=2026-03-01T12:20:00Z`,
  );
  expect(csv.headers.get('content-disposition')).toBe('attachment; filename="samples-d1.csv"');
  expect(csv.body.split('\r\n').slice(0, 2)).toEqual([
    'timestamp,deviceId,topic,value',
    '2026-03-01T12:00:00.000Z,d1,default,10',
  ]);
  // Behaviour 25: a double click in Excel shows the columns, the letters and the local times.
  const excel = await call(
    '/v3/devices/d1/export?format=excel&topic=default&timeZone=Europe/Zurich',
  );
  expect(excel.headers.get('content-disposition')).toBe('attachment; filename="samples-d1.csv"');
  expect(excel.body.split('\r\n').slice(0, 2)).toEqual([
    expect.stringMatching(/^\ufeff?timestamp Europe\/Zurich;deviceId;topic;value$/),
    '2026-03-01 13:00:00.000;d1;default;10',
  ]);
  for (const query of [
    'format=excel&timeZone=Mars',
    'format=xml',
    'from=x',
    `from=${interval.to}&to=${interval.from}`,
  ]) {
    expect((await call(`/v3/devices/d1/export?${query}`)).status).toBe(400);
  }
});

test('whatever is sent, no query route fails: it answers or refuses', async () => {
  const value = fc.oneof(
    fc.constantFrom('default', 'value', 'PT1H', 'P1M', '0000-01-01T00:00:00Z', '9999-12-31'),
    fc.jsonValue(),
  );
  const field = fc.constantFrom(
    'topic',
    'dataKey',
    'accumulator',
    'interval',
    'bucketInterval',
    'timeZone',
    'timestamp',
  );
  const paths = [
    'query',
    'query/raw/kpi',
    'query/aggregated/hourly/time-series',
    'query/raw/time-series',
    'query/time-series',
  ];
  const endless = {
    ...common,
    interval: { from: '0000-01-01T00:00:00Z', to: '9999-12-31T23:59:59Z' },
  };
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...paths),
      fc.dictionary(field, value),
      fc.boolean(),
      async (path, change, long) => {
        const { status, body } = await call(`/v3/devices/d1/${path}`, {
          ...(long ? endless : common),
          ...change,
        });
        if (status !== 200 && status !== 400) throw new Error(`${status}: ${JSON.stringify(body)}`);
      },
    ),
    { numRuns: 300 },
  );
});
