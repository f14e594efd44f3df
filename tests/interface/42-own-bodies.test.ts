// Contract 42: on endpoints that are ours alone, a member that nothing reads is refused, and a record that was read can be sent back.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let device: TestDevice;
let tagId: string;
let dashboardId: string;
beforeAll(async () => {
  world = await startWorld();
  device = await world.device();
  const { workspaceId } = world;
  tagId = (await world.must('POST', '/v3/tags', { workspaceId, name: 'all' })).id;
  const configuration = { schema: 'heliograph-dashboard', version: 2, tiles: [] };
  const draft = { workspaceId, name: 'Empty', configuration };
  dashboardId = (await world.must('POST', '/v3/dashboards', draft)).id;
});
afterAll(() => world.close());

const calculation = () => ({
  workspaceId: world.workspaceId,
  name: 'Count',
  tagId,
  topic: 'default',
  period: 'PT1H',
  target: { deviceId: device.id },
  outputs: [{ key: 'n', count: 'TOTAL' }],
});

const records: readonly (readonly [string, () => object])[] = [
  ['/v3/places', () => ({ name: 'Roof' })],
  ['/v3/annotations', () => ({ at: '2026-05-04T10:00:00Z', text: 'moved' })],
  ['/v3/calculations', calculation],
  ['/v3/views', () => ({ name: 'Mine', kind: 'DEVICES', content: {} })],
  [
    '/v3/on-call',
    () => ({
      name: 'Plant',
      timeZone: 'Europe/Berlin',
      order: ['ada@example.com'],
      turn: 'P1D',
      startsAt: '2026-05-04T10:00:00Z',
    }),
  ],
  [
    '/v3/mutes',
    () => ({
      name: 'Works',
      what: { all: true },
      once: { from: '2026-05-04T10:00:00Z', to: '2026-05-04T11:00:00Z' },
    }),
  ],
];

describe.each(records)('behaviour 25: %s', (path, draft) => {
  test('a member that the record has not is refused', async () => {
    const body = { workspaceId: world.workspaceId, ...draft() };
    const refusal = [400, 'body colour: there is no such member'];
    const made = await world.call('POST', path, { ...body, colour: 3 });
    expect([made.status, made.body.message]).toEqual(refusal);
    const { id } = await world.must('POST', path, body);
    const changed = await world.call('PUT', `${path}/${id}`, { ...body, colour: 3 });
    expect([changed.status, changed.body.message]).toEqual(refusal);
    await world.must('DELETE', `${path}/${id}`);
  });

  test('a record that was read can be changed and sent back', async () => {
    const body = { workspaceId: world.workspaceId, ...draft() };
    const { id } = await world.must('POST', path, body);
    const read = await world.must('GET', `${path}/${id}`);
    const answer = await world.call('PUT', `${path}/${id}`, read);
    expect([answer.status, answer.body.version]).toEqual([200, expect.any(Number)]);
    expect(answer.headers.get('x-ignored-members')).toContain('created');
  });
});

test.each<readonly [string, () => string, () => object]>([
  ['a preview', () => '/v3/calculations/preview', () => ({ calculation: calculation() })],
  ['a share', () => `/v3/dashboards/${dashboardId}/share`, () => ({ expires: 'P1D' })],
  [
    'an import',
    () => '/v3/dashboards/import',
    () => ({ workspaceId: world.workspaceId, format: 'GRAFANA', source: { panels: [] } }),
  ],
])('behaviour 25: %s with an unknown member is refused', async (_, path, body) => {
  const answer = await world.call('POST', path(), { ...body(), dryRnu: true });
  expect([answer.status, answer.body.message]).toEqual([
    400,
    expect.stringContaining('body dryRnu: there is no such member'),
  ]);
});

test('behaviour 25: devices that are named and filtered at once are refused', async () => {
  const named = { workspaceId: world.workspaceId, deviceIds: [device.id] };
  const everyDevice = { field: 'id', predicate: 'IS_NOT_NULL', values: [] };
  for (const [name, value] of [
    ['tagId', tagId],
    ['expression', everyDevice],
    ['search', 'x'],
  ] as const) {
    const erased = await world.call('POST', '/v3/samples/delete', {
      ...named,
      [name]: value,
      all: true,
      dryRun: true,
    });
    const said = `body ${name}: cannot be combined with deviceIds`;
    expect([erased.status, erased.body.message]).toEqual([400, said]);
    if (name === 'tagId') continue;
    const removed = await world.call('POST', '/v3/devices/bulk/delete', {
      ...named,
      [name]: value,
    });
    expect([removed.status, removed.body.message]).toEqual([400, said]);
  }
  expect((await world.must('GET', `/v3/devices/${device.id}`)).id).toBe(device.id);
});
