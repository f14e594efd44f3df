// Contract 42: receipts, timestamps and exact integers, by one rule for every way in.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseConnectorId } from '../../src/model/ids.ts';
import { type AccessWorld, startAccessWorld } from '../access/access-world.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const dayMs = 86_400_000;
const webhook = {
  type: 'WEBHOOK',
  name: 'elsewhere',
  webhookProperties: { uri: 'https://example.org/in', method: 'POST' },
};

/** Devices that store everything, nothing, and one topic. */
async function devices(): Promise<Record<'all' | 'none' | 'one', TestDevice>> {
  const { id } = await world.must('POST', '/v3/output-connectors', {
    ...webhook,
    workspaceId: world.workspaceId,
  });
  const [all, none, one] = await Promise.all([
    world.device(),
    world.device({ outputs: [{ id, topic: '*' }] }),
    world.device({ outputs: [{ id: databaseConnectorId, topic: 'climate' }] }),
  ]);
  return { all, none, one };
}

const query = (device: TestDevice, topic = '*') =>
  world.must('POST', `/v3/devices/${device.id}/query`, { topic, limit: 100 });
const notes = async (device: TestDevice): Promise<string[]> =>
  (await world.must('GET', `/v3/devices/${device.id}/processing-logs`)).content.map(
    ({ message }: { message: string }) => message,
  );
const bulk = (device: TestDevice, body: unknown) =>
  world.call('POST', `/v3/devices/${device.id}/backfill/bulk`, body);

describe('behaviour 12: a receipt says what became of the samples', () => {
  test('capture, backfill and both bulk requests, with and without a database output', async () => {
    const { all, none, one } = await devices();
    const nothing = { reason: 'NO_DATABASE_OUTPUT', topic: 'default', count: 1 };
    const filtered = { reason: 'TOPIC_FILTER', topic: 'default', count: 1 };
    for (const [device, notStored] of [
      [all, undefined],
      [none, [nothing]],
      [one, [filtered]],
    ] as const) {
      const kept = { stored: notStored === undefined ? 1 : 0, ...(notStored && { notStored }) };
      const captured = await world.capture(device, { t: 1 });
      expect(captured.body).toEqual({
        id: expect.any(String),
        timestamp: expect.any(String),
        message: 'uplink received',
        ...kept,
      });
      const single = await world.call('POST', `/v3/devices/${device.id}/backfill`, {
        data: { t: 2 },
      });
      expect(single.body).toMatchObject({ accepted: 1, ...kept });
      expect(single.body.message === 'sample stored').toBe(kept.stored === 1);
      expect((await bulk(device, [{ data: { t: 3 } }])).body).toEqual({
        accepted: 1,
        duplicates: 0,
        rejected: [],
        ...kept,
      });
      expect(await query(device)).toHaveLength(3 * kept.stored);
    }
    const timestamp = new Date().toISOString();
    const mixed = [all, none, one].flatMap(({ id }) =>
      ['climate', 'default'].map((topic) => ({ deviceId: id, topic, timestamp, data: { t: 4 } })),
    );
    expect((await world.call('POST', '/v3/samples/bulk', mixed)).body).toMatchObject({
      accepted: 6,
      stored: 3,
      notStored: expect.arrayContaining([
        { topic: 'climate', count: 1, reason: 'NO_DATABASE_OUTPUT' },
        nothing,
        filtered,
      ]),
    });
  });
});

describe('behaviour 13: times', () => {
  const seconds = Math.floor(Date.now() / 1_000);

  test('numbers have 12 to 14 digits on every way in', async () => {
    const device = await world.device();
    for (const [timestamp, said] of [
      [seconds, 'seconds? send milliseconds'],
      [seconds * 1e6, 'microseconds or nanoseconds? send milliseconds'],
      [-seconds * 1_000, 'send milliseconds'],
    ] as const) {
      const single = `/v3/devices/${device.id}/backfill`;
      const answers = [
        await world.call('POST', single, { timestamp, data: { t: 1 } }),
        await bulk(device, [{ timestamp, data: { t: 1 } }]),
        await world.call('POST', '/v3/samples/bulk', [
          { deviceId: device.id, timestamp, data: { t: 1 } },
        ]),
        await world.capture(device, { t: 1 }, { timestamp: String(timestamp) }),
      ];
      for (const { status, body } of answers)
        expect([status, body.message]).toEqual([400, expect.stringContaining(said)]);
    }
    const text = await bulk(device, [{ timestamp: String(seconds * 1_000), data: { t: 1 } }]);
    expect(text.body.message).toContain('is text: send milliseconds as a number');
    const rest = [{ timestamp: seconds, data: { t: 1 } }, { data: { t: 2 } }];
    expect((await bulk(device, rest)).body).toMatchObject({
      accepted: 1,
      rejected: [{ index: 0, errorCode: '40003_TIMESTAMP_INVALID' }],
    });
    const at = Date.now();
    expect((await bulk(device, [{ timestamp: at, data: { t: 3 } }])).status).toBe(201);
    expect((await world.capture(device, { t: 4 }, { timestamp: String(at) })).status).toBe(201);
    expect((await query(device)).map(({ data }: { data: { t: number } }) => data.t)).toEqual(
      expect.arrayContaining([2, 3, 4]),
    );
  });

  test('a script that emits seconds loses that sample alone, and is told', async () => {
    const script = `function consume(event) {
      emit('sample', { data: { t: 1 }, timestamp: ${seconds} });
      emit('sample', { data: { t: 2 }, timestamp: ${seconds * 1_000} });
      emit('sample', { data: { t: 3 }, timestamp: new Date(${seconds}) });
    }`;
    const device = await world.device({ script });
    expect((await world.capture(device, {})).body).toMatchObject({ stored: 2 });
    const found = await query(device);
    expect(found.map(({ data }: { data: unknown }) => data)).toEqual([{ t: 2 }, { t: 3 }]);
    expect(await notes(device)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Malformed sample: .*seconds\? send milliseconds$/),
        expect.stringMatching(/before 2000\. Send milliseconds, not seconds\.$/),
      ]),
    );
  });

  test('a time before 2000 is stored and noted, of one sample and of many', async () => {
    const device = await world.device();
    const early = (n: number) => ({ timestamp: `1999-12-31T23:00:${10 + n}Z`, data: { n } });
    expect((await bulk(device, [early(1)])).body).toMatchObject({ stored: 1 });
    expect((await bulk(device, [early(2), early(3), early(4)])).body).toMatchObject({ stored: 3 });
    const told = (await notes(device)).filter((note) => note.includes('before 2000'));
    expect(told).toHaveLength(4);
    expect(told[0]).toContain("Check the device's clock");
  });

  describe('contract 38: a workspace may store such samples with the time of receipt', () => {
    const workspaceWith = (settings: object) =>
      world.must('POST', '/v3/workspaces', {
        name: `times ${JSON.stringify(settings)}`,
        organizationId: world.organizationId,
        settings,
      });
    const replaced = (value: string) => ({
      svcTimestamp: { message: expect.stringMatching(/^The sample timestamp .* is /), value },
    });
    const past = '1970-01-21T10:40:00.000Z';
    const ahead = '2099-01-01T00:00:00.000Z';

    test('by every way in, with retention too', async () => {
      const { id: workspaceId, settings } = await workspaceWith({
        implausibleTimes: 'RECEIPT',
        retentionDays: 10,
      });
      expect(settings.implausibleTimes).toBe('RECEIPT');
      const script = `function consume() {
        emit('sample', { topic: 'script', timestamp: new Date('${past}'), data: { n: 1 }, meta: { own: true } });
      }`;
      const device = await world.device({ workspaceId });
      const scripted = await world.device({ workspaceId, script });
      const before = Date.now();
      await world.capture(device, { n: 1 }, { topic: 'capture', timestamp: past });
      await world.capture(scripted, {});
      const one = { topic: 'one', timestamp: ahead, data: { n: 1 } };
      await world.must('POST', `/v3/devices/${device.id}/backfill`, one);
      const many = [1, 2, 3, 4].map((n) => ({ topic: 'many', timestamp: past, data: { n } }));
      expect((await bulk(device, many)).body).toMatchObject({ stored: 4 });
      const found = await query(device, '*');
      expect(found).toHaveLength(6);
      for (const { timestamp, topic, meta } of [...found, ...(await query(scripted, '*'))]) {
        expect(Date.parse(timestamp)).toBeGreaterThanOrEqual(before);
        expect(meta).toMatchObject(replaced(topic === 'one' ? ahead : past));
      }
      expect((await query(scripted, '*'))[0].meta.own).toBe(true);
      const told = (await notes(device)).filter((note) => note.includes('The sample timestamp'));
      expect(told).toHaveLength(6);
    });

    test('not by default, and no longer when the setting changes back', async () => {
      const { id, settings } = await workspaceWith({});
      expect(settings.implausibleTimes).toBe('KEEP');
      const device = await world.device({ workspaceId: id });
      const set = (implausibleTimes: string) =>
        world.call('PUT', `/v3/workspaces/${id}`, { settings: { implausibleTimes } });
      const times = [];
      for (const way of ['KEEP', 'RECEIPT', 'KEEP']) {
        expect((await set(way)).status).toBe(200);
        const { body } = await world.capture(device, { way }, { topic: way, timestamp: past });
        const [newest] = await query(device, way);
        times.push([way, newest.timestamp === past, newest.timestamp === body.timestamp]);
      }
      expect(times).toEqual([
        ['KEEP', true, false],
        ['RECEIPT', false, true],
        ['KEEP', true, false],
      ]);
      expect((await set('DROP')).status).toBe(400);
    });
  });

  test('what retention would remove at once is not stored, and told', async () => {
    const { id: workspaceId } = await world.must('POST', '/v3/workspaces', {
      name: 'short',
      organizationId: world.organizationId,
      settings: { retentionDays: 10 },
    });
    const device = await world.device({ workspaceId });
    const old = new Date(Date.now() - 11 * dayMs).toISOString();
    const young = new Date(Date.now() - 9 * dayMs).toISOString();
    const samples = [
      { timestamp: old, data: { n: 1 } },
      { timestamp: young, data: { n: 2 } },
    ];
    expect((await bulk(device, samples)).body).toMatchObject({
      accepted: 1,
      stored: 1,
      rejected: [{ index: 0, errorCode: '40051_OLDER_THAN_RETENTION' }],
    });
    const corrected = await world.must('POST', `/v3/devices/${device.id}/samples/correct`, {
      corrections: [
        { timestamp: young, replacement: { data: { n: 4 }, timestamp: old } },
        { timestamp: young, replacement: { data: { n: 2 } } },
      ],
    });
    expect(corrected).toMatchObject({
      corrected: 1,
      rejected: [{ index: 0, errorCode: 'OLDER_THAN_RETENTION' }],
    });
    const captured = await world.capture(device, { n: 3 }, { timestamp: old });
    expect(captured).toMatchObject({
      status: 201,
      body: { stored: 0, notStored: [{ reason: 'OLDER_THAN_RETENTION', count: 1 }] },
    });
    expect(await query(device)).toMatchObject([{ data: { n: 2 } }]);
    expect(await notes(device)).toEqual([expect.stringContaining('retention of 10 days')]);
    // The rule may be another a moment later.
    await world.must('PUT', `/v3/workspaces/${workspaceId}`, { settings: { retentionDays: 20 } });
    expect((await bulk(device, samples)).body).toMatchObject({ accepted: 1, duplicates: 1 });
  });
});

describe('behaviour 14: integers beyond 2^53', () => {
  const big = '9007199254740993';
  const other = '-12345678901234567890';
  const text = `{"a":${big},"b":{"c":[${other}]},"d":9007199254740991,"e":1.5,"f":"${big}"}`;
  const exact = { a: big, b: { c: [other] }, d: 9007199254740991, e: 1.5, f: big };
  const note = expect.stringMatching(/^Integers outside .*: a, b\.c\.0$/);

  test('arrive as their text with a note, by every request', async () => {
    const device = await world.device();
    const json = { 'content-type': 'application/json' };
    const ndjson = { 'content-type': 'application/x-ndjson' };
    const element = `{"data":${text}}`;
    const named = `{"deviceId":"${device.id}","data":${text}}`;
    const path = `/v3/devices/${device.id}/backfill`;
    const capture = `/v3/capture?secret=${device.secret}&deviceId=${device.deviceId}`;
    const sent = [
      await world.call('POST', capture, text, json),
      await world.call('POST', path, element, json),
      await world.call('POST', `${path}/bulk`, `[${element},${element}]`, json),
      await world.call('POST', `${path}/bulk`, `${element}\n`, ndjson),
      await world.call('POST', '/v3/samples/bulk', `[${named}]`, json),
      await world.call('POST', '/v3/samples/bulk', `${named}\n${named}`, ndjson),
    ];
    for (const { status } of sent) expect(status).toBe(201);
    const found = await query(device);
    expect(found.length).toBeGreaterThanOrEqual(6);
    for (const { data } of found) expect(data).toEqual(exact);
    const told = await notes(device);
    expect(told.length).toBeGreaterThanOrEqual(6);
    expect(told).toEqual(told.map(() => note));
  });

  test('and from BigInt in scripts, whose payload has the text', async () => {
    const script = `function consume(event) {
      emit('sample', { data: { big: BigInt(event.data.a) + 2n, small: 7n, type: typeof event.data.a } });
    }`;
    const device = await world.device({ script });
    const path = `/v3/capture?secret=${device.secret}&deviceId=${device.deviceId}`;
    expect((await world.call('POST', path, text)).body).toMatchObject({ stored: 1 });
    expect(await query(device)).toMatchObject([
      { data: { big: '9007199254740995', small: 7, type: 'string' } },
    ]);
    expect(await notes(device)).toEqual(
      expect.arrayContaining([note, expect.stringMatching(/: data\.big$/)]),
    );
  });
});

describe('behaviour 17: one rule for what a client writes wrong', () => {
  test('U+0000 in a topic is noted, on every way in', async () => {
    const device = await world.device();
    const topic = 'a\0b';
    const single = { topic, data: { n: 1 } };
    const path = `/v3/devices/${device.id}/backfill`;
    expect((await world.call('POST', path, single)).status).toBe(201);
    expect((await bulk(device, [single])).status).toBe(201);
    expect((await world.capture(device, { n: 2 }, { topic })).status).toBe(201);
    expect(await query(device, 'default')).toHaveLength(3);
    expect(await notes(device)).toHaveLength(3);
  });

  test('both authentication headers are 401 on every route', async () => {
    const device = await world.device();
    const both = { authorization: 'Bearer abc' };
    const capture = `/v3/capture?secret=${device.secret}&deviceId=${device.deviceId}`;
    for (const [method, path] of [
      ['POST', capture],
      ['GET', '/v3/workspaces'],
      ['POST', '/v3/auth/login'],
      ['POST', `/v3/capture/lora/${device.connectorId}?secret=${device.secret}`],
    ] as const)
      expect([
        path,
        (await world.call(method, path, method === 'POST' ? {} : undefined, both)).status,
      ]).toEqual([path, 401]);
    expect(await query(device)).toEqual([]);
  });

  test('bytes that are not UTF-8 end a bulk request with what was stored before', async () => {
    const device = await world.device();
    const sent = Buffer.from('[{"data":{"a":"ü"}}]', 'latin1');
    const answer = await fetch(`${world.base}/v3/devices/${device.id}/backfill/bulk`, {
      method: 'POST',
      headers: { 'x-api-key': world.apiKey, 'content-type': 'application/json' },
      body: sent,
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { accepted: 0, message: expect.stringContaining('is not UTF-8: byte 15') },
    ]);
  });
});

describe('behaviour 25: what a client names wrong', () => {
  test('is refused on endpoints that are ours alone, and told in a header elsewhere', async () => {
    for (const [path, body, said] of [
      [
        '/v3/exports',
        { workspaceId: world.workspaceId, format: 'ndjson', timeZone: 'UTC' },
        'timeZone',
      ],
      [`/v3/workspaces/${world.workspaceId}`, { settings: { retention: 3 } }, 'retentionDays'],
    ] as const) {
      const method = path === '/v3/exports' ? 'POST' : 'PUT';
      const answer = await world.call(method, path, body);
      expect([path, answer.status, answer.body.message]).toEqual([
        path,
        400,
        expect.stringContaining(said),
      ]);
    }
    const device = await world.device();
    const path = `/v3/device-connectors/${device.connectorId}`;
    const answer = await world.call('PUT', path, { description: 'x', uplinkSecret: 'mine' });
    expect([answer.status, answer.headers.get('x-ignored-members')]).toEqual([200, 'uplinkSecret']);
    expect((await world.call('GET', '/v3/device-types?fields=id,nothing')).status).toBe(400);
    const list = {
      workspaceIds: [world.workspaceId],
      expression: { operator: 'OR', expressions: [] },
    };
    expect((await world.call('POST', '/v3/assets/list', list)).status).toBe(400);
  });

  test('hourly series have whole hours', async () => {
    const device = await world.device();
    const interval = { from: '2026-01-05T00:00:00Z', to: '2026-01-06T00:00:00Z' };
    const series = (bucketInterval: string) =>
      world.call('POST', `/v3/devices/${device.id}/query/aggregated/hourly/time-series`, {
        topic: 'default',
        dataKey: 't',
        accumulator: 'AVG',
        bucketInterval,
        interval,
      });
    for (const one of ['PT90M', 'PT1H1S', 'PT30M']) {
      const { status, body } = await series(one);
      expect([one, status, body.message]).toEqual([
        one,
        400,
        expect.stringContaining('/query/raw/time-series'),
      ]);
    }
    for (const one of ['PT1H', 'PT3H', 'PT36H', 'P1D', 'P1W', 'P1M'])
      expect([one, (await series(one)).status]).toEqual([one, 200]);
  });
});

describe('behaviour 22, 25: credentials', () => {
  let at: AccessWorld;
  beforeAll(async () => {
    at = await startAccessWorld();
  });
  afterAll(() => at.close());

  const draft = (permissions: object) => ({
    name: 'limited',
    organizationId: at.world.organizationId,
    allWorkspaces: false,
    workspaces: [{ id: at.world.workspaceId }],
    permissions,
  });

  test('one that is limited to workspaces lists them, whatever its scopes', async () => {
    const { secret } = await at.owner.must('POST', '/v3/api-keys', draft({ asset: ['read'] }));
    const headers = { 'x-api-key': secret };
    const answer = await at.world.call('GET', '/v3/workspaces', undefined, headers);
    expect(answer.status).toBe(200);
    expect(answer.body.content).toEqual([
      {
        id: at.world.workspaceId,
        organizationId: at.world.organizationId,
        name: expect.any(String),
      },
    ]);
    const reads = draft({ workspace: ['read'] });
    const full = (await at.owner.must('POST', '/v3/api-keys', reads)).secret;
    const rows = await at.world.call('GET', '/v3/workspaces', undefined, { 'x-api-key': full });
    expect(rows.body.content).toMatchObject([{ id: at.world.workspaceId, settings: {} }]);
    const all = { ...draft({ asset: ['read'] }), allWorkspaces: true, workspaces: [] };
    const other = (await at.owner.must('POST', '/v3/api-keys', all)).secret;
    expect(
      (await at.world.call('GET', '/v3/workspaces', undefined, { 'x-api-key': other })).status,
    ).toBe(403);
  });

  test('an unknown scope of a permission is named with the valid one', async () => {
    const key = draft({ devices: ['read'], deviceTypes: ['read'] });
    const { status, body } = await at.owner.call('POST', '/v3/api-keys', key);
    expect(status).toBe(400);
    expect(body.message).toContain(
      'permissions.deviceTypes: there is no such member; did you mean deviceType?',
    );
    expect(body.message).not.toContain('schema is false');
  });
});
