// Edge threads: captures and queries through them are answered, decoded and kept as without them, also when a thread ends.
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let plain: World;
let edged: World;
beforeAll(async () => {
  plain = await startWorld({ environment: { EDGES: '0' } });
  edged = await startWorld({ environment: { EDGES: '2' } });
});
afterAll(async () => {
  devices.destroy();
  await plain.close();
  await edged.close();
});

/** The bytes that come back on one connection; it ends when the server ends it, or what was sent has its answers. */
function exchange(world: World, sent: readonly string[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ host: '127.0.0.1', port: world.platform.port, allowHalfOpen: true });
  let received = '';
  let at = 0;
  const next = () => {
    const text = sent[at++];
    if (text === undefined) socket.end();
    else socket.write(text, 'latin1');
  };
  socket.setEncoding('latin1');
  socket.once('connect', next);
  socket.on('data', (chunk: string) => {
    received += chunk;
    if (answersIn(received) >= at) next();
  });
  socket.once('end', () => {
    socket.end();
    resolve(received);
  });
  socket.once('error', reject);
  return promise;
}

/** Whole answers: those with a length have their body. */
function answersIn(text: string): number {
  let count = 0;
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end === -1) return count;
    const head = rest.slice(0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (rest.length < end + 4 + length) return count;
    rest = rest.slice(end + 4 + length);
    if (!head.startsWith('HTTP/1.1 100')) count++;
  }
}

/** What differs from one answer to the next. */
function comparableText(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID')
    .replaceAll(/"traceId":"[0-9a-f]{32}"/g, '"traceId"')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/date: [^\r]+/gi, 'date');
}

const head = (line: string, ...fields: string[]) =>
  `${[line, 'Host: x', ...fields].join('\r\n')}\r\n\r\n`;
const json = 'Content-Type: application/json';
const post = (query: string, body: string, ...fields: string[]) =>
  head(`POST /v3/capture?${query} HTTP/1.1`, json, `Content-Length: ${body.length}`, ...fields) +
  body;

const requests: Record<string, (query: string) => readonly string[]> = {
  'a payload': (query) => [post(query, '{"a":1}')],
  'an array': (query) => [post(query, '[1,2]')],
  'its id of the request': (query) => [post(query, '{"a":1}', 'X-Request-Id: mine')],
  'an id that is not safe': (query) => [post(query, '{"a":1}', 'X-Request-Id: a b')],
  'an unknown secret': () => [post('secret=none&deviceId=x', '{"a":1}')],
  'no secret': () => [post('deviceId=x', '{"a":1}')],
  'two credentials': (query) => [post(query, '{}', 'X-API-Key: a', 'Authorization: Bearer b')],
  'an unknown device': (query) => [post(query.replace(/deviceId=\w+/, 'deviceId=no'), '{"a":1}')],
  'a wrong timestamp': (query) => [post(`${query}&timestamp=soon`, '{"a":1}')],
  'an unknown parameter': (query) => [post(`${query}&other=1`, '{"a":1}')],
  'no JSON': (query) => [post(query, '{"a":')],
  'a scalar': (query) => [post(query, '1')],
  'no UTF-8': (query) => [post(query, '{"a":"\u00ff"}')],
  'an empty body': (query) => [post(query, '')],
  'another type': (query) => [post(query, 'a: 1').replace('application/json', 'text/yaml')],
  text: (query) => [post(query, 'on').replace('application/json', 'text/plain')],
  bytes: (query) => [post(query, '\u0001\u0002').replace('application/json', 'x/y')],
  'a port': (query) => [
    post(`${query}&port=7`, '\u0001', 'X-Port: 8').replace('application/json', 'x/y'),
  ],
  'a wrong port': (query) => [post(`${query}&port=256`, '\u0001').replace('application/', 'x/')],
  CBOR: (query) => [post(query, '\u0081\u0001').replace('application/json', 'application/cbor')],
  'a form': (query) => [
    post(query, 'a=1').replace('application/json', 'application/x-www-form-urlencoded'),
  ],
  SenML: (query) => [
    post(query, '[{"n":"a","v":1}]').replace('application/json', 'application/senml+json'),
  ],
  chunks: (query) => [
    `${head(`POST /v3/capture?${query} HTTP/1.1`, json, 'Transfer-Encoding: chunked')}7\r\n{"a":1}\r\n0\r\n\r\n`,
  ],
  'a body in two parts': (query) => {
    const whole = post(query, '{"a":1}');
    return [whole.slice(0, -3) + whole.slice(-3)];
  },
  'an expectation': (query) => [post(query, '{"a":1}', 'Expect: 100-continue')],
  'an unknown expectation': (query) => [post(query, '{"a":1}', 'Expect: soon')],
  'HTTP/1.0': (query) => [post(query, '{"a":1}').replace('HTTP/1.1', 'HTTP/1.0')],
  'two hosts': (query) => [post(query, '{"a":1}', 'Host: y')],
  'no host': (query) => [post(query, '{"a":1}').replace('Host: x\r\n', '')],
  'a body that is too large': (query) => [
    head(`POST /v3/capture?${query} HTTP/1.1`, json, 'Content-Length: 99999999'),
  ],
  'bytes that are not HTTP': () => ['POST /v3/capture?\r\n\r\n'],
  'another method': (query) => [head(`GET /v3/capture?${query} HTTP/1.1`)],
  'an unknown path': () => [head('GET /v3/nothing HTTP/1.1')],
  'a page': () => [head('GET /docs/ HTTP/1.1', 'Connection: close')],
  'a close': (query) => [post(query, '{"a":1}', 'Connection: close')],
  'other requests on one connection': (query) => [
    post(query, '{"a":1}'),
    head('GET /health/live HTTP/1.1'),
    post(query, '{"a":2}'),
    head('GET /v3/workspaces HTTP/1.1'),
    head('GET /v3/capture HTTP/1.1'),
    post(query, '{"a":'),
    head('GET /v3/nothing HTTP/1.1', 'Connection: close'),
  ],
  'an unknown expectation after a payload': (query) => [
    post(query, '{"a":1}'),
    post(query, '{"a":1}', 'Expect: soon'),
  ],
};

describe('the same bytes come back', () => {
  const queries = new Map<World, string>();
  beforeAll(async () => {
    for (const world of [plain, edged]) {
      const { secret, deviceId } = await world.device();
      queries.set(world, `secret=${secret}&deviceId=${deviceId}`);
    }
  });
  test.each(Object.entries(requests))('%s', async (_, of) => {
    const answers: string[] = [];
    for (const world of [plain, edged]) {
      const query = queries.get(world)!;
      const text = await exchange(world, of(query));
      answers.push(comparableText(text.replaceAll(/secret=[\w-]+/g, 'secret')));
    }
    expect(answers[0]).toMatch(/^HTTP\/1\.1 \d/);
    expect(answers[1]).toBe(answers[0]);
  });
});

/** Requests for a device with samples, of which each body is small, or long enough to be compressed. */
const queries: Record<string, (device: TestDevice) => string> = {
  'the newest samples': ({ id }) => ask(`devices/${id}/query`, { limit: 5 }),
  'many samples': ({ id }) => ask(`devices/${id}/query`, { limit: 300 }),
  'some samples in gzip': ({ id }) =>
    ask(`devices/${id}/query`, { limit: 60 }, 'Accept-Encoding: gzip, deflate'),
  'some samples in Brotli': ({ id }) =>
    ask(`devices/${id}/query`, { limit: 60 }, 'Accept-Encoding: gzip, br'),
  'many samples in Brotli': ({ id }) =>
    ask(`devices/${id}/query`, { limit: 300 }, 'Accept-Encoding: br'),
  'few samples that are not compressed': ({ id }) =>
    ask(`devices/${id}/query`, { limit: 1 }, 'Accept-Encoding: br'),
  'samples by GET': ({ id }) => head(`GET /v3/devices/${id}/query?limit=2 HTTP/1.1`, key),
  topics: ({ id }) => head(`GET /v3/devices/${id}/query/topics HTTP/1.1`, key),
  'the latest sample': ({ id }) => head(`GET /v3/devices/${id}/query/latest-sample HTTP/1.1`, key),
  'the latest sample of many': ({ id }) => ask('devices/query/latest', { deviceIds: [id] }),
  'a number': ({ id }) => ask(`devices/${id}/query/raw/kpi`, inAll),
  'a series': ({ id }) => ask(`devices/${id}/query/raw/time-series`, inAll),
  'the older form of a series': ({ id }) =>
    ask(`devices/${id}/query/time-series`, {
      topic: 'default',
      dataKey: 'n',
      interval: inAll.interval,
    }),
  'no query': ({ id }) => ask(`devices/${id}/query`, { limit: -1 }),
  'no JSON': ({ id }) => ask(`devices/${id}/query`, {}).replace('{}', '{"'),
  'another type': ({ id }) =>
    ask(`devices/${id}/query`, {}).replace('application/json', 'text/yaml'),
  'no body': ({ id }) => head(`POST /v3/devices/${id}/query HTTP/1.1`, key, json),
  'no credential': ({ id }) => ask(`devices/${id}/query`, {}).replace('X-API-Key', 'X-Other'),
  'a wrong credential': ({ id }) => ask(`devices/${id}/query`, {}).replace(edged.apiKey, 'wrong'),
  'an unknown device': () => ask('devices/0000000000000000/query', {}),
  'an unknown query': ({ id }) => ask(`devices/${id}/query/other`, {}),
  'another method': ({ id }) => head(`DELETE /v3/devices/${id}/query HTTP/1.1`, key),
  'a series in Brotli': ({ id }) =>
    ask(
      `devices/${id}/query/raw/time-series`,
      { ...inAll, bucketInterval: 'PT5M' },
      'Accept-Encoding: br',
    ),
  'a long series': ({ id }) =>
    ask(`devices/${id}/query/raw/time-series`, { ...inAll, bucketInterval: 'PT1M' }),
  'a series with coverage': ({ id }) =>
    ask(`devices/${id}/query/raw/time-series`, { ...inAll, accumulator: 'TIME_WEIGHTED_AVG' }),
  'an id that is the name of a field': ({ id }) =>
    ask(
      `devices/${id}/query`,
      { limit: 60 },
      'Accept-Encoding: br',
      'X-Request-Id: content-length',
    ),
  'an entity tag': ({ id }) =>
    head(`GET /v3/devices/${id}/query/topics HTTP/1.1`, key, 'If-None-Match: *'),
  'a head': ({ id }) =>
    head(`HEAD /v3/devices/${id}/query/topics HTTP/1.1`, key, 'Connection: close'),
  'no host': ({ id }) => ask(`devices/${id}/query`, {}).replace('Host: x\r\n', ''),
  chunks: ({ id }) =>
    `${head(`POST /v3/devices/${id}/query HTTP/1.1`, key, json, 'Transfer-Encoding: chunked')}b\r\n{"limit":1}\r\n0\r\n\r\n`,
};

const key = 'X-API-Key: 0123456789abcdef.00000000-0000-4000-8000-000000000001';
const inAll = {
  topic: 'default',
  dataKey: 'n',
  accumulator: 'SUM',
  interval: { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' },
};

function ask(path: string, body: object, ...fields: string[]): string {
  const text = JSON.stringify(body);
  const length = `Content-Length: ${text.length}`;
  return head(`POST /v3/${path} HTTP/1.1`, key, json, length, ...fields) + text;
}

describe('queries on a connection that an edge serves, and on one that is passed on', () => {
  let device: TestDevice;
  beforeAll(async () => {
    device = await edged.device();
    const samples = Array.from({ length: 300 }, (_, n) => ({
      deviceId: device.id,
      timestamp: new Date(Date.parse('2026-01-01T00:00:00Z') + n * 60_000).toISOString(),
      data: { n, text: `\u00e4 ${n}` },
    }));
    await edged.must('POST', '/v3/samples/bulk', samples);
  });

  const live = head('GET /health/live HTTP/1.1');

  test.each(Object.entries(queries))('%s', async (_, of) => {
    const query = of(device);
    const comparable = (text: string) =>
      comparableText(text).replaceAll(/x-ratelimit-re[a-z]+: \d+/g, 'left');
    const passedOn = comparable(await exchange(edged, [live, query]));
    const served = comparable(await exchange(edged, [query]));
    expect(served).toMatch(/^HTTP\/1\.1 [2-4]/);
    expect(passedOn.endsWith(served)).toBe(true);
    expect(passedOn.length).toBeGreaterThan(served.length);
    expect(answersIn(passedOn) - answersIn(served)).toBe(1);
  });

  test('several on one connection, with other requests between', async () => {
    const { id, secret, deviceId } = device;
    const answers = await exchange(edged, [
      ask(`devices/${id}/query`, { limit: 1 }),
      head(`GET /v3/devices/${id} HTTP/1.1`, key),
      post(`secret=${secret}&deviceId=${deviceId}`, '{"n":-1}'),
      ask(`devices/${id}/query`, { limit: 1 }),
      head('GET /docs/ HTTP/1.1', 'Connection: close'),
    ]);
    const statuses = [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toEqual(['200', '200', '201', '200', '200']);
    expect(answers).toContain('"data":{"n":-1}');
  });
});

/** Connections of devices: what begins with another request is served by the main thread. */
const devices = new Agent({ keepAlive: true, maxSockets: 8 });

/** Resolves with the status. Rejects when the connection ends without an answer. */
function send(device: TestDevice, body: object | Buffer, key?: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const url = `${edged.base}/v3/capture?secret=${device.secret}&deviceId=${device.deviceId}`;
  const isBytes = Buffer.isBuffer(body);
  const headers = {
    'content-type': isBytes ? 'application/octet-stream' : 'application/json',
    ...(key !== undefined && { 'idempotency-key': key }),
  };
  const call = request(url, { agent: devices, method: 'POST', headers }, (answer) => {
    answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
  });
  call.once('error', reject);
  call.end(isBytes ? body : JSON.stringify(body));
  return promise;
}

/** Runs of decoders in edges. */
async function edgeRuns(): Promise<number> {
  const metrics = await (await fetch(`${edged.base}/metrics`)).text();
  const runs = metrics.matchAll(/script_runs_total\{kind="edge",outcome="\w+"\} (\d+)/g);
  return [...runs].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Sends until the decoder of the device runs in edges; returns how many were sent. */
async function untilInEdges(device: TestDevice, body: object): Promise<number> {
  const before = await edgeRuns();
  for (let sent = 1; sent < 400; sent++) {
    expect(await send(device, body)).toBe(201);
    if (sent % 20 === 0 && (await edgeRuns()) > before + 3) return sent;
  }
  throw new Error('The decoder was not run in an edge');
}

const samplesOf = (
  device: TestDevice,
  limit = 1_000,
): Promise<{ data: Record<string, unknown> }[]> =>
  edged.must('POST', `/v3/devices/${device.id}/query`, { limit });

describe('decoders in edges', () => {
  test('a decoder whose runs are quick runs there, with the same result', async () => {
    const device = await edged.device({
      script:
        'function consume(e) { emit("sample", { data: { twice: e.data.n * 2, name: e.device.name, port: e.uplinkMetrics.port } }); }',
    });
    const sent = await untilInEdges(device, { n: 21, port: 7 });
    const samples = await samplesOf(device);
    expect(samples).toHaveLength(sent);
    for (const { data } of samples) expect(data).toEqual(samples[0]!.data);
    expect(samples[0]!.data).toMatchObject({ twice: 42, port: 7 });
  });

  test('contract 38: bytes are decoded there as they are declared', async () => {
    const device = await edged.device({
      script: 'function consume(e) { emit("sample", { data: { got: e.data, as: e.encoding } }); }',
    });
    await untilInEdges(device, Buffer.from([1, 255]));
    const newest = async () => (await samplesOf(device))[0]!.data;
    expect(await newest()).toEqual({ got: { payloadHex: '01ff' }, as: 'BYTES' });
    const path = `/v3/device-types/${device.deviceTypeId}`;
    await edged.must('PUT', path, { meta: { encoding: 'TEXT' } });
    expect(await send(device, Buffer.from('7'))).toBe(201);
    expect(await newest()).toEqual({ got: { text: '7', payloadHex: '37', value: 7 }, as: 'TEXT' });
    await untilInEdges(device, Buffer.from('8'));
    expect(await newest()).toEqual({ got: { text: '8', payloadHex: '38', value: 8 }, as: 'TEXT' });
  });

  test('who saw the answer of a change never meets the decoder before it', async () => {
    const code = (version: number) =>
      `function consume(e) { emit("sample", { data: { version: ${version}, mark: e.data.mark } }); }`;
    const device = await edged.device({ script: code(0) });
    await untilInEdges(device, { mark: 0 });
    const path = `/v3/device-types/${device.deviceTypeId}`;
    for (let version = 1; version <= 5; version++) {
      const type = await edged.must('GET', path, undefined);
      await edged.must('PUT', path, { ...type, uplinkScript: { code: code(version) } });
      const marks = Array.from({ length: 60 }, () => ({ mark: version }));
      const sent = await Promise.all(marks.map((body) => send(device, body)));
      expect(new Set(sent)).toEqual(new Set([201]));
    }
    for (const { data } of await samplesOf(device)) expect(data['version']).toBe(data['mark']);
  });

  test('a decoder that leaves a state gets it at the next uplink', async () => {
    const device = await edged.device({
      script: `function consume(e) {
        emit("sample", { data: { before: e.state.kept ?? null, n: e.data.n } });
        if (e.data.keep) emit("sta" + "te", { kept: e.data.n });
      }`,
    });
    await untilInEdges(device, { n: 0 });
    expect(await send(device, { n: 1, keep: true })).toBe(201);
    expect(await send(device, { n: 2 })).toBe(201);
    const data = (await samplesOf(device)).map((sample) => sample.data);
    expect(data.find(({ n }) => n === 1)).toEqual({ before: null, n: 1 });
    expect(data.find(({ n }) => n === 2)).toEqual({ before: 1, n: 2 });
  });

  test('a run that takes too long there is made again, once', async () => {
    const device = await edged.device({
      script: `function consume(e) {
        for (let i = 0; i < (e.data.steps ?? 0); i++) Math.sqrt(i);
        emit("sample", { data: { n: e.data.n } });
      }`,
    });
    await untilInEdges(device, { n: 0 });
    expect(await send(device, { n: 1, steps: 80_000 })).toBe(201);
    const found = (await samplesOf(device)).filter(({ data }) => data['n'] === 1);
    expect(found).toHaveLength(1);
  });

  test('another decoder that gets stuck ends one thread, and nothing that was acknowledged is lost', async () => {
    const stuck = 'const a = []; a.length = 2 ** 32 - 1; a.indexOf(1);';
    const hostile = await edged.device({
      script: `function consume(e) { if (e.data.stuck) { ${stuck} } emit("sample", { data: { ok: 1 } }); }`,
    });
    const device = await edged.device({
      script: 'function consume(e) { emit("sample", { data: { n: e.data.n } }); }',
    });
    await untilInEdges(hostile, {});
    await untilInEdges(device, { n: -1 });
    const acknowledged: number[] = [];
    let isOver = false;
    const load = Promise.all(
      Array.from({ length: 4 }, async (_, lane) => {
        for (let n = lane; !isOver; n += 4) {
          const status = await send(device, { n }).catch(() => 0);
          if (status === 201) acknowledged.push(n);
        }
      }),
    );
    // Its connection ends with the thread; then the script runs in its own thread, which says what it did.
    // Not each connection is that of a thread that has the decoder.
    const stuckOnce = () => send(hostile, { stuck: true }).catch(() => 'ended');
    await expect.poll(stuckOnce, { timeout: 60_000 }).toBe('ended');
    // Other connections of that thread end in the same moment.
    await expect.poll(stuckOnce, { timeout: 60_000 }).toBe(201);
    await expect.poll(() => acknowledged.length).toBeGreaterThan(50);
    isOver = true;
    await load;
    const samples: { data: Record<string, unknown> }[] = await edged.must(
      'POST',
      `/v3/devices/${device.id}/query`,
      { limit: 10_000 },
    );
    const stored = samples.map(({ data }) => data['n']).filter((n) => n !== -1);
    for (const n of acknowledged) expect(stored.filter((one) => one === n)).toHaveLength(1);
    const { content: log } = await edged.must(
      'GET',
      `/v3/devices/${hostile.id}/processing-logs`,
      undefined,
    );
    expect(JSON.stringify(log)).toContain('exceeded its time limit');
  });
});

describe('live streams through edges', () => {
  /** Subscribed to the device. */
  async function subscribed(device: TestDevice) {
    const webSocket = new WebSocket(
      `${edged.base.replace('http', 'ws')}/v3/data-streams?xApiKey=${edged.apiKey}`,
    );
    const received: { type: string; sample?: { data: object } }[] = [];
    webSocket.on('message', (data: Buffer) => received.push(JSON.parse(String(data))));
    await once(webSocket, 'open');
    webSocket.send(JSON.stringify({ type: 'subscribe', subscriptions: [{ assetId: device.id }] }));
    await expect.poll(() => received.some(({ type }) => type === 'subscribed')).toBe(true);
    const samples = () => received.flatMap(({ sample }) => (sample ? [sample.data] : []));
    return { webSocket, samples };
  }

  test('every stream gets every sample once and in order, and a pong', async () => {
    const device = await edged.device();
    const streams = await Promise.all(Array.from({ length: 20 }, () => subscribed(device)));
    const sent = Array.from({ length: 50 }, (_, n) => ({ n, text: 'ä'.repeat(n * 20) }));
    for (const body of sent) expect(await send(device, body)).toBe(201);
    for (const { samples } of streams) await expect.poll(() => samples().length).toBe(sent.length);
    for (const { samples } of streams) expect(samples()).toEqual(sent);
    const [first] = streams;
    const pong = once(first!.webSocket, 'pong');
    first!.webSocket.ping('alive');
    expect(String((await pong)[0])).toBe('alive');
    for (const { webSocket } of streams) webSocket.terminate();
  });

  test('a reader that takes nothing does not hold up another one', async () => {
    const device = await edged.device();
    const [frozen, reader] = [await subscribed(device), await subscribed(device)];
    frozen.webSocket.pause();
    const text = 'x'.repeat(10_000);
    for (let n = 0; n < 300; n++) expect(await send(device, { n, text })).toBe(201);
    await expect.poll(() => reader.samples().length).toBe(300);
    frozen.webSocket.resume();
    await expect.poll(() => frozen.samples().length).toBe(300);
    for (const { webSocket } of [frozen, reader]) webSocket.terminate();
  });

  test('a stream is told that the platform stops', async () => {
    const world = await startWorld({ environment: { EDGES: '2' } });
    const webSocket = new WebSocket(
      `${world.base.replace('http', 'ws')}/v3/data-streams?xApiKey=${world.apiKey}`,
    );
    await once(webSocket, 'open');
    const closed = once(webSocket, 'close');
    await world.close();
    expect((await closed)[0]).toBe(1001);
  });

  test('a handshake without a credential is refused', async () => {
    const webSocket = new WebSocket(`${edged.base.replace('http', 'ws')}/v3/data-streams`);
    const [, answer] = (await once(webSocket, 'unexpected-response')) as [unknown, IncomingMessage];
    expect(answer.statusCode).toBe(401);
    expect(answer.headers['content-type']).toContain('json');
    webSocket.on('error', () => undefined).terminate();
  });
});

/** How often a decoder ends a thread. */
const kills = Number(process.env['EDGE_KILLS'] ?? 3);

/** By a decoder that gets stuck in one; on a busy machine, it may take several until one is quick enough to run there. */
async function endThread(kill: number): Promise<void> {
  const stuck = 'const a = []; a.length = 2 ** 32 - 1; a.indexOf(1);';
  for (let attempt = 0; ; attempt++) {
    // Another source each time: one that got stuck stays out of edge threads.
    const hostile = await edged.device({
      script: `function consume(e) { if (e.data.stuck) { ${stuck} } emit("sample", { data: { kill: ${kill}, attempt: ${attempt} } }); }`,
    });
    for (let sent = 0; sent < 100; sent++) await send(hostile, {}).catch(() => 0);
    if ((await send(hostile, { stuck: true }).catch(() => 0)) === 0) return;
  }
}

/** Fewer than a query answers. */
const sentPerLane = 2_000;

/**
 * Sends under load until the work is over, each uplink until it is answered. Resolves with their
 * numbers, and how often a connection broke.
 */
async function sendDuring(device: TestDevice, work: () => Promise<void>) {
  const acknowledged: number[] = [];
  let broken = 0;
  let isOver = false;
  const lanes = Array.from({ length: 4 }, async (_, lane) => {
    for (let sent = 0; !isOver && sent < sentPerLane; sent++) {
      const n = sent * 4 + lane;
      // A sender whose connection broke cannot know whether the uplink was taken, and repeats it.
      for (let status = 0; status !== 201; ) {
        status = await send(device, { n }, `n${n}`).catch(() => 0);
        if (status === 0) broken++;
      }
      acknowledged.push(n);
    }
  });
  await work();
  isOver = true;
  await Promise.all(lanes);
  return { acknowledged, broken };
}

test('threads end one after the other under load, and each uplink is stored once however often it was sent', {
  timeout: 120_000 + kills * 60_000,
}, async () => {
  const script = 'function consume(e) { emit("sample", { data: { n: e.data.n } }); }';
  await untilInEdges(await edged.device({ script }), { n: 0 });
  let brokenInAll = 0;
  for (let kill = 0; kill < kills; kill++) {
    const device = await edged.device({ script });
    const { acknowledged, broken } = await sendDuring(device, () => endThread(kill));
    brokenInAll += broken;
    const stored = (await samplesOf(device, 10_000)).map(({ data }) => Number(data['n']));
    const ascending = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b);
    expect(ascending(stored)).toEqual(ascending(acknowledged));
  }
  expect(brokenInAll).toBeGreaterThan(0);
});

test('a port that is in use is refused', async () => {
  const environment = { EDGES: '1', PORT: String(edged.platform.port) };
  await expect(startWorld({ environment })).rejects.toMatchObject({
    code: 'EADDRINUSE',
    syscall: 'listen',
  });
});

test('the metrics say how busy each thread is', async () => {
  let ratios: (readonly [name: string | undefined, ratio: number])[] = [];
  // A thread that ended is being replaced.
  await vi.waitFor(async () => {
    const text = await (await fetch(`${edged.base}/metrics`)).text();
    const rows = text.matchAll(/^heliograph_thread_busy_ratio\{thread="([^"]+)"\} (\S+)$/gm);
    ratios = [...rows].map(([, name, ratio]) => [name, Number(ratio)]);
    expect(ratios.map(([name]) => name)).toEqual(['main', 'edge 1', 'edge 2']);
  }, 60_000);
  for (const [, ratio] of ratios) {
    expect(ratio).toBeGreaterThanOrEqual(0);
    expect(ratio).toBeLessThanOrEqual(1);
  }
});
