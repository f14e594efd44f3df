// InfluxDB senders: what real ones send, what they are answered, and where their points are stored.
import { gzipSync } from 'node:zlib';
import { InfluxDB as InfluxTwo, Point } from '@influxdata/influxdb-client';
import { InfluxDB as InfluxOne } from 'influx';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

interface Site {
  readonly secret: string;
  readonly connectorId: string;
  readonly dataFlowId: string;
  /** Makes a device with the physical id. */
  device(deviceId: string): Promise<string>;
}

let sites = 0;

async function site(lineProtocol: object = {}): Promise<Site> {
  const { workspaceId } = world;
  const name = `site ${++sites}`;
  const connector = await world.must('POST', '/v3/device-connectors', {
    name,
    workspaceId,
    connectivity: 'HTTP',
    lineProtocol,
  });
  const flow = await world.must('POST', '/v3/data-flows', {
    name,
    workspaceId,
    passThrough: true,
    deviceConnector: { id: connector.id },
    outputConnectors: [{ id: '0900000000000000', topic: '*' }],
  });
  return {
    secret: connector.uplinkSecret,
    connectorId: connector.id,
    dataFlowId: flow.id,
    async device(deviceId) {
      const draft = { name: deviceId, deviceId, workspaceId, dataFlowId: flow.id };
      return (await world.must('POST', '/v3/devices', { ...draft, connectivity: 'HTTP' })).id;
    },
  };
}

/** Newest first. */
async function stored(id: string, topic = '*') {
  const samples = await world.must('POST', `/v3/devices/${id}/query`, { topic, limit: 10_000 });
  return samples as { topic: string; timestamp: string; data: object; meta?: object }[];
}

async function send(path: string, body: string | Buffer, headers: Record<string, string> = {}) {
  const sent = typeof body === 'string' ? body : new Uint8Array(body);
  const answer = await fetch(world.base + path, { method: 'POST', headers, body: sent });
  const text = await answer.text();
  return {
    status: answer.status,
    body: text === '' ? undefined : JSON.parse(text),
    headers: answer.headers,
  };
}

const token = (secret: string) => ({ authorization: `Token ${secret}` });
const basic = (secret: string) => ({
  authorization: `Basic ${Buffer.from(`any:${secret}`).toString('base64')}`,
});
const nanos = (ms: number) => `${ms}000000`;
const at = Date.UTC(2026, 0, 5);

test('ping and CREATE DATABASE are answered as their server answers them', async () => {
  const { secret } = await site();
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await fetch(`${world.base}/ping`, { method });
    expect([status, headers.get('x-influxdb-version')]).toEqual([204, '1.8.10']);
  }
  const created = { status: 200, body: { results: [{ statement_id: 0 }] } };
  const statement = encodeURIComponent('CREATE DATABASE "house"');
  expect(
    await send(`/query?q=${statement}`, '', { ...basic(secret), 'content-type': '' }),
  ).toMatchObject(created);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  expect(await send('/query', `q=${statement}`, { ...basic(secret), ...form })).toMatchObject(
    created,
  );
  expect(await send('/query?q=DROP+DATABASE+house', '', basic(secret))).toMatchObject({
    status: 400,
  });
  expect(await send(`/query?q=${statement}`, '')).toMatchObject({ status: 401 });
});

test('behaviour 16: senders that look before they write get answers and errors of their server', async () => {
  const { secret } = await site();
  const ask = async (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<{ status: number; body: unknown }> => {
    const answer = await fetch(`${world.base}${path}`, { method, headers, ...(body && { body }) });
    return { status: answer.status, body: await answer.json() };
  };
  const q = (text: string) => `/query?db=house&q=${encodeURIComponent(text)}`;
  const shown = await ask('GET', q('SHOW DATABASES'), basic(secret));
  expect(shown).toMatchObject({
    status: 200,
    body: { results: [{ statement_id: 0, series: [{ name: 'databases', columns: ['name'] }] }] },
  });
  expect(JSON.stringify(shown.body)).toContain('["house"]');
  expect(await ask('GET', q('show retention policies on "house";'), basic(secret))).toMatchObject({
    status: 200,
    body: { results: [{ series: [{ values: [['autogen', '0s', '168h0m0s', 1, true]] }] }] },
  });
  expect(await ask('POST', q('SHOW DATABASES; CREATE DATABASE x'), basic(secret))).toMatchObject({
    body: { results: [{ statement_id: 0 }, { statement_id: 1 }] },
  });
  const one = { error: expect.any(String) };
  const two = { code: expect.any(String), message: expect.any(String) };
  for (const [method, path, status, body] of [
    ['GET', q('SELECT * FROM cpu'), 400, one],
    ['GET', '/query', 400, one],
    ['DELETE', '/query', 405, one],
    ['GET', '/write', 405, one],
    ['POST', '/ping', 405, one],
    ['GET', '/api/v2/write', 405, two],
    ['POST', '/api/v2/query', 404, two],
    ['GET', '/api/v2/buckets', 404, two],
  ] as const) {
    const answer = await ask(method, path, basic(secret), method === 'POST' ? 'x' : undefined);
    expect([method, path, answer]).toEqual([method, path, { status, body }]);
  }
  const coded = { ...basic(secret), 'content-encoding': 'zstd' };
  expect(await ask('POST', '/write', coded, 'a v=1')).toEqual({ status: 415, body: one });
  expect(await ask('POST', '/api/v2/write', coded, 'a v=1')).toEqual({ status: 415, body: two });
});

describe('a write', () => {
  test('of version 1 and 2, with every credential, precision and gzip, is 204 and stored', async () => {
    const { secret, device } = await site();
    const id = await device('h1');
    const line = (n: number, time: number | string) => `cpu,host=h1 n=${n}i ${time}\n`;
    const gzip = { 'content-encoding': 'gzip' };
    const answers = [
      await send(`/write?db=x&u=any&p=${secret}`, line(0, nanos(at))),
      await send('/write?db=x&precision=ms', line(1, at + 1_000), basic(secret)),
      await send('/write?consistency=all&db=x&precision=ns&rp=', line(2, nanos(at + 2_000)), {
        ...basic(secret),
        'content-type': '',
      }),
      await send('/write?db=x&precision=s', gzipSync(line(3, at / 1_000 + 3)), {
        ...basic(secret),
        ...gzip,
        'content-type': 'application/octet-stream',
      }),
      await send(
        '/api/v2/write?org=o&bucket=b&precision=us',
        gzipSync(line(4, (at + 4_000) * 1_000)),
        { ...token(secret), ...gzip },
      ),
    ];
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204]);
    const samples = await stored(id, 'cpu');
    expect(samples.map(({ data, timestamp }) => [data, Date.parse(timestamp)])).toEqual(
      [4, 3, 2, 1, 0].map((n) => [{ n }, at + n * 1_000]),
    );
  });

  test('that is empty is 204', async () => {
    const { secret } = await site();
    for (const body of ['', '\n', '# nothing\n'])
      expect(await send('/write?db=x', body, basic(secret))).toMatchObject({ status: 204 });
    expect(await send('/api/v2/write?org=o&bucket=b', '', token(secret))).toMatchObject({
      status: 204,
    });
  });

  test('as Telegraf sends it: tags go to the meta, and what is sent again is stored once', async () => {
    const { secret, device } = await site();
    const id = await device('web-1');
    const body =
      `cpu,cpu=cpu0,host=web-1 usage_idle=98.5,usage_user=1.5 ${nanos(at)}\n` +
      `cpu,cpu=cpu1,host=web-1 usage_idle=97.5,usage_user=2.5 ${nanos(at)}\n` +
      `mem,host=web-1 used=123456789i,used_percent=42.25 ${nanos(at)}\n`;
    for (const _ of [1, 2])
      expect(
        await send('/write?consistency=any&db=telegraf', gzipSync(body), {
          ...basic(secret),
          'user-agent': 'Telegraf/1.36.0',
          'content-encoding': 'gzip',
          'content-type': 'text/plain; charset=utf-8',
        }),
      ).toMatchObject({ status: 204 });
    expect((await stored(id, 'cpu')).map(({ data, meta }) => [data, meta])).toEqual([
      [{ usage_idle: 97.5, usage_user: 2.5 }, { tags: { cpu: 'cpu1' } }],
      [{ usage_idle: 98.5, usage_user: 1.5 }, { tags: { cpu: 'cpu0' } }],
    ]);
    expect((await stored(id, 'mem')).map(({ data }) => data)).toEqual([
      { used: 123_456_789, used_percent: 42.25 },
    ]);
  });

  test('as Home Assistant sends it: an entity is a device, its unit is not a topic', async () => {
    const { secret, device } = await site({ device: ['{domain}.{entity_id}'], topic: 'default' });
    const id = await device('sensor.roof');
    const body = `°C,domain=sensor,entity_id=roof friendly_name_str="Roof",value=21.5 ${nanos(at)}\nstate,domain=sensor,entity_id=roof on=t ${nanos(at + 1)}`;
    expect(
      await send('/write?db=home_assistant', gzipSync(body), {
        ...basic(secret),
        'content-encoding': 'gzip',
        'content-type': 'application/octet-stream',
      }),
    ).toMatchObject({ status: 204 });
    expect((await stored(id)).map(({ topic, data }) => [topic, data])).toEqual([
      ['default', { on: true }],
      ['default', { friendly_name_str: 'Roof', value: 21.5 }],
    ]);
  });

  test('with bad lines stores the good ones and names the others', async () => {
    const { secret, device } = await site();
    const id = await device('h2');
    const body = (n: number) =>
      `env,host=h2 n=${n} ${at + n}\nenv,host=h2 n=x\nenv,host=nobody n=1\n`;
    const first = await send('/write?precision=ms', body(1), basic(secret));
    expect(first.status).toBe(400);
    expect(first.body.error).toMatch(
      /^partial write: unable to parse 'env,host=h2 n=x': invalid field value\n.*nobody.* dropped=1$/s,
    );
    const second = await send('/api/v2/write?precision=ms', body(2), token(secret));
    expect(second).toMatchObject({ status: 400, body: { code: 'invalid', line: 2 } });
    expect((await stored(id, 'env')).map(({ data }) => data)).toEqual([{ n: 2 }, { n: 1 }]);
  });

  test('stores 2,500 points of three devices as columns, and integers that no number holds as strings', async () => {
    const { secret, device } = await site();
    const ids = await Promise.all(['d0', 'd1', 'd2'].map(device));
    const lines = Array.from(
      { length: 2_500 },
      (_, i) => `env,host=d${i % 3} n=${i},ok=${i % 2 === 0} ${at + i}`,
    );
    expect(await send('/write?precision=ms', lines.join('\n'), basic(secret))).toMatchObject({
      status: 204,
    });
    const all = await Promise.all(ids.map((id) => stored(id, 'env')));
    expect(all.flat()).toHaveLength(2_500);
    expect(all[1]![0]!.data).toEqual({ n: 2_497, ok: false });
    await send('/write?precision=ms', `env,host=d0 big=9007199254740993i ${at - 1}`, basic(secret));
    expect((await stored(ids[0]!, 'env')).at(-1)!.data).toEqual({ big: '9007199254740993' });
    const { content } = await world.must('GET', `/v3/devices/${ids[0]}/processing-logs`);
    expect(content[0].message).toContain('stored as strings: big');
  });
});

describe('a refusal', () => {
  test.each([
    ['/write', {}, 401, { error: expect.stringContaining('authorization failed') }],
    ['/api/v2/write', {}, 401, { code: 'unauthorized', message: expect.stringContaining('token') }],
    ['/write', basic('wrong'), 401, { error: expect.any(String) }],
    ['/api/v2/write', token('wrong'), 401, { code: 'unauthorized' }],
  ])('of %s without a secret', async (path, headers, status, body) => {
    expect(await send(path, 'env v=1', headers as Record<string, string>)).toMatchObject({
      status,
      body,
    });
  });

  test('of what no sender should send again', async () => {
    const { secret } = await site();
    const gzip = { ...basic(secret), 'content-encoding': 'gzip' };
    const whole = gzipSync('env,host=a v=1\n'.repeat(100));
    expect(await send('/write', whole.subarray(0, -12), gzip)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('unexpected EOF') },
    });
    expect(await send('/write', 'plain', gzip)).toMatchObject({ status: 400 });
    expect(
      await send('/write', 'env v=1', { ...basic(secret), 'content-encoding': 'zstd' }),
    ).toMatchObject({ status: 415 });
    expect(await send('/write?precision=day', 'env v=1', basic(secret))).toMatchObject({
      status: 400,
    });
    expect(
      await send('/api/v2/write', gzipSync(Buffer.alloc(26_000_000, 0x0a)), {
        ...token(secret),
        'content-encoding': 'gzip',
      }),
    ).toMatchObject({
      status: 413,
      body: { code: 'request too large' },
    });
    const other = await world.device();
    expect(await send('/write', 'env v=1', basic(other.secret))).toMatchObject({
      status: 403,
      body: { error: expect.stringContaining('lineProtocol') },
    });
  });
});

describe('devices that points create', () => {
  test('are in the oldest data flow, up to the limit', async () => {
    const { secret, dataFlowId } = await site({ createDevices: { devicesMax: 2 } });
    const line = (host: string) => `env,host=${host} v=1 ${at}`;
    const { status, body } = await send(
      '/write?precision=ms',
      ['n1', 'n2', 'n3', 'n1'].map(line).join('\n'),
      basic(secret),
    );
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('the maximum for devices created by its connector') },
    });
    const { content } = await world.must('POST', `/v3/assets/list`, {
      workspaceIds: [world.workspaceId],
      expression: { field: 'dataFlow', predicate: 'IN', values: [dataFlowId] },
    });
    expect(content.map((one: { deviceId: string }) => one.deviceId).sort()).toEqual(['n1', 'n2']);
    for (const { id } of content) expect(await stored(id, 'env')).toHaveLength(1);
  });

  test('come of two requests at the same time, once', async () => {
    const { secret, dataFlowId } = await site({ createDevices: { devicesMax: 3 } });
    const body = ['p1', 'p2', 'p3'].map((host) => `env,host=${host} v=1 ${at}`).join('\n');
    const answers = await Promise.all(
      [1, 2, 3].map(() => send('/write?precision=ms', body, basic(secret))),
    );
    expect(answers.map(({ status, body: told }) => [status, told])).toEqual(
      answers.map(() => [204, undefined]),
    );
    const { totalElements } = await world.must('POST', `/v3/assets/list`, {
      workspaceIds: [world.workspaceId],
      expression: { field: 'dataFlow', predicate: 'IN', values: [dataFlowId] },
    });
    expect(totalElements).toBe(3);
  });
});

describe('the mapping of a connector', () => {
  test('has defaults, is changed and removed, and is for HTTP', async () => {
    const { connectorId } = await site();
    const path = `/v3/device-connectors/${connectorId}`;
    const defaults = {
      device: ['{device}', '{device_id}', '{host}', '{entity_id}'],
      topic: '{measurement}',
      createDevices: null,
    };
    expect((await world.must('GET', path)).lineProtocol).toEqual(defaults);
    const changed = { device: ['{site}'], createDevices: { devicesMax: 5 } };
    expect((await world.must('PUT', path, { lineProtocol: changed })).lineProtocol).toEqual({
      ...defaults,
      ...changed,
    });
    expect((await world.must('PUT', path, { description: 'x' })).lineProtocol.device).toEqual([
      '{site}',
    ]);
    expect((await world.must('PUT', path, { lineProtocol: null })).lineProtocol).toBeNull();
    const draft = {
      name: 'm',
      workspaceId: world.workspaceId,
      connectivity: 'MQTT',
      lineProtocol: {},
    };
    expect(await world.call('POST', '/v3/device-connectors', draft)).toMatchObject({ status: 400 });
  });
});

describe('client libraries', () => {
  test('influxdb-client of version 2 writes, also strings with newlines', async () => {
    const { secret, device } = await site();
    const id = await device('lib-2');
    const api = new InfluxTwo({ url: world.base, token: secret }).getWriteApi('o', 'b', 'ms', {
      gzipThreshold: 1,
      maxRetries: 0,
    });
    api.writePoint(
      new Point('room')
        .tag('device', 'lib-2')
        .floatField('t', 21.5)
        .intField('n', 3)
        .booleanField('on', true)
        .stringField('s', 'a "b"\nc\\')
        .timestamp(at),
    );
    await api.close();
    expect((await stored(id, 'room')).map(({ data }) => data)).toEqual([
      { t: 21.5, n: 3, on: true, s: 'a "b"\nc\\' },
    ]);
  });

  test('influx of version 1 creates its database and writes', async () => {
    const { secret, device } = await site();
    const id = await device('lib 1');
    const { hostname, port } = new URL(world.base);
    const influx = new InfluxOne({
      host: hostname,
      port: Number(port),
      username: 'any',
      password: secret,
      database: 'house',
    });
    await influx.createDatabase('house');
    await influx.writePoints(
      [
        {
          measurement: 'room',
          tags: { device: 'lib 1' },
          fields: { t: 21.5, s: 'x' },
          timestamp: new Date(at),
        },
      ],
      { precision: 'ms' },
    );
    expect((await stored(id, 'room')).map(({ data }) => data)).toEqual([{ t: 21.5, s: 'x' }]);
  });
});

describe('a device that sends lines', () => {
  const seen = async (id: string) => {
    const { onlineState, uplinkMetrics } = await world.must('GET', `/v3/devices/${id}`);
    return [onlineState, uplinkMetrics?.timestamp];
  };
  const write = async ({ secret }: Site, deviceId: string, ms: number) => {
    const line = `m,device=${deviceId} temperature=20.5 ${nanos(ms)}`;
    const { status } = await send('/write?db=house', line, token(secret));
    expect(status).toBe(204);
  };
  const iso = (ms: number) => new Date(ms).toISOString();

  test('is online with its newest point, and never by its history', async () => {
    const place = await site({ deviceTag: 'device' });
    const id = await place.device('sends-lines');
    const now = Date.now();
    await write(place, 'sends-lines', now - 400 * 86_400_000);
    expect(await seen(id)).toEqual(['UNKNOWN', undefined]);
    await write(place, 'sends-lines', now - 5_000);
    expect(await seen(id)).toEqual(['ONLINE', iso(now - 5_000)]);
    await write(place, 'sends-lines', now - 60_000);
    expect(await seen(id)).toEqual(['ONLINE', iso(now - 5_000)]);
    await write(place, 'sends-lines', now + 3_600_000);
    const [state, timestamp] = await seen(id);
    expect(state).toBe('ONLINE');
    expect(Date.parse(timestamp)).toBeLessThanOrEqual(Date.now());
  });

  test('samples that others bring make no device online', async () => {
    const { device } = await site();
    const id = await device('brought');
    const sample = { deviceId: id, timestamp: iso(Date.now()), data: { n: 1 } };
    await world.must('POST', '/v3/samples/bulk', [sample]);
    expect(await seen(id)).toEqual(['UNKNOWN', undefined]);
  });
});
