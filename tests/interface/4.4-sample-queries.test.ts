// Interface 4.4, contract 20 and 35: sample queries, topics, latest sample, inferred schema of 4.1.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anyTime, expectRefusal } from '../world/expectations.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let device: TestDevice;
const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

beforeAll(async () => {
  world = await startWorld();
  device = await world.device({ name: 'asked' });
  for (let n = 0; n < 5; n++) await world.capture(device, { n }, { timestamp: at(n) });
  for (let n = 0; n < 2; n++)
    await world.capture(device, { n, climate: true }, { timestamp: at(n), topic: 'climate' });
});
afterAll(() => world.close());

const path = () => `/v3/devices/${device.id}/query`;
const values = (samples: { data: { n: number } }[]) => samples.map(({ data }) => data.n);
const post = async (body: object) => values(await world.must('POST', path(), body));
const get = async (query: string) => values(await world.must('GET', `${path()}?${query}`));

describe('contract 20: a sample', () => {
  test('interface 4.4: timestamp, deviceId, data and topic; svcDeviceId is the same id', async () => {
    const [sample] = await world.must('POST', path(), { limit: 1 });
    expect(sample).toEqual({
      timestamp: at(4),
      deviceId: device.id,
      svcDeviceId: device.id,
      topic: 'default',
      data: { n: 4 },
    });
  });
  test('contract 34: akenzaDeviceId towards the vendor client', async () => {
    for (const [method, body] of [
      ['POST', {}],
      ['GET', undefined],
    ] as const) {
      const answer = await world.call(method, path(), body, { 'akenza-client': 'x' });
      expect(answer.body[0]).toMatchObject({
        deviceId: device.id,
        svcDeviceId: device.id,
        akenzaDeviceId: device.id,
      });
    }
  });
});

describe('contract 20: newest first, by POST and by GET', () => {
  for (const [what, body, query, expected] of [
    ['default topic', {}, '', [4, 3, 2, 1, 0]],
    ['a topic', { topic: 'climate' }, 'topic=climate', [1, 0]],
    ['all topics', { topic: '*' }, 'topic=*', [4, 3, 2, 1, 1, 0, 0]],
    ['an unknown topic', { topic: 'nowhere' }, 'topic=nowhere', []],
    ['limit', { limit: 2 }, 'limit=2', [4, 3]],
    ['limit and skip', { limit: 2, skip: 1 }, 'limit=2&skip=1', [3, 2]],
    ['skip beyond the end', { skip: 99 }, 'skip=99', []],
    ['the largest limit', { limit: 10_000 }, 'limit=10000', [4, 3, 2, 1, 0]],
    ['gt', { timestamp: { gt: at(2) } }, `timestamp.gt=${at(2)}`, [4, 3]],
    ['gte', { timestamp: { gte: at(2) } }, `timestamp.gte=${at(2)}`, [4, 3, 2]],
    ['lt', { timestamp: { lt: at(2) } }, `timestamp.lt=${at(2)}`, [1, 0]],
    ['lte', { timestamp: { lte: at(2) } }, `timestamp.lte=${at(2)}`, [2, 1, 0]],
    [
      'gt and lte',
      { timestamp: { gt: at(1), lte: at(3) } },
      `timestamp.gt=${at(1)}&timestamp.lte=${at(3)}`,
      [3, 2],
    ],
    [
      'gte and lt in another offset',
      { timestamp: { gte: '2026-01-01T01:00:01+01:00', lt: at(2) } },
      `timestamp.gte=2026-01-01T01:00:01%2B01:00&timestamp.lt=${at(2)}`,
      [1],
    ],
    [
      'an empty range',
      { timestamp: { gt: at(3), lt: at(2) } },
      `timestamp.gt=${at(3)}&timestamp.lt=${at(2)}`,
      [],
    ],
    [
      'bounds with the topic *',
      { topic: '*', timestamp: { lte: at(0) } },
      `topic=*&timestamp.lte=${at(0)}`,
      [0, 0],
    ],
  ] as const) {
    test(`POST ${what}`, async () => expect(await post(body)).toEqual(expected));
    test(`GET ${what}`, async () => expect(await get(query)).toEqual(expected));
  }

  test('nulls and members of other queries are ignored', async () => {
    expect(await post({ topic: null, timestamp: null, limit: null, skip: null })).toEqual([
      4, 3, 2, 1, 0,
    ]);
    expect(
      await post({ timestamp: { gt: null, gte: at(3), lt: null, lte: null }, deviceId: device.id }),
    ).toEqual([4, 3]);
  });
  test('GET: a plus sign that was not encoded', async () => {
    expect(await get('timestamp.gte=2026-01-01T01:00:03+01:00')).toEqual([4, 3]);
  });
  test('nothing stored: []', async () => {
    const fresh = await world.device();
    expect(await world.must('POST', `/v3/devices/${fresh.id}/query`, {})).toEqual([]);
    expect(await world.must('GET', `/v3/devices/${fresh.id}/query`)).toEqual([]);
  });

  for (const [body, query] of [
    [{ limit: 0 }, 'limit=0'],
    [{ limit: -1 }, 'limit=-1'],
    [{ limit: 10_001 }, 'limit=10001'],
    [{ limit: 'many' }, 'limit=many'],
    [{ limit: 1.5 }, 'limit=1.5'],
    [{ skip: -1 }, 'skip=-1'],
  ] as const)
    test(`refused: ${query}`, async () => {
      expectRefusal(await world.call('POST', path(), body), 400, '40001_INVALID_REQUEST', {
        path: path(),
      });
      expectRefusal(await world.call('GET', `${path()}?${query}`), 400, '40001_INVALID_REQUEST', {
        path: path(),
      });
    });
  for (const bound of ['gt', 'gte', 'lt', 'lte'])
    test(`rejected: ${bound} that is not a time`, async () => {
      const refused = await world.call('POST', path(), { timestamp: { [bound]: 'yesterday' } });
      expectRefusal(refused, 400, '40035_BAD_BOUND', {
        path: path(),
        message: expect.stringContaining(bound),
      });
      const other = await world.call('GET', `${path()}?timestamp.${bound}=yesterday`);
      expectRefusal(other, 400, '40035_BAD_BOUND', { path: path() });
    });
  test('refused: no body, an unknown operator', async () => {
    for (const body of [undefined, { timestamp: { eq: at(1) } }])
      expectRefusal(await world.call('POST', path(), body), 400, '40001_INVALID_REQUEST', {
        path: path(),
      });
  });
});

describe('contract, decisions: one sample is stored once', () => {
  test('an identical sample is stored once; the same instant with other data is another sample', async () => {
    const one = await world.device();
    const stored = async () =>
      (await world.must('POST', `/v3/devices/${one.id}/query`, { topic: '*' })).map(
        ({ data }: { data: unknown }) => data,
      );
    const timestamp = at(1);
    for (const body of [
      { a: 1, b: { c: [1] } },
      { b: { c: [1] }, a: 1 },
      { a: 1, b: { c: [1] } },
    ])
      expect((await world.capture(one, body, { timestamp })).status).toBe(201);
    expect(await stored()).toEqual([{ a: 1, b: { c: [1] } }]);
    await world.capture(one, { a: 2 }, { timestamp });
    await world.capture(one, { a: 3 }, { timestamp });
    // Samples of one instant are returned in reverse order of storing.
    expect(await stored()).toEqual([{ a: 3 }, { a: 2 }, { a: 1, b: { c: [1] } }]);
    await world.capture(one, { a: 3 }, { timestamp, topic: 'climate' });
    expect(await stored()).toHaveLength(4);
  });

  test('architecture 4: after the 2xx a query sees the sample, also of the past', async () => {
    const one = await world.device();
    for (let n = 0; n < 20; n++) {
      await world.capture(one, { n }, { timestamp: at(59 - n) });
      const [oldest] = (await world.must('POST', `/v3/devices/${one.id}/query`, {})).toReversed();
      expect(oldest.data).toEqual({ n });
    }
  });
});

describe('contract 20: topics and the latest sample', () => {
  test('query/topics is a list of texts', async () => {
    expect((await world.must('GET', `${path()}/topics`)).sort()).toEqual(['climate', 'default']);
    const fresh = await world.device();
    expect(await world.must('GET', `/v3/devices/${fresh.id}/query/topics`)).toEqual([]);
  });
  test('query/latest-sample is one sample, of a topic when asked', async () => {
    const known = { deviceId: device.id, svcDeviceId: device.id };
    expect(await world.must('GET', `${path()}/latest-sample`)).toEqual({
      ...known,
      timestamp: at(4),
      topic: 'default',
      data: { n: 4 },
    });
    expect(await world.must('GET', `${path()}/latest-sample?topic=climate`)).toEqual({
      ...known,
      timestamp: anyTime,
      topic: 'climate',
      data: { n: 1, climate: true },
    });
  });
  test('404 without a sample', async () => {
    const fresh = await world.device();
    for (const query of ['', '?topic=climate']) {
      const latest = `/v3/devices/${fresh.id}/query/latest-sample`;
      expectRefusal(await world.call('GET', latest + query), 404, '40430_NO_SAMPLE', {
        path: latest,
      });
    }
  });
  for (const [method, what] of [
    ['POST', 'query'],
    ['GET', 'query'],
    ['GET', 'query/topics'],
    ['GET', 'query/latest-sample'],
    ['GET', 'infer-schema'],
  ] as const)
    test(`unknown device: 404 ${method} ${what}`, async () => {
      const unknown = `/v3/devices/0200000000000000/${what}`;
      const refused = await world.call(method, unknown, method === 'POST' ? {} : undefined);
      expectRefusal(refused, 404, '40400_NOT_FOUND', { path: unknown });
    });
});

describe('interface 2.4 and 4.1, contract 22: infer-schema', () => {
  test('{} when nothing is declared and nothing stored', async () => {
    const fresh = await world.device();
    expect(await world.must('GET', `/v3/devices/${fresh.id}/infer-schema`)).toEqual({});
  });

  test('topic to schema object: declared properties as declared, measured ones inferred, declared topics without data too', async () => {
    const declared = {
      $id: 'https://maker.test/climate.json',
      $schema: 'http://json-schema.org/draft-07/schema#',
      title: 'Climate',
      type: 'object',
      properties: {
        temperature: {
          title: 'Temperature',
          type: 'number',
          unit: '°C',
          measurementType: 'maker/temperature',
          description: 'of the air',
          minimum: -40,
          maximum: 85,
          hideFromKpis: false,
        },
      },
    };
    const typed = await world.device({
      script: 'function consume(event) { emit("sample", { data: event.data, topic: "climate" }); }',
      schemas: { climate: declared, lifecycle: { ...declared, title: 'Life' } },
    });
    await world.capture(typed, { temperature: 20.5, open: true, name: 'x', place: { lat: 1.5 } });
    const schemas = await world.must('GET', `/v3/devices/${typed.id}/infer-schema`);
    expect(schemas).toEqual({
      climate: {
        $id: declared.$id,
        $schema: declared.$schema,
        title: 'Climate',
        type: 'object',
        properties: {
          temperature: { ...declared.properties.temperature, types: ['number'], inferred: false },
          open: { title: 'open', type: 'boolean', types: ['boolean'], inferred: true },
          name: { title: 'name', type: 'string', types: ['string'], inferred: true },
          place: {
            title: 'place',
            type: 'object',
            types: ['object'],
            inferred: true,
            properties: {
              lat: { title: 'lat', type: 'number', types: ['number'], inferred: true },
            },
          },
        },
      },
      lifecycle: expect.objectContaining({
        title: 'Life',
        type: 'object',
        properties: expect.any(Object),
      }),
    });
  });

  test('at most 50 topics', async () => {
    const many = await world.device({
      script: `function consume(event) { for (let i = 0; i < 30; i++) emit('sample', { data: { i }, topic: event.data.t + '.' + i }); }`,
    });
    for (const t of ['aa', 'bb']) await world.capture(many, { t });
    expect(
      Object.keys(await world.must('GET', `/v3/devices/${many.id}/infer-schema`)),
    ).toHaveLength(50);
    expect(await world.must('GET', `/v3/devices/${many.id}/query/topics`)).toHaveLength(60);
  });
});
