// Contract 39.1: annotations, of a workspace, a device or a place.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readPdf } from '../../src/dashboards/documents/testing-pdf.ts';
import {
  type AccessWorld,
  actingBy,
  makeFixtures,
  startAccessWorld,
} from '../access/access-world.ts';

const path = '/v3/annotations';
const day = (n: number) => new Date(Date.UTC(2026, 2, n)).toISOString();
let at: AccessWorld;
let workspaceId: string;
beforeAll(async () => {
  at = await startAccessWorld();
  ({ workspaceId } = at.world);
});
afterAll(() => at.close());

const create = (more: object) =>
  at.owner.must('POST', path, { workspaceId, at: day(1), text: 'note', ...more });
const texts = async (query: string) => {
  const { content } = await at.owner.must('GET', `${path}?workspaceId=${workspaceId}&${query}`);
  return content.map(({ text }: { text: string }) => text);
};
const place = (name: string, more: object = {}) =>
  at.owner.must('POST', '/v3/places', { workspaceId, name, ...more });

test('a record: created, changed with its version, and deleted', async () => {
  const made = await create({ at: '2026-03-01T01:00:00.123456+01:00', text: 'Filter changed' });
  expect(made).toEqual({
    id: expect.stringMatching(/^42[0-9a-f]{14}$/),
    organizationId: at.world.organizationId,
    workspaceId,
    at: '2026-03-01T00:00:00.123Z',
    until: null,
    text: 'Filter changed',
    deviceId: null,
    placeId: null,
    by: { type: 'USER', id: expect.any(String), name: 'Administrator' },
    created: expect.any(String),
    updated: null,
    version: 0,
  });
  const one = `${path}/${made.id}`;
  expect(await at.owner.must('GET', one)).toEqual(made);
  const changed = await at.owner.must('PUT', one, { until: day(2), text: 'Both', version: 0 });
  expect(changed).toMatchObject({ text: 'Both', until: day(2), at: made.at, version: 1 });
  expect((await at.owner.call('PUT', one, { version: 0 })).status).toBe(409);
  expect(await at.owner.must('PUT', one, { until: null })).toMatchObject({ until: null });
  await at.owner.must('DELETE', one);
  expect((await at.owner.call('GET', one)).status).toBe(404);
});

test.each([
  [{ at: 'noon' }, 'body at'],
  [{ until: 'noon' }, 'body until'],
  [{ until: day(1) }, 'body until: must be after at'],
  [{ text: ' ' }, 'text'],
  [{ text: 'x'.repeat(2_001) }, 'text'],
  [{ deviceId: '02ffffffffffffff' }, 'body deviceId: no device with id 02ffffffffffffff'],
  [{ placeId: '41ffffffffffffff' }, 'body placeId: no place with id 41ffffffffffffff'],
])('%j is refused with where and why', async (more, reason) => {
  const body = { workspaceId, at: day(1), text: 'x', ...more };
  const answer = await at.owner.call('POST', path, body);
  expect(answer).toMatchObject({ status: 400 });
  expect(answer.body.message).toContain(reason);
});

describe('lists', () => {
  let floor: string;
  let room: string;
  let other: string;
  let inRoom: string;
  let nowhere: string;
  beforeAll(async () => {
    floor = (await place('Floor')).id;
    room = (await place('Room', { parentId: floor })).id;
    other = (await place('Other')).id;
    inRoom = (await at.world.device({ name: 'In room' })).id;
    await at.owner.must('POST', `/v3/places/${room}/devices`, { add: [inRoom] });
    nowhere = (await at.world.device({ name: 'Nowhere' })).id;
    await create({ at: day(10), text: 'all' });
    await create({ at: day(11), text: 'of floor', placeId: floor });
    await create({ at: day(12), text: 'of room', placeId: room });
    await create({ at: day(13), text: 'of device in room', deviceId: inRoom });
    await create({ at: day(14), text: 'of device nowhere', deviceId: nowhere });
    await create({ at: day(15), until: day(18), text: 'of other', placeId: other });
  });

  test.each<[query: () => string, expected: readonly string[]]>([
    [
      () => '',
      ['of other', 'of device nowhere', 'of device in room', 'of room', 'of floor', 'all'],
    ],
    [() => 'sort=at,asc&size=2', ['all', 'of floor']],
    [() => `from=${day(11)}&to=${day(13)}`, ['of room', 'of floor']],
    [() => `from=${day(17)}`, ['of other']],
    [() => `from=${day(18)}`, []],
    [() => `to=${day(11)}`, ['all']],
    [() => `deviceId=${inRoom}`, ['of device in room']],
    [() => `deviceId=${inRoom},${nowhere}`, ['of device nowhere', 'of device in room']],
    [() => `placeId=${floor}`, ['of device in room', 'of room', 'of floor']],
    [() => `placeId=${other}`, ['of other']],
    [() => `concerns=${inRoom}`, ['of device in room', 'of room', 'of floor', 'all']],
    [() => `concerns=${nowhere}`, ['of device nowhere', 'all']],
    [() => 'search=DEVICE', ['of device nowhere', 'of device in room']],
  ])('%s', async (query, expected) => {
    expect(await texts(query())).toEqual(expected);
  });

  test('bounds and too many devices are refused', async () => {
    for (const [query, reason] of [
      ['from=noon', 'query from'],
      ['to=noon', 'query to'],
      [`concerns=${Array.from({ length: 201 }, (_, i) => i).join(',')}`, 'at most 200 devices'],
    ] as const) {
      const answer = await at.owner.call('GET', `${path}?workspaceId=${workspaceId}&${query}`);
      expect(answer).toMatchObject({ status: 400 });
      expect(answer.body.message).toContain(reason);
    }
  });

  test('devices and places need `asset` `read`', async () => {
    const { secret } = await at.owner.must('POST', '/v3/api-keys', {
      organizationId: at.world.organizationId,
      name: 'notes',
      permissions: { dashboard: ['create', 'read', 'update'] },
    });
    const key = actingBy(at.world.base, { 'x-api-key': secret });
    const body = { workspaceId, at: day(20), text: 'by key' };
    const made = await key.must('POST', path, body);
    expect(made.by).toMatchObject({ type: 'API_KEY', name: 'notes' });
    expect((await key.call('POST', path, { ...body, deviceId: inRoom })).status).toBe(403);
    expect((await key.call('PUT', `${path}/${made.id}`, { placeId: room })).status).toBe(403);
    const list = `${path}?workspaceId=${workspaceId}`;
    expect((await key.call('GET', list)).status).toBe(200);
    expect((await key.call('GET', `${list}&concerns=${inRoom}`)).status).toBe(403);
    expect((await key.call('GET', `${list}&placeId=${room}`)).status).toBe(403);
  });
});

test('annotations end with their device, their place and their workspace', async () => {
  const device = await at.world.device({ name: 'Ends' });
  const { id: placeId } = await place('Ends');
  const ofDevice = await create({ text: 'ends', deviceId: device.id });
  const ofPlace = await create({ text: 'ends', placeId });
  await at.owner.must('DELETE', `/v3/devices/${device.id}`);
  expect((await at.owner.call('GET', `${path}/${ofDevice.id}`)).status).toBe(404);
  await at.owner.must('DELETE', `/v3/places/${placeId}`);
  expect((await at.owner.call('GET', `${path}/${ofPlace.id}`)).status).toBe(404);
  const workspace = await at.owner.must('POST', '/v3/workspaces', {
    organizationId: at.world.organizationId,
    name: 'Ends',
  });
  const made = await create({ text: 'ends', workspaceId: workspace.id });
  await at.owner.must('DELETE', `/v3/workspaces/${workspace.id}`);
  expect((await at.owner.call('GET', `${path}/${made.id}`)).status).toBe(404);
});

test('annotations of a device go with it to another workspace, where its place is not', async () => {
  const { id: placeId } = await place('Left');
  const device = await at.world.device({ name: 'Moves' });
  const made = await create({
    text: 'Filter changed',
    until: day(2),
    deviceId: device.id,
    placeId,
  });
  const targetWorkspaceId = at.secondWorkspaceId;
  const { dataFlow: dataFlowId } = await makeFixtures(at.owner, targetWorkspaceId, 'moves');
  await at.owner.must('POST', '/v3/devices/bulk/move', {
    workspaceId,
    deviceIds: [device.id],
    targetWorkspaceId,
    dataFlowId,
  });
  await expect
    .poll(() => at.owner.must('GET', `${path}/${made.id}`))
    .toMatchObject({ workspaceId: targetWorkspaceId, deviceId: device.id, placeId: null });
});

test('the audit log has who changed the text, and when', async () => {
  const made = await create({ text: 'before' });
  await at.owner.must('PUT', `${path}/${made.id}`, { text: 'after', at: day(3) });
  const { content } = await at.owner.must('GET', `/v3/audit-logs?resourceId=${made.id}`);
  expect(content).toMatchObject([
    { action: 'UPDATE', resourceType: 'ANNOTATION' },
    { action: 'CREATE', resourceType: 'ANNOTATION' },
  ]);
  expect(content[0].changes).toEqual(
    expect.arrayContaining([
      { field: 'text', before: 'before', after: 'after' },
      { field: 'at', before: day(1), after: day(3) },
    ]),
  );
});

test('contract 39.1: PDF files mark the notes of a chart, and list them', async () => {
  const device = await at.world.device({ name: 'Boiler' });
  for (const n of [10, 11, 12]) await at.world.capture(device, { heat: n }, { timestamp: day(n) });
  await create({ at: day(11), until: day(12), text: '<b>Burner</b> cleaned', deviceId: device.id });
  await create({ at: day(12), text: 'Pump replaced' });
  await create({ at: day(20), text: 'After the range' });
  const place = { x: 0, y: 0, width: 12, height: 4 };
  const series = [{ deviceId: device.id, topic: 'default', dataKey: 'heat' }];
  const render = async (more: object) => {
    const tiles = [{ ...place, id: 'heat', kind: 'line', title: 'Heat', series }];
    const configuration = { schema: 'heliograph-dashboard', version: 2, tiles, ...more };
    const body = { workspaceId, name: 'Boilers', configuration };
    const { id } = await at.owner.must('POST', '/v3/dashboards', body);
    const range = `from=${day(9)}&to=${day(14)}`;
    const path = `${at.world.base}/v3/dashboards/${id}/render?format=pdf&timeZone=UTC&${range}`;
    const answer = await fetch(path, { headers: at.owner.headers });
    expect(answer.status).toBe(200);
    const { pages } = await readPdf(await answer.bytes());
    return pages.map(({ text }) => text).join(' ');
  };
  const text = await render({});
  expect(text).toMatch(
    /Notes and alarms.*2 +11 Mar 2026, 00:00 to 12 Mar 2026, 00:00 +Boiler +<b>Burner<\/b> cleaned +Administrator +3 +12 Mar 2026, 00:00 +Pump replaced/,
  );
  expect(text).not.toContain('After the range');
  expect(await render({ annotations: { notes: false } })).not.toContain('Pump replaced');
});
