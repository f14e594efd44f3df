// Contract 37: the newest samples of many devices in one request.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AccessWorld, startAccessWorld } from '../access/access-world.ts';
import type { TestDevice } from '../world/world.ts';

const path = '/v3/devices/query/latest';
const minute = (n: number) => new Date(Date.UTC(2026, 0, 5, 0, n)).toISOString();
let at: AccessWorld;
let tag: { id: string };
/** In the order of creation. The last one has no samples. */
let devices: TestDevice[];
beforeAll(async () => {
  at = await startAccessWorld();
  const { must, workspaceId } = at.world;
  tag = await must('POST', '/v3/tags', { workspaceId, name: 'latest' });
  devices = [];
  for (let n = 0; n < 4; n++)
    devices.push(
      await at.world.device({ name: `latest ${n}`, ...(n % 2 === 1 && { tags: [tag] }) }),
    );
  await must(
    'POST',
    '/v3/samples/bulk',
    devices.slice(0, 3).flatMap(({ id }, n) => [
      { deviceId: id, timestamp: minute(n), data: { n: 1 } },
      { deviceId: id, timestamp: minute(n + 5), data: { n: 2, at: { x: [n] }, 'at.y': null } },
      { deviceId: id, timestamp: minute(n + 3), topic: 'side', data: { n: 3 } },
    ]),
  );
});
afterAll(() => at.close());

const ask = (body: object) => at.world.call('POST', path, body);
const latest = async (body: object) => {
  const answer = await ask(body);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
};
const newest = (n: number, data: object = { n: 2, at: { x: [n] }, 'at.y': null }) => ({
  topic: 'default',
  timestamp: minute(n + 5),
  data,
});
const side = (n: number, data: object = { n: 3 }) => ({
  topic: 'side',
  timestamp: minute(n + 3),
  data,
});

test('named devices, each once, in their order; a device without samples is empty', async () => {
  const [a, b, c, none] = devices.map(({ id }) => id) as [string, string, string, string];
  const page = await latest({ deviceIds: [c, none, 'unknown', a, b, c] });
  expect(page).toMatchObject({ totalElements: 4, size: 1_000, last: true });
  expect(page.content).toEqual([
    { deviceId: c, samples: [newest(2), side(2)] },
    { deviceId: none, samples: [] },
    { deviceId: a, samples: [newest(0), side(0)] },
    { deviceId: b, samples: [newest(1), side(1)] },
  ]);
  const second = await latest({ deviceIds: [c, none, a, b], page: 1, size: 3 });
  expect(second.content).toEqual([{ deviceId: b, samples: [newest(1), side(1)] }]);
});

test('topics and keys narrow the answer', async () => {
  const deviceIds = [devices[0]!.id];
  const samples = async (more: object) => (await latest({ deviceIds, ...more })).content[0].samples;
  expect(await samples({ topics: ['side', 'none'] })).toEqual([side(0)]);
  expect(await samples({ topics: ['none'] })).toEqual([]);
  expect(await samples({ keys: ['at.x.0', 'at.y', 'unknown'] })).toEqual([
    newest(0, { 'at.x.0': 0, 'at.y': null }),
    side(0, {}),
  ]);
  expect(await samples({ keys: ['n'], topics: ['default'] })).toEqual([newest(0, { n: 2 })]);
});

test('devices of a workspace or tag, page by page, narrowed by an expression', async () => {
  const { workspaceId } = at.world;
  const tagged = await latest({ tagId: tag.id });
  expect(tagged.content.map(({ deviceId }: { deviceId: string }) => deviceId)).toEqual([
    devices[1]!.id,
    devices[3]!.id,
  ]);
  const named = (value: string) => ({
    field: 'name',
    predicate: 'EQUALS',
    values: [value],
  });
  const one = await latest({ workspaceId, expression: named('latest 2') });
  expect(one).toMatchObject({ totalElements: 1, size: 20 });
  expect(one.content).toEqual([{ deviceId: devices[2]!.id, samples: [newest(2), side(2)] }]);
  expect((await latest({ tagId: tag.id, expression: named('latest 2') })).content).toEqual([]);
  const [first, second] = [
    await latest({ workspaceId, size: 2 }),
    await latest({ workspaceId, size: 2, page: 1 }),
  ];
  expect(first.totalElements).toBeGreaterThanOrEqual(4);
  const shown = [...first.content, ...second.content].map(({ deviceId }) => deviceId);
  expect(new Set(shown).size).toBe(4);
});

test.each<[string, (own: AccessWorld) => object, number]>([
  ['nothing named', () => ({}), 400],
  ['two kinds', ({ world }) => ({ workspaceId: world.workspaceId, deviceIds: ['a'] }), 400],
  ['an expression for named devices', () => ({ deviceIds: ['a'], expression: {} }), 400],
  ['no device', () => ({ deviceIds: [] }), 400],
  ['too many devices', () => ({ deviceIds: Array.from({ length: 1_001 }, String) }), 400],
  ['a size above the maximum', () => ({ deviceIds: ['a'], size: 1_001 }), 400],
  ['a wrong expression', ({ world }) => ({ workspaceId: world.workspaceId, expression: 1 }), 400],
  ['unknown devices alone', () => ({ deviceIds: ['a', 'b'] }), 404],
  ['an unknown tag', () => ({ tagId: 'a' }), 404],
  ['a workspace of others', ({ otherWorkspaceId }) => ({ workspaceId: otherWorkspaceId }), 404],
])('refused: %s', async (_, body, status) => {
  expect((await ask(body(at))).status).toBe(status);
});

test('null is the same as absent', async () => {
  const deviceIds = [devices[0]!.id];
  const empty = { workspaceId: null, tagId: null, expression: null, topics: null, keys: null };
  const page = await latest({ deviceIds, ...empty, page: null, size: null });
  expect(page.content[0].samples).toHaveLength(2);
});
