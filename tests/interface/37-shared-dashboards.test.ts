// Contract 37, 42: the token of a shared dashboard reads that dashboard and the series of its tiles, and nothing else.
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { allEndpoints } from '../../src/contract/endpoint-table.ts';
import {
  type AccessWorld,
  type Acting,
  actingBy,
  type Fixtures,
  makeFixtures,
  startAccessWorld,
} from '../access/access-world.ts';
import type { TestDevice } from '../world/world.ts';

let at: AccessWorld;
let own: Fixtures;
let shown: TestDevice;
let hidden: TestDevice;
let beside: TestDevice;
let elsewhere: TestDevice;
let foreign: Fixtures;
let dashboard: { readonly id: string };
let reader: Acting;
let token: string;

const day = { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' };
const metric = { topic: 'default', dataKey: 'a', accumulator: 'MAX', interval: day };

beforeAll(async () => {
  at = await startAccessWorld();
  const { world, owner } = at;
  own = await makeFixtures(owner, world.workspaceId, 'own');
  foreign = await makeFixtures(at.otherOwner, at.otherWorkspaceId, 'foreign');
  shown = await world.device({ tags: [{ id: own.tag }] });
  hidden = await world.device();
  beside = await world.device();
  elsewhere = await world.device({ workspaceId: at.secondWorkspaceId });
  await world.must(
    'POST',
    '/v3/samples/bulk',
    [shown, hidden, elsewhere].map(({ id }) => ({
      deviceId: id,
      timestamp: '2026-03-01T10:00:00Z',
      data: { a: 1 },
    })),
  );
  // It names a device of another workspace and one of another organization too.
  dashboard = await owner.must('POST', '/v3/dashboards', {
    name: 'Shown',
    workspaceId: world.workspaceId,
    configuration: {
      tiles: [
        { kind: 'value', series: [{ deviceId: shown.id, dataKey: 'a' }] },
        { kind: 'value', series: [{ deviceId: shown.id, expression: formulaOf() }] },
        {
          kind: 'line',
          series: [
            { deviceId: elsewhere.id, dataKey: 'a' },
            { deviceId: foreign.device, dataKey: 'a' },
            { tagId: own.tag, topic: 'default', dataKey: 'a' },
          ],
          calculations: [{ as: 'Twice', expression: 'x * 2' }],
        },
      ],
      anything: { [beside.id]: true, deviceId: beside.id, dataKey: 'a' },
    },
  });
  const share = await owner.must('POST', `/v3/dashboards/${dashboard.id}/share`);
  ({ token } = share);
  expect(share).toEqual({
    id: expect.stringMatching(/^18[0-9a-f]{14}$/),
    url: expect.stringMatching(new RegExp(`/shared/dashboards/${dashboard.id}#${token}$`)),
    token: expect.stringMatching(/^share_[\w-]{43}$/),
    expires: expect.any(String),
  });
  const days = (Date.parse(share.expires) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(89.9);
  expect(days).toBeLessThan(90.1);
  reader = actingBy(at.base, { authorization: `Bearer ${token}` });
}, 240_000);
afterAll(() => at.close());

/** It shows a device that no tile names. */
const formulaOf = () => `a * 2 + device("${hidden.id}", "a")`;

test('the formula of a tile is computed, and no other one', async () => {
  const path = `/v3/devices/${shown.id}/query/raw/kpi`;
  const { dataKey: _, ...common } = metric;
  const ask = (expression: string) => reader.call('POST', path, { ...common, expression });
  expect((await ask(formulaOf())).body).toMatchObject({ kpi: 3 });
  expect((await ask('a')).status).toBe(403);
  expect((await ask(`device("${hidden.id}", "a")`)).status).toBe(403);
  expect((await reader.call('POST', path, { ...metric, dataKey: formulaOf() })).status).toBe(403);
});

test('contract 38: calculations read the series that a tile shows, and no other', async () => {
  const ask = (deviceId: string, expression: string) =>
    reader.call('POST', '/v3/devices/query/batch/time-series', {
      interval: day,
      bucketInterval: 'P1D',
      timeZone: 'UTC',
      series: [{ deviceId, topic: 'default', dataKey: 'a', ref: 'x', accumulators: ['MAX'] }],
      calculations: [{ as: 'Twice', expression }],
    });
  expect((await ask(shown.id, 'x * 2')).body).toMatchObject([
    { dataPoints: { MAX: [1] } },
    { as: 'Twice', dataPoints: { VALUE: [2] } },
  ]);
  expect((await ask(shown.id, `x + device("${hidden.id}", "a")`)).status).toBe(400);
  expect((await ask(hidden.id, 'x')).status).toBe(403);
});

test('contract 38: neither it nor a key that reads deletes, corrects or recalculates', async () => {
  const reading = await at.key({ permissions: { asset: ['read'], deviceType: ['read'] } });
  const { workspaceId } = at.world;
  const [deviceIds, data] = [[shown.id], { a: 1 }];
  const erase = { workspaceId, deviceIds, all: true };
  const correction = { timestamp: '2026-03-01T10:00:00Z', data, replacement: null };
  const recalculate = `/v3/device-types/${own.deviceType}/recalculate`;
  const changes: [string, object][] = [
    ['/v3/samples/delete', erase],
    ['/v3/samples/delete', { ...erase, dryRun: true }],
    [`/v3/devices/${shown.id}/samples/correct`, { corrections: [correction] }],
    [recalculate, { source: 'SAMPLES', deviceIds }],
    [recalculate, { source: 'UPLINKS', deviceIds }],
    [recalculate, { source: 'SAMPLES', deviceIds, dryRun: true }],
  ];
  for (const [path, body] of changes)
    for (const caller of [reader, reading])
      expect((await caller.call('POST', path, body)).status, path).toBe(403);
  // The type is in reach of the key, and none of its devices.
  expect((await reading.call('POST', recalculate, { source: 'SAMPLES' })).status).toBe(400);
  const found = await reader.must('POST', `/v3/devices/${shown.id}/query`, { topic: 'default' });
  expect(found).toMatchObject([{ data }]);
});

test('contract 38: the expected range of a series that a tile shows, and of no other', async () => {
  const path = `/v3/devices/${shown.id}/query/expected`;
  const ask = (dataKey: string) =>
    reader.call('POST', path, { topic: 'default', dataKey, interval: day });
  expect((await ask('a')).body).toMatchObject({ method: 'NONE', weeks: 0 });
  expect((await ask('b')).status).toBe(403);
  const other = await reader.call('POST', `/v3/devices/${hidden.id}/query/expected`, {
    topic: 'default',
    dataKey: 'a',
    interval: day,
  });
  expect(other.status).toBe(403);
});

const queriesOf = (id: string): [string, string, object?][] => [
  ['POST', `/v3/devices/${id}/query`, { topic: 'default' }],
  ['GET', `/v3/devices/${id}/query`],
  ['GET', `/v3/devices/${id}/query/topics`],
  ['GET', `/v3/devices/${id}/query/latest-sample`],
  ['POST', `/v3/devices/${id}/query/raw/kpi`, metric],
  ['POST', `/v3/devices/${id}/query/aggregated/hourly/time-series`, metric],
  ['POST', '/v3/devices/query/latest', { deviceIds: [id] }],
  ['POST', '/v3/devices/query/batch/raw/kpi', { ...metric, deviceIds: [id] }],
  ['POST', '/v3/devices/query/batch/raw/time-series', { ...metric, deviceIds: [id] }],
  [
    'POST',
    '/v3/devices/query/batch/time-series',
    {
      interval: day,
      series: [{ deviceId: id, topic: 'default', dataKey: 'a', accumulators: ['MAX'] }],
    },
  ],
];

describe('reads', () => {
  test('the dashboard and the data of its devices and tags', async () => {
    const { configuration } = await reader.must('GET', `/v3/dashboards/${dashboard.id}`);
    expect(configuration.tiles[2].series[2].tagId).toBe(own.tag);
    for (const [method, path, body] of queriesOf(shown.id))
      expect((await reader.call(method, path, body)).status, path).toBe(200);
    const byTag = await reader.must('POST', `/v3/tags/${own.tag}/query/raw/kpi`, metric);
    expect(byTag.content).toContainEqual(expect.objectContaining({ deviceId: shown.id, kpi: 1 }));
  });

  test.each([
    ['a device that it does not name', () => hidden.id, 403],
    ['a device that is named beside its tiles', () => beside.id, 403],
    ['a named device of another workspace', () => elsewhere.id, 403],
    ['a named device of another organization', () => foreign.device, 404],
  ])('not %s', async (_, id, status) => {
    for (const [method, path, body] of queriesOf(id()))
      expect((await reader.call(method, path, body)).status, path).toBe(status);
  });

  test('behaviour 19: no other topic or data key of the device of a tile', async () => {
    const device = await at.world.device();
    const samples = [
      { data: { shown: 1, secret: 2, nested: { shown: 3, secret: 4 } } },
      { topic: 'other', data: { shown: 5, secret: 6 } },
      { topic: 'third', data: { shown: 7, secret: 8 } },
    ].map((one) => ({ deviceId: device.id, timestamp: '2026-03-01T10:00:00Z', ...one }));
    await at.world.must('POST', '/v3/samples/bulk', samples);
    const series = [
      { deviceId: device.id, dataKey: 'shown' },
      { deviceId: device.id, dataKey: 'nested.shown' },
      { deviceId: device.id, dataKey: 'shown', topic: 'third' },
    ];
    const { id } = await at.owner.must('POST', '/v3/dashboards', {
      name: 'Few',
      workspaceId: at.world.workspaceId,
      configuration: {
        schema: 'heliograph-dashboard',
        version: 1,
        tiles: [{ id: 't', kind: 'line', x: 0, y: 0, width: 4, height: 4, series }],
      },
    });
    const made = await at.owner.must('POST', `/v3/dashboards/${id}/share`, {});
    const few = actingBy(at.base, { authorization: `Bearer ${made.token}` });
    const seen = { default: { shown: 1, 'nested.shown': 3 }, third: { shown: 7 } };
    const byTopic = (list: readonly { topic: string; data: object }[]) =>
      Object.fromEntries(list.map(({ topic, data }) => [topic, data]));
    const query = `/v3/devices/${device.id}/query`;
    expect(byTopic(await few.must('GET', `${query}?topic=*`))).toEqual(seen);
    expect(byTopic(await few.must('POST', query, { topic: '*' }))).toEqual(seen);
    expect(await few.must('POST', query, { topic: 'other' })).toEqual([]);
    expect((await few.must('GET', `${query}/topics`)).toSorted()).toEqual(['default', 'third']);
    expect(Object.keys(seen)).toContain((await few.must('GET', `${query}/latest-sample`)).topic);
    expect((await few.call('GET', `${query}/latest-sample?topic=other`)).status).toBe(404);
    for (const keys of [undefined, ['shown', 'secret', 'nested.shown', 'nested']]) {
      const body = { deviceIds: [device.id], ...(keys && { keys }) };
      const { content } = await few.must('POST', '/v3/devices/query/latest', body);
      expect(byTopic(content[0].samples)).toEqual(seen);
      expect(JSON.stringify(content)).not.toContain('secret');
    }
    for (const [topic, dataKey, status] of [
      ['default', 'shown', 200],
      ['default', 'nested.shown', 200],
      ['third', 'shown', 200],
      ['default', 'secret', 403],
      ['default', 'nested', 403],
      ['default', 'nested.secret', 403],
      ['other', 'shown', 403],
      ['*', 'shown', 403],
    ] as const) {
      const asked = { ...metric, topic, dataKey };
      const old = {
        data: { key: dataKey, topic },
        timestamp: day,
        bucket: { interval: 'PT1H', aggregation: 'MAX' },
      };
      const one = { deviceId: device.id, topic, dataKey, accumulators: ['MAX'] };
      for (const [path, body] of [
        [`${query}/raw/kpi`, asked],
        [`${query}/aggregated/hourly/kpi`, asked],
        [`${query}/raw/time-series`, asked],
        [`${query}/time-series`, { topic, dataKey }],
        [`${query}/time-series/aggregation`, old],
        ['/v3/devices/query/batch', { ...asked, deviceIds: [device.id] }],
        ['/v3/devices/query/batch/raw/accumulated-kpi', { ...asked, deviceIds: [device.id] }],
        ['/v3/devices/query/batch/raw/time-series', { ...asked, deviceIds: [device.id] }],
        ['/v3/devices/query/batch/time-series', { interval: day, series: [one] }],
      ] as const)
        expect((await few.call('POST', path, body)).status, `${path} ${topic} ${dataKey}`).toBe(
          status,
        );
    }
  });

  test('no lists, and no other device together with a named one', async () => {
    const path = '/v3/devices/query/latest';
    const { workspaceId } = at.world;
    const mixed = { deviceIds: [shown.id, hidden.id] };
    const { id: otherTag } = await at.owner.must('POST', '/v3/tags', {
      workspaceId,
      name: 'Other',
    });
    for (const body of [mixed, { workspaceId }, { tagId: otherTag }])
      expect((await reader.call('POST', path, body)).status).toBe(403);
    const other = await at.owner.must('POST', '/v3/dashboards', { name: 'x', workspaceId });
    expect((await reader.call('GET', `/v3/dashboards/${other.id}`)).status).toBe(403);
    expect((await reader.call('GET', `/v3/dashboards/${foreign.dashboard}`)).status).toBe(404);
  });
});

test('contract 42: a tile of a tag reads the devices that carry it, as long as they do', async () => {
  const { workspaceId } = at.world;
  const { id: tag } = await at.owner.must('POST', '/v3/tags', { workspaceId, name: 'Shown' });
  const tagged = [
    await at.world.device({ tags: [{ id: tag }] }),
    await at.world.device({ tags: [{ id: tag }] }),
  ];
  const samples = tagged.map(({ id }) => ({ deviceId: id, data: { a: 2, b: 3 } }));
  await at.owner.must('POST', '/v3/samples/bulk', samples);
  const { id } = await at.owner.must('POST', '/v3/dashboards', {
    name: 'Of a tag',
    workspaceId,
    configuration: { tiles: [{ kind: 'value', series: [{ tagId: tag, dataKey: 'a' }] }] },
  });
  const share = await at.owner.must('POST', `/v3/dashboards/${id}/share`);
  const guest = actingBy(at.base, { authorization: `Bearer ${share.token}` });
  const latest = (body: object) => guest.call('POST', '/v3/devices/query/latest', body);
  const { status, body } = await latest({ tagId: tag });
  expect([status, body.totalElements]).toEqual([200, 2]);
  const listed = body.content.map(({ deviceId }: { deviceId: string }) => deviceId);
  expect(listed.toSorted()).toEqual(tagged.map((one) => one.id).toSorted());
  for (const { samples: newest } of body.content)
    expect(newest).toMatchObject([{ data: { a: 2 } }]);
  expect(JSON.stringify(body)).not.toContain('"b"');
  const [page] = [await latest({ tagId: tag, page: 1, size: 1 })];
  expect(page.body).toMatchObject({ totalElements: 2, content: [{ deviceId: listed[1] }] });
  const metricOf = (dataKey: string) => ({ ...metric, dataKey });
  const [first] = tagged;
  const kpi = `/v3/devices/${first!.id}/query/raw/kpi`;
  expect((await guest.call('POST', kpi, metricOf('a'))).status).toBe(200);
  expect((await guest.call('POST', kpi, metricOf('b'))).status).toBe(403);
  expect((await guest.call('POST', `/v3/devices/${shown.id}/query/raw/kpi`, metric)).status).toBe(
    403,
  );
  const device = await at.owner.must('GET', `/v3/devices/${first!.id}`);
  await at.owner.must('PUT', `/v3/devices/${first!.id}`, { ...device, tags: [] });
  expect((await latest({ tagId: tag })).body).toMatchObject({ totalElements: 1 });
  expect((await guest.call('POST', kpi, metricOf('a'))).status).toBe(403);
});

test('every other endpoint that needs a credential refuses it', async () => {
  const ids: Record<string, string> = { id: dashboard.id, deviceId: shown.id, tagId: own.tag };
  const refused = allEndpoints.filter(
    ({ access, takesShares }) => !('open' in access) && !takesShares,
  );
  expect(refused.length).toBeGreaterThan(150);
  for (const { method, path } of refused) {
    for (const id of [dashboard.id, shown.id]) {
      const filled = path.replace(/:(\w+)/g, (_, name: string) => ({ ...ids, id })[name] ?? 'x');
      const url = `${filled}?workspaceId=${own.workspace}&q=own&scope=ASSET&verb=READ`;
      const answer = await fetch(at.base + url, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(method !== 'GET' && { body: '{}' }),
      });
      expect([403], `${method} ${path}`).toContain(answer.status);
      await answer.arrayBuffer();
    }
  }
});

test('the live stream, MQTT credentials and a second credential refuse it', async () => {
  const socket = new WebSocket(`${at.base.replace('http', 'ws')}/v3/data-streams`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const [, response] = (await Promise.race([
    once(socket, 'unexpected-response'),
    once(socket, 'open').then(() => [undefined, { statusCode: 101 }]),
  ])) as [unknown, { statusCode: number }];
  expect(response.statusCode).toBe(401);
  socket.on('error', () => undefined);
  socket.terminate();
  const both = { authorization: `Bearer ${token}`, 'x-api-key': at.world.apiKey };
  const path = `/v3/dashboards/${dashboard.id}`;
  expect((await actingBy(at.base, both).call('GET', path)).status).toBe(401);
  for (const wrong of [`${token}x`, token.slice(0, -1), 'share_', 'share_x'])
    expect(
      (await actingBy(at.base, { authorization: `Bearer ${wrong}` }).call('GET', path)).status,
    ).toBe(401);
});

describe('sharing', () => {
  let configuration: object;
  beforeAll(() => {
    configuration = { tiles: [{ series: [{ deviceId: shown.id, dataKey: 'a' }] }] };
  });
  const make = (body: object = {}) =>
    at.owner.must('POST', '/v3/dashboards', {
      name: 'x',
      workspaceId: own.workspace,
      configuration,
      ...body,
    });
  const statusOf = async (shared: string) => {
    const acting = actingBy(at.base, { authorization: `Bearer ${shared}` });
    return (await acting.call('GET', `/v3/devices/${shown.id}/query/topics`)).status;
  };

  test('follows the configuration, whose change then needs to read devices', async () => {
    const { id } = await make({ configuration: {} });
    const path = `/v3/dashboards/${id}`;
    const { token: shared } = await at.owner.must('POST', `${path}/share`);
    expect(await statusOf(shared)).toBe(403);
    const writer = await at.key({ permissions: { dashboard: ['read', 'update'] } });
    expect((await writer.call('PUT', path, { configuration })).status).toBe(403);
    expect((await writer.call('POST', `${path}/share`, {})).status).toBe(403);
    await writer.must('PUT', path, { name: 'Renamed' });
    await at.owner.must('PUT', path, { configuration });
    expect(await statusOf(shared)).toBe(200);
    await at.owner.must('PUT', path, { configuration: {} });
    expect(await statusOf(shared)).toBe(403);
  });

  test('ends by revocation, with its time and with the dashboard', async () => {
    const { id } = await make();
    const path = `/v3/dashboards/${id}/share`;
    const expires = new Date(Date.now() + 1_500).toISOString();
    const ending = await at.owner.must('POST', path, { expires });
    const lasting = await at.owner.must('POST', path, { expires: null });
    expect(ending.expires).toBe(expires);
    const { shares } = await at.owner.must('GET', path);
    expect(shares.map((one: { expires: string | null }) => one.expires)).toEqual([expires, null]);
    expect(JSON.stringify(shares)).not.toContain('share_');
    expect(await statusOf(ending.token)).toBe(200);
    await expect.poll(() => statusOf(ending.token), { timeout: 60_000 }).toBe(401);
    expect(await statusOf(lasting.token)).toBe(200);
    await at.owner.must('DELETE', path);
    expect(await statusOf(lasting.token)).toBe(401);
    expect((await at.owner.must('GET', path)).shares).toEqual([]);
    const last = await at.owner.must('POST', path);
    await at.owner.must('DELETE', `/v3/dashboards/${id}`);
    expect(await statusOf(last.token)).toBe(401);
  });

  test.each(['yesterday', '2001-01-01T00:00:00Z'])('an end of %s is refused', async (expires) => {
    const path = `/v3/dashboards/${dashboard.id}/share`;
    expect((await at.owner.call('POST', path, { expires })).status).toBe(400);
  });

  test('security 9: creation, use and revocation are in the audit log under the id of the link', async () => {
    const { id } = await make();
    const path = `/v3/dashboards/${id}/share`;
    const made = await at.owner.must('POST', path);
    const read = async () => (await at.owner.must('GET', `${path}s`)).shares;
    expect(await read()).toEqual([
      { id: made.id, created: expect.any(String), expires: made.expires, lastUsed: null },
    ]);
    for (let n = 0; n < 3; n++) expect(await statusOf(made.token)).toBe(200);
    await expect.poll(async () => (await read())[0].lastUsed).toEqual(expect.any(String));
    await at.owner.must('DELETE', path);
    const audit = await at.owner.must('GET', `/v3/audit-logs?resourceId=${made.id}`);
    const of = audit['content'] as readonly {
      readonly action: string;
      readonly resourceType: string;
      readonly actor: { readonly type: string };
    }[];
    expect(of.map(({ action, resourceType, actor }) => [action, resourceType, actor.type])).toEqual(
      [
        ['DELETE', 'DASHBOARD_SHARE', 'USER'],
        ['LOGIN', 'DASHBOARD_SHARE', 'API_KEY'],
        ['CREATE', 'DASHBOARD_SHARE', 'USER'],
      ],
    );
    expect(JSON.stringify(of)).not.toContain('share_');
  });

  test('a dashboard has at most 20 links, and the audit log has no token', async () => {
    const { id } = await make();
    const path = `/v3/dashboards/${id}/share`;
    const tokens: string[] = [];
    for (let n = 0; n < 20; n++) tokens.push((await at.owner.must('POST', path)).token);
    expect((await at.owner.call('POST', path)).status).toBe(409);
    const log = JSON.stringify(
      await at.owner.must('GET', `/v3/audit-logs?resourceId=${id}&size=100`),
    );
    for (const shared of tokens) expect(log).not.toContain(shared);
    expect(log).toContain('UPDATE');
  });
});
