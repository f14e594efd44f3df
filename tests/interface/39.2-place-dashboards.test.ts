// Contract 39.2: the dashboard of a place, generated from what its devices send, or stored for all places of its kind.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AccessWorld, actingBy, startAccessWorld } from '../access/access-world.ts';

let at: AccessWorld;
let workspaceId: string;
let floorId: string;
let roomId: string;

beforeAll(async () => {
  at = await startAccessWorld();
  ({ workspaceId } = at.world);
  const place = async (name: string, more: object) =>
    (await at.owner.must('POST', '/v3/places', { workspaceId, name, ...more })).id;
  floorId = await place('Floor 1', { kind: 'FLOOR' });
  roomId = await place('Room', { kind: 'ROOM', parentId: floorId });
});

afterAll(() => at.world.close());

const schemas = {
  default: {
    type: 'object',
    properties: {
      temperature: { type: 'number', unit: '°C', title: 'Temperature' },
      latitude: { type: 'number' },
      door: { type: 'boolean' },
      raw: { type: 'number', hideFromKpis: true },
    },
  },
};
const shownAt = (id: string) => at.owner.must('GET', `/v3/places/${id}/dashboard`);
const kinds = ({ configuration }: { configuration: { tiles: { kind: string }[] } }) =>
  configuration.tiles.map(({ kind }) => kind);

test('a place without devices has its alarms', async () => {
  const shown = await shownAt(floorId);
  expect(shown).toMatchObject({ source: 'INFERRED', dashboard: null });
  expect(kinds(shown)).toEqual(['alarms']);
});

test('devices below count: declared keys, and what others have sent, each key once', async () => {
  const { owner, world } = at;
  const declared = await world.device({ script: 'function consume() {}' });
  await owner.must('PUT', `/v3/device-types/${declared.deviceTypeId}`, { schemas });
  const silent = await world.device();
  await owner.must('POST', '/v3/samples/bulk', [
    {
      deviceId: silent.id,
      timestamp: '2026-03-01T10:00:00Z',
      data: { temperature: 20, humidity: 40 },
    },
  ]);
  await owner.must('POST', `/v3/places/${roomId}/devices`, { add: [declared.id, silent.id] });
  const shown = await shownAt(floorId);
  expect(shown.source).toBe('GENERATED');
  expect(kinds(shown)).toEqual(['line', 'line', 'devices', 'alarms']);
  const { variables, tiles } = shown.configuration;
  expect(variables).toEqual([{ name: 'place', kind: 'PLACE' }]);
  expect(tiles.map(({ series }: { series?: object[] }) => series)).toContainEqual([
    {
      variable: 'place',
      topic: 'default',
      dataKey: 'temperature',
      label: 'Temperature',
      unit: '°C',
    },
  ]);
  const { columns } = tiles.find(({ kind }: { kind: string }) => kind === 'devices');
  const keys = columns.map(({ dataKey }: { dataKey: string }) => dataKey);
  expect(keys.toSorted()).toEqual(['door', 'humidity', 'temperature']);
  // It is one that can be stored, and rendered for the place.
  const { id } = await owner.must('POST', '/v3/dashboards', {
    ...{ workspaceId, name: 'Copy', configuration: shown.configuration },
  });
  const rendered = await owner.must(
    'GET',
    `/v3/dashboards/${id}/render?format=json&var.place=${floorId}&from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z`,
  );
  const line = rendered.tiles.find(({ title }: { title: string }) => title === 'humidity');
  const ids = line.series.map(({ deviceId }: { deviceId: string }) => deviceId);
  expect(ids.toSorted()).toEqual([declared.id, silent.id].toSorted());
});

test('with a plan, this is the first tile, colored by the first number', async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200"/>';
  const answer = await fetch(`${at.base}/v3/blobs?workspaceId=${workspaceId}&name=a.svg`, {
    method: 'POST',
    headers: { 'x-api-key': at.world.apiKey, 'content-type': 'image/svg+xml' },
    body: svg,
  });
  const { id: blobId } = (await answer.json()) as { readonly id: string };
  await at.owner.must('PUT', `/v3/places/${floorId}`, { plan: { blobId } });
  const { configuration } = await shownAt(floorId);
  const [plan, beside, below] = configuration.tiles;
  const numbers = [beside, below].map(({ series }) => series[0].dataKey);
  expect(plan).toMatchObject({
    kind: 'plan',
    variable: 'place',
    colorBy: { topic: 'default', dataKey: numbers[0] },
  });
  expect([beside.x, beside.y, beside.height]).toEqual([6, 0, plan.height]);
  expect([below.x, below.y]).toEqual([0, plan.height]);
});

test('one is stored for all places of a kind, and of it one in a workspace', async () => {
  const { owner } = at;
  const { configuration } = await shownAt(floorId);
  const body = { workspaceId, name: 'Floors', placeKind: 'FLOOR', configuration };
  const stored = await owner.must('POST', '/v3/dashboards', body);
  expect(stored.placeKind).toBe('FLOOR');
  expect(await shownAt(floorId)).toEqual({ source: 'STORED', dashboard: stored, configuration });
  expect((await shownAt(roomId)).source).toBe('GENERATED');
  const second = await owner.call('POST', '/v3/dashboards', { ...body, name: 'Second' });
  expect([second.status, second.body.message]).toEqual([
    409,
    `Places of kind FLOOR already have a dashboard in this workspace: Floors (${stored.id})`,
  ]);
  const list = (kind: string) =>
    owner.must('GET', `/v3/dashboards?workspaceId=${workspaceId}&placeKind=${kind}`);
  expect((await list('FLOOR')).content.map(({ id }: { id: string }) => id)).toEqual([stored.id]);
  expect((await list('ROOM')).totalElements).toBe(0);
  const elsewhere = { ...body, workspaceId: at.secondWorkspaceId, configuration: {} };
  expect((await owner.call('POST', '/v3/dashboards', elsewhere)).status).toBe(201);
  const freed = await owner.must('PUT', `/v3/dashboards/${stored.id}`, { placeKind: null });
  expect(freed.placeKind).toBeNull();
  expect((await shownAt(floorId)).source).toBe('GENERATED');
  await owner.must('PUT', `/v3/dashboards/${stored.id}`, { placeKind: 'FLOOR' });
  const kept = await owner.must('PUT', `/v3/dashboards/${stored.id}`, { name: 'All floors' });
  expect(kept.placeKind).toBe('FLOOR');
});

test('documents of workspaces carry the kind', async () => {
  const { owner } = at;
  const path = `/v3/workspaces/${workspaceId}/configuration`;
  const document = await owner.must('GET', path);
  const kindOf = ({ dashboards }: { dashboards: { name: string; placeKind?: string }[] }) =>
    dashboards.find(({ name }) => name === 'All floors')?.placeKind;
  expect(kindOf(document)).toBe('FLOOR');
  await owner.must('PUT', path, document);
  expect(kindOf(await owner.must('GET', path))).toBe('FLOOR');
});

test('it needs dashboards and devices of the workspace, and a place of the organization', async () => {
  const { owner, otherOwner, world } = at;
  const path = `/v3/places/${floorId}/dashboard`;
  for (const permissions of [{ dashboard: ['read'] }, { asset: ['read'] }]) {
    const { secret } = await owner.must('POST', '/v3/api-keys', {
      name: 'Half',
      organizationId: world.organizationId,
      permissions,
    });
    const half = actingBy(at.base, { 'x-api-key': secret });
    expect((await half.call('GET', path)).status).toBe(403);
  }
  expect((await otherOwner.call('GET', path)).status).toBe(404);
  expect((await owner.call('GET', '/v3/places/none/dashboard')).status).toBe(404);
});
