// Contract 18 and 35: payloads over HTTP in every variant that devices send, and what each is answered.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anyTime, anyUuid, expectRefusal } from '../world/expectations.ts';
import { checkedFetch } from '../world/checked-fetch.ts';
import { type Answered, startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let device: TestDevice;
beforeAll(async () => {
  world = await startWorld();
  device = await world.device({ name: 'sender' });
});
afterAll(() => world.close());

const path = '/v3/capture';

/** A request as a device makes it: without the API key of the world. */
function send(
  query: Record<string, string>,
  headers: Record<string, string>,
  body: string,
): Promise<Answered> {
  const asked = `${path}?${new URLSearchParams(query).toString()}`;
  return checkedFetch(
    world.base,
    'POST',
    asked,
    { 'content-type': 'application/json', ...headers },
    body,
  );
}
const latest = async (topic = 'default') =>
  (await world.must('POST', `/v3/devices/${device.id}/query`, { topic, limit: 1 }))[0];

describe('contract 18: secret and device id in every place that clients put them', () => {
  const variants: [string, () => [Record<string, string>, Record<string, string>]][] = [
    ['query secret and deviceId', () => [{ secret: device.secret, deviceId: device.deviceId }, {}]],
    [
      'query uplinkSecret and deviceId',
      () => [{ uplinkSecret: device.secret, deviceId: device.deviceId }, {}],
    ],
    [
      'x-uplink-secret and x-device-id',
      () => [{}, { 'x-uplink-secret': device.secret, 'x-device-id': device.deviceId }],
    ],
    [
      'headers in other capitals',
      () => [{}, { 'X-Uplink-Secret': device.secret, 'X-Device-Id': device.deviceId }],
    ],
    [
      'headers secret and deviceId',
      () => [{}, { secret: device.secret, deviceId: device.deviceId }],
    ],
    [
      'secret in the query, device in a header',
      () => [{ secret: device.secret }, { 'x-device-id': device.deviceId }],
    ],
    [
      'an API key beside the secret does not matter',
      () => [{ secret: device.secret, deviceId: device.deviceId }, { 'x-api-key': 'nonsense' }],
    ],
  ];
  for (const [at, [what, variant]] of variants.entries())
    test(what, async () => {
      const answer = await send(...variant(), JSON.stringify({ at }));
      expect(answer.status).toBe(201);
      expect(answer.body).toEqual({
        id: anyUuid,
        timestamp: anyTime,
        message: 'uplink received',
        stored: 1,
      });
      expect(await latest()).toMatchObject({ data: { at }, timestamp: answer.body.timestamp });
    });
});

describe('contract 18: topic, timestamp and body', () => {
  test('topic and timestamp by query', async () => {
    await world.capture(
      device,
      { a: 1 },
      { topic: 'climate', timestamp: '2026-01-01T10:00:00+02:00' },
    );
    expect(await latest('climate')).toMatchObject({
      timestamp: '2026-01-01T08:00:00.000Z',
      data: { a: 1 },
    });
  });
  test('a plus sign that was not encoded', async () => {
    const query = `secret=${device.secret}&deviceId=${device.deviceId}&topic=plus&timestamp=2026-01-01T10:00:00+02:00`;
    expect((await world.call('POST', `${path}?${query}`, { a: 1 })).status).toBe(201);
    expect(await latest('plus')).toMatchObject({ timestamp: '2026-01-01T08:00:00.000Z' });
  });
  test('an array becomes {values: [...]}; nested data stays as it is', async () => {
    await world.capture(device, [1, { b: 2 }], { topic: 'array' });
    expect(await latest('array')).toMatchObject({ data: { values: [1, { b: 2 }] } });
    const nested = { port: 1, payloadHex: '00', nested: { list: [1, null, 'x', { y: true }] } };
    await world.capture(device, nested, { topic: 'nested' });
    expect(await latest('nested')).toMatchObject({ data: nested });
  });
  test('an empty object is a sample without values', async () => {
    expect((await world.capture(device, {}, { topic: 'empty' })).status).toBe(201);
    expect(await latest('empty')).toMatchObject({ data: {} });
  });
  test('other JSON content types are taken', async () => {
    const query = { secret: device.secret, deviceId: device.deviceId };
    for (const type of [
      'application/json; charset=utf-8',
      'application/senml+json',
      'Application/JSON',
    ])
      expect((await send(query, { 'content-type': type }, '{"a":1}')).status).toBe(201);
  });
});

describe('contract 18 and 0.2: refusals', () => {
  let other: TestDevice;
  beforeAll(async () => {
    other = await world.device({ name: 'other' });
  });
  const right = () => ({ secret: device.secret, deviceId: device.deviceId });
  const json = { 'content-type': 'application/json' };
  const cases: [string, () => Promise<Answered>, number, string][] = [
    [
      'no secret',
      () => send({ deviceId: device.deviceId }, {}, '{}'),
      401,
      '40103_UPLINK_SECRET_MISSING',
    ],
    [
      'wrong secret',
      () => send({ ...right(), secret: 'wrong' }, {}, '{}'),
      401,
      '40104_UPLINK_SECRET_UNKNOWN',
    ],
    [
      'no device id',
      () => send({ secret: device.secret }, {}, '{}'),
      400,
      '40002_DEVICE_ID_MISSING',
    ],
    [
      'unknown device',
      () => send({ ...right(), deviceId: 'nobody' }, {}, '{}'),
      404,
      '40400_NOT_FOUND',
    ],
    [
      'the service device id is not the physical one',
      () => send({ ...right(), deviceId: device.id }, {}, '{}'),
      404,
      '40400_NOT_FOUND',
    ],
    [
      'device of another connector',
      () => send({ ...right(), deviceId: other.deviceId }, {}, '{}'),
      403,
      '40301_DEVICE_NOT_ON_CONNECTOR',
    ],
    ['not JSON', () => send(right(), {}, '{"a":'), 400, '40000_INVALID_JSON'],
    ['no body', () => send(right(), json, ''), 400, '40001_INVALID_REQUEST'],
    ['null', () => send(right(), {}, 'null'), 400, '40004_CAPTURE_BODY_INVALID'],
    [
      'a timestamp that is none',
      () => send({ ...right(), timestamp: 'noon' }, {}, '{}'),
      400,
      '40003_TIMESTAMP_INVALID',
    ],
    [
      'too large',
      () => send(right(), {}, JSON.stringify({ a: 'x'.repeat(1024 * 1024) })),
      413,
      '41300_PAYLOAD_TOO_LARGE',
    ],
  ];
  for (const [what, request, status, code] of cases)
    test(`${status} ${what}`, async () => {
      const refused = await request();
      expectRefusal(refused, status, code, { path });
    });
});

describe('review behaviour 32: JSON of simple clients', () => {
  for (const [what, headers] of [
    ['as a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['without a content type', { 'content-type': '' }],
    ['as plain text', { 'content-type': 'text/plain' }],
    ['as text/json', { 'content-type': 'text/json' }],
    ['as anything', { 'content-type': '*/*' }],
  ] as const) {
    test(what, async () => {
      const { request } = await import('node:http');
      const query = new URLSearchParams({
        secret: device.secret,
        deviceId: device.deviceId,
      }).toString();
      const sent = Object.entries(headers).filter(([, value]) => value !== '');
      const status = await new Promise((resolve, reject) => {
        const call = request(`${world.base}/v3/capture?${query}`, {
          method: 'POST',
          headers: Object.fromEntries(sent),
        });
        call.on('response', (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        call.on('error', reject);
        call.end(' {"simple": true}');
      });
      expect(status).toBe(201);
    });
  }
});

describe('contract 35: Idempotency-Key', () => {
  const withKey = (key: string, body: object, query: object = {}) =>
    send(
      { secret: device.secret, deviceId: device.deviceId, ...query },
      { 'idempotency-key': key },
      JSON.stringify(body),
    );
  const count = async (topic: string) =>
    (await world.must('POST', `/v3/devices/${device.id}/query`, { topic })).length;

  test('the same key gets the same answer and stores once', async () => {
    const first = await withKey('one', { a: 1 }, { topic: 'once' });
    const again = await withKey('one', { a: 1 }, { topic: 'once' });
    expect({ status: again.status, body: again.body }).toEqual({ status: 201, body: first.body });
    expect(await count('once')).toBe(1);
  });
  test('at the same time too', async () => {
    const answers = await Promise.all(
      [1, 2, 3].map(() => withKey('both', { a: 1 }, { topic: 'both' })),
    );
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(await count('both')).toBe(1);
  });
  test('the same key with another body: 422', async () => {
    await withKey('two', { a: 1 });
    expectRefusal(await withKey('two', { a: 2 }), 422, '42200_IDEMPOTENCY_KEY_REUSED', { path });
  });
  test('another device may use the same key', async () => {
    const other = await world.device({ name: 'same key' });
    const first = await withKey('three', { a: 1 });
    const second = await send(
      { secret: other.secret, deviceId: other.deviceId },
      { 'idempotency-key': 'three' },
      '{"a":1}',
    );
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
  });
  test('POST creates: the record is created once, also answered 201', async () => {
    const draft = { workspaceId: world.workspaceId, name: 'made once' };
    const post = () => world.call('POST', '/v3/tags', draft, { 'idempotency-key': 'tag' });
    const [first, again] = [await post(), await post()];
    expect(again).toMatchObject({ status: 201, body: first.body });
    const found = await world.must(
      'GET',
      `/v3/tags?workspaceId=${world.workspaceId}&search=made%20once`,
    );
    expect(found.totalElements).toBe(1);
    const changed = await world.call(
      'POST',
      '/v3/tags',
      { ...draft, name: 'x' },
      { 'idempotency-key': 'tag' },
    );
    expectRefusal(changed, 422, '42200_IDEMPOTENCY_KEY_REUSED', { path: '/v3/tags' });
  });
});

describe('contract 10: the database connector decides what can be queried', () => {
  const stored = async (one: TestDevice) =>
    (await world.must('POST', `/v3/devices/${one.id}/query`, { topic: '*' })).map(
      ({ topic }: { topic: string }) => topic,
    );
  test('a flow without it: answered 201, nothing to query', async () => {
    const one = await world.device({ outputs: [] });
    expect((await world.capture(one, { a: 1 })).status).toBe(201);
    expect(await stored(one)).toEqual([]);
    expect(await world.must('GET', `/v3/devices/${one.id}/query/topics`)).toEqual([]);
    expect(await world.must('GET', `/v3/devices/${one.id}`)).toMatchObject({
      onlineState: 'ONLINE',
    });
  });
  test('a topic filter stores only that topic', async () => {
    const one = await world.device({ outputs: [{ id: '0900000000000000', topic: 'climate' }] });
    await world.capture(one, { a: 1 }, { topic: 'climate' });
    await world.capture(one, { a: 2 }, { topic: 'lifecycle' });
    await world.capture(one, { a: 3 });
    expect(await stored(one)).toEqual(['climate']);
  });
  test('a changed flow holds from the next payload on', async () => {
    const one = await world.device({ outputs: [] });
    await world.capture(one, { a: 1 });
    const outputConnectors = [{ id: '0900000000000000', topic: '*' }];
    await world.must('PUT', `/v3/data-flows/${one.dataFlowId}`, { outputConnectors });
    await world.capture(one, { a: 2 });
    expect(await stored(one)).toEqual(['default']);
  });
});

describe('records change, the next payload knows', () => {
  test('a new deviceId is valid immediately, the old one is unknown', async () => {
    const one = await world.device({ name: 'renamed' });
    await world.capture(one, { a: 1 });
    await world.must('PUT', `/v3/devices/${one.id}`, { deviceId: 'its-new-id' });
    expectRefusal(await world.capture(one, { a: 2 }), 404, '40400_NOT_FOUND', { path });
    expect((await world.capture({ ...one, deviceId: 'its-new-id' }, { a: 3 })).status).toBe(201);
  });
  test('a device moved to a flow of another connector is refused with the old secret', async () => {
    const one = await world.device({ name: 'moved' });
    const two = await world.device({ name: 'stays' });
    await world.capture(one, { a: 1 });
    await world.must('PUT', `/v3/devices/${one.id}`, { dataFlowId: two.dataFlowId });
    expectRefusal(await world.capture(one, { a: 2 }), 403, '40301_DEVICE_NOT_ON_CONNECTOR', {
      path,
    });
    expect((await world.capture({ ...one, secret: two.secret }, { a: 3 })).status).toBe(201);
  });
  test('a deleted device is unknown to capture and queries; its successor begins without samples', async () => {
    const one = await world.device({ name: 'deleted' });
    await world.capture(one, { a: 1 });
    await world.must('DELETE', `/v3/devices/${one.id}`);
    expectRefusal(await world.capture(one, { a: 2 }), 404, '40400_NOT_FOUND', { path });
    const query = `/v3/devices/${one.id}/query`;
    expectRefusal(await world.call('POST', query, {}), 404, '40400_NOT_FOUND', { path: query });
    const { deviceId, dataFlowId } = one;
    const draft = {
      name: 'again',
      deviceId,
      dataFlowId,
      workspaceId: world.workspaceId,
      connectivity: 'HTTP',
    };
    const again = await world.must('POST', '/v3/devices', draft);
    expect(await world.must('POST', `/v3/devices/${again.id}/query`, { topic: '*' })).toEqual([]);
    expect((await world.capture(one, { a: 3 })).status).toBe(201);
  });
});
