// Interface 4.3: backfill of one or many samples, read while they arrive (contract 28 and 35).
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { databaseConnectorId } from '../../src/model/ids.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const single = (device: TestDevice, body: unknown, headers?: Record<string, string>) =>
  world.call('POST', `/v3/devices/${device.id}/backfill`, body, headers);
const bulk = (device: TestDevice, body: unknown, headers?: Record<string, string>) =>
  world.call('POST', `/v3/devices/${device.id}/backfill/bulk`, body, headers);
const samplesOf = (device: TestDevice, query: object = {}) =>
  world.must('POST', `/v3/devices/${device.id}/query`, { topic: '*', ...query });
const at = (minute: number) => new Date(Date.UTC(2026, 0, 5, 0, minute)).toISOString();
const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ timestamp: at(from + i), data: { n: from + i } }));

describe('single', () => {
  test('contract 28: 201 {message, accepted, rejected}; what is absent is filled in', async () => {
    const device = await world.device();
    const before = Date.now();
    expect(await single(device, { data: { a: 1 } })).toMatchObject({
      status: 201,
      body: { message: 'sample stored', accepted: 1, rejected: [] },
    });
    const full = {
      data: { b: 2 },
      topic: 'climate',
      timestamp: '2026-01-05T10:00:00+02:00',
      meta: { source: 'import' },
    };
    expect((await single(device, full)).status).toBe(201);
    const [newest, oldest] = await samplesOf(device);
    expect(newest).toMatchObject({ topic: 'default', data: { a: 1 } });
    expect(Date.parse(newest.timestamp)).toBeGreaterThanOrEqual(before);
    expect(oldest).toMatchObject({
      topic: 'climate',
      timestamp: '2026-01-05T08:00:00.000Z',
      data: { b: 2 },
      meta: { source: 'import' },
    });
  });

  for (const [body, errorCode] of [
    [{}, '40041_SAMPLE_DATA_MISSING'],
    [{ data: [1] }, '40041_SAMPLE_DATA_MISSING'],
    [{ data: {}, topic: 7 }, '40042_SAMPLE_TOPIC_NOT_TEXT'],
    [{ data: {}, meta: [] }, '40043_SAMPLE_META_NOT_AN_OBJECT'],
    [{ data: {}, timestamp: 'yesterday' }, '40003_TIMESTAMP_INVALID'],
    [{ data: {}, timestamp: true }, '40003_TIMESTAMP_INVALID'],
  ] as const)
    test(`${JSON.stringify(body)} is rejected with ${errorCode}`, async () => {
      const device = await world.device();
      expect(await single(device, body)).toMatchObject({
        status: 400,
        body: {
          errorCode: '40044_BACKFILL_REJECTED',
          accepted: 0,
          rejected: [{ index: 0, errorCode }],
        },
      });
      expect(await samplesOf(device)).toEqual([]);
    });
});

describe('bulk', () => {
  test('contract 35: 201 {accepted, duplicates, rejected}; the rest is stored in order', async () => {
    const device = await world.device();
    const body = [
      ...numbered(3),
      { data: 1 },
      ...numbered(2, 1),
      'x',
      { data: { n: 9 }, timestamp: at(9) },
    ];
    expect(await bulk(device, body)).toMatchObject({
      status: 201,
      body: {
        accepted: 4,
        duplicates: 2,
        rejected: [
          { index: 3, errorCode: '40041_SAMPLE_DATA_MISSING', message: expect.any(String) },
          { index: 6, errorCode: '40040_SAMPLE_NOT_AN_OBJECT', message: expect.any(String) },
        ],
      },
    });
    const stored = await samplesOf(device);
    expect(stored.map((sample: { data: { n: number } }) => sample.data.n)).toEqual([9, 2, 1, 0]);
    expect((await bulk(device, body)).body).toMatchObject({ accepted: 0, duplicates: 6 });
  });

  test('contract 35: all rejected is a 400 with the same list; an empty array is not an error', async () => {
    const device = await world.device();
    expect(await bulk(device, [1, { data: 'x' }])).toMatchObject({
      status: 400,
      body: { errorCode: '40044_BACKFILL_REJECTED', rejected: [{ index: 0 }, { index: 1 }] },
    });
    expect(await bulk(device, [])).toMatchObject({
      status: 201,
      body: { accepted: 0, duplicates: 0, rejected: [] },
    });
  });

  test('interface 2.3: samples pass the topic and key checks and leave notes that name their place', async () => {
    const device = await world.device();
    const odd = { timestamp: at(1), topic: 'bad topic', data: { good: 1, 'bad key!': 2 } };
    expect((await bulk(device, [...numbered(1), odd])).body).toMatchObject({
      accepted: 2,
      rejected: [],
    });
    const [sample] = await samplesOf(device);
    expect(sample).toMatchObject({
      topic: 'default',
      data: { good: 1 },
      meta: { svcTopicValidation: {}, svcDataKeyValidation: { 'bad key!': { value: 2 } } },
    });
    const log = await world.must('GET', `/v3/devices/${device.id}/processing-logs`);
    expect(log.content).toHaveLength(2);
    expect(log.content[0]).toMatchObject({ level: 'WARN', details: { index: 1 } });
  });

  test('samples of one instant come newest stored first, like uplinks', async () => {
    const device = await world.device();
    await bulk(
      device,
      [1, 2, 3].map((n) => ({ timestamp: at(0), data: { n } })),
    );
    const stored = await samplesOf(device);
    expect(stored.map((sample: { data: { n: number } }) => sample.data.n)).toEqual([3, 2, 1]);
  });

  test('20,000 samples in one request: stored, aggregated, announced once each and in order', async () => {
    const device = await world.device();
    const socket = new WebSocket(
      `${world.base.replace('http', 'ws')}/v3/data-streams?xApiKey=${world.apiKey}`,
    );
    const live: number[] = [];
    let enough: () => void = () => undefined;
    const all = new Promise<void>((resolve) => (enough = resolve));
    const subscribed = new Promise<void>((resolve) =>
      socket.on('message', (text) => {
        const message = JSON.parse(String(text)) as {
          type: string;
          sample: { data: { n: number } };
        };
        const subscriptions = [{ assetId: device.id, topic: '*' }];
        if (message.type === 'connected')
          socket.send(JSON.stringify({ type: 'subscribe', id: 1, subscriptions }));
        else if (message.type === 'subscribed') resolve();
        else if (message.type === 'sample_insert' && live.push(message.sample.data.n) === 20_000)
          enough();
      }),
    );
    await subscribed;
    const body = numbered(20_000);
    expect(await bulk(device, body)).toMatchObject({
      status: 201,
      body: { accepted: 20_000, duplicates: 0 },
    });
    const interval = { from: at(0), to: at(20_160) };
    for (const source of ['raw', 'aggregated/hourly']) {
      const question = { topic: 'default', dataKey: 'n', accumulator: 'COUNT', interval };
      expect(
        await world.must('POST', `/v3/devices/${device.id}/query/${source}/kpi`, question),
      ).toMatchObject({
        kpi: 20_000,
      });
    }
    await all;
    expect(live).toEqual(body.map((sample) => sample.data.n));
    socket.close();
  });

  test('broken JSON: 400 with the place, and what was stored before it', async () => {
    const device = await world.device();
    const text = JSON.stringify(numbered(1_500));
    const place = text.indexOf('{"n":1400}');
    const broken = `${text.slice(0, place)}{"n" 1400}${text.slice(place + 10)}`;
    const answer = await bulk(device, broken);
    expect(answer).toMatchObject({
      status: 400,
      body: { errorCode: '40045_BACKFILL_BROKEN', accepted: 1_400, duplicates: 0, rejected: [] },
    });
    expect(answer.body.message).toContain(`at sample 1400 (byte ${place + 5})`);
    expect(answer.body.message).toContain('1400 samples were stored');
    expect(await samplesOf(device, { limit: 10_000 })).toHaveLength(1_400);
    expect((await bulk(device, '{"data":{}}')).body.message).toBe(
      'The body is invalid at sample 0 (byte 0): it must be a JSON array. Nothing was stored',
    );
  });

  test('more than 100,000 samples: 413 that reports the stored ones', {
    timeout: 240_000,
  }, async () => {
    const device = await world.device();
    const answer = await bulk(device, numbered(100_001));
    expect(answer).toMatchObject({
      status: 413,
      body: { errorCode: '41301_BACKFILL_TOO_LARGE', accepted: 100_000 },
    });
    expect(answer.body.message).toContain('100,000 samples');
  });

  test('more than 64 MiB: 413 before anything is read when the length is said', async () => {
    const device = await world.device();
    const { status, body } = await raw(device, { 'content-length': String(64 * 1024 * 1024 + 1) }, [
      Buffer.from('['),
    ]);
    expect({ status, code: body.errorCode, accepted: body.accepted }).toEqual({
      status: 413,
      code: '41301_BACKFILL_TOO_LARGE',
      accepted: 0,
    });
  });

  test('a body in many pieces, its length unknown', async () => {
    const device = await world.device();
    const text = Buffer.from(JSON.stringify(numbered(300)));
    const pieces = Array.from({ length: Math.ceil(text.length / 97) }, (_, i) =>
      text.subarray(i * 97, (i + 1) * 97),
    );
    expect(await raw(device, { 'transfer-encoding': 'chunked' }, pieces)).toMatchObject({
      status: 201,
      body: { accepted: 300 },
    });
  });

  test('a flow without the database connector for a topic stores none of it', async () => {
    const device = await world.device({ outputs: [{ id: databaseConnectorId, topic: 'kept' }] });
    const body = ['kept', 'other'].map((topic, i) => ({ topic, timestamp: at(i), data: { i } }));
    expect((await bulk(device, body)).body).toMatchObject({ accepted: 2 });
    expect(await samplesOf(device)).toMatchObject([{ topic: 'kept' }]);
  });
});

describe('Idempotency-Key', () => {
  test('the same key gets the first answer, also at the same time; another body is a 422', async () => {
    const device = await world.device();
    const key = { 'idempotency-key': 'bulk-1' };
    const body = [{ data: { n: 1 } }, 7];
    const [first, second] = await Promise.all([bulk(device, body, key), bulk(device, body, key)]);
    expect(first).toMatchObject({
      status: 201,
      body: { accepted: 1, duplicates: 0, rejected: [{ index: 1 }] },
    });
    expect(second.body).toEqual(first.body);
    expect((await bulk(device, body, key)).body).toEqual(first.body);
    expect(await samplesOf(device)).toHaveLength(1);
    expect((await bulk(device, [{ data: { n: 2 } }], key)).status).toBe(422);
    // A request that was refused leaves no trace of its key.
    expect((await bulk(device, '[', { 'idempotency-key': 'bulk-2' })).status).toBe(400);
    expect((await bulk(device, body, { 'idempotency-key': 'bulk-2' })).status).toBe(201);
  });

  test('a single sample without a timestamp is stored once', async () => {
    const device = await world.device();
    const key = { 'idempotency-key': 'single-1' };
    const first = await single(device, { data: { n: 1 } }, key);
    expect(await single(device, { data: { n: 1 } }, key)).toMatchObject({
      status: 201,
      body: first.body,
    });
    expect(await samplesOf(device)).toHaveLength(1);
    expect((await single(device, { data: { n: 2 } }, key)).status).toBe(422);
  });
});

test('401 without a credential, 404 for an unknown device, 415 for another type, 400 for an empty body', async () => {
  const device = await world.device();
  expect((await bulk(device, [], { 'x-api-key': 'no.key' })).status).toBe(401);
  expect((await world.call('POST', '/v3/devices/0000000000000000/backfill/bulk', [])).status).toBe(
    404,
  );
  expect((await bulk(device, '[]', { 'content-type': 'text/plain' })).status).toBe(415);
  expect(await bulk(device, '')).toMatchObject({
    status: 400,
    body: { errorCode: '40045_BACKFILL_BROKEN' },
  });
});

interface RawAnswer {
  readonly status: number | undefined;
  readonly body: { readonly errorCode?: string; readonly accepted?: number };
}

/** A request whose bytes go out as given; one that says its length ends with the answer. */
function raw(
  device: TestDevice,
  headers: Record<string, string>,
  pieces: readonly Buffer[],
): Promise<RawAnswer> {
  const url = `${world.base}/v3/devices/${device.id}/backfill/bulk`;
  const all = { 'x-api-key': world.apiKey, 'content-type': 'application/json', ...headers };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers: all }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        resolve({
          status: answer.statusCode,
          body: JSON.parse(Buffer.concat(chunks).toString()) as RawAnswer['body'],
        });
        sent.destroy();
      });
    });
    sent.on('error', reject);
    for (const piece of pieces) sent.write(piece);
    if (headers['content-length'] === undefined) sent.end();
  });
}
