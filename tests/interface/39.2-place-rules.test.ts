// Contract 39.2: rules over the devices at a place and below it, as devices and places move, and places in configuration documents.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { alarmRules } from '../world/alarm-rules.ts';
import { comparison } from '../world/rule-logic.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let site: { id: string };
let floor: { id: string };
let other: { id: string };
let output: string;
let rule: { id: string; inputs: unknown[] };

beforeAll(async () => {
  world = await startWorld();
  site = await place('Site');
  floor = await place('Floor', site.id);
  other = await place('Other');
  output = await alarmRules(world).output({ key: '{{device.deviceId}}' });
  rule = await world.must('POST', '/v3/rules', {
    name: 'Warm site',
    workspaceId: world.workspaceId,
    active: true,
    inputs: [{ id: site.id, type: 'PLACE' }],
    logic: comparison(site.id, {}, { actionIds: [output] }),
    actions: [{ id: output }],
  });
});
afterAll(() => world.close());

const place = (name: string, parentId: string | null = null) =>
  world.must('POST', '/v3/places', { workspaceId: world.workspaceId, name, parentId });
const put = (device: TestDevice, to: { id: string } | null) =>
  world.must('PUT', `/v3/devices/${device.id}`, { placeId: to?.id ?? null });

/** How often the rule was triggered by the device. */
async function count(device: TestDevice): Promise<number> {
  const path = `/v3/alarms?workspaceId=${world.workspaceId}&deviceId=${device.id}`;
  const { content } = await world.must('GET', path);
  return content.reduce((sum: number, alarm: { count: number }) => sum + alarm.count, 0);
}
const send = (device: TestDevice, temperature: number) => world.capture(device, { temperature });

/** Sends from a device at the site, so that what was sent before has been evaluated. */
async function evaluated(watched: TestDevice): Promise<void> {
  const before = await count(watched);
  await send(watched, 0);
  await send(watched, 50);
  await expect.poll(() => count(watched), { timeout: 60_000 }).toBe(before + 1);
}

test('the rule shows its place by name', () => {
  expect(rule.inputs).toEqual([
    expect.objectContaining({
      id: site.id,
      type: 'PLACE',
      name: 'Site',
      device: false,
      tag: false,
    }),
  ]);
});

test('devices at and below trigger it, also after they or their place moved', async () => {
  const [watched, moving] = [await world.device(), await world.device()];
  await put(watched, site);
  await send(moving, 50);
  await evaluated(watched);
  expect(await count(moving)).toBe(0);
  await put(moving, floor);
  await send(moving, 51);
  await expect.poll(() => count(moving), { timeout: 60_000 }).toBe(1);
  // Without a device of its own having changed, the floor is elsewhere.
  await world.must('PUT', `/v3/places/${floor.id}`, { parentId: other.id });
  await send(moving, 0);
  await send(moving, 52);
  await evaluated(watched);
  expect(await count(moving)).toBe(1);
  await world.must('PUT', `/v3/places/${floor.id}`, { parentId: site.id });
  await send(moving, 0);
  await send(moving, 53);
  await expect.poll(() => count(moving), { timeout: 60_000 }).toBe(2);
  await put(moving, null);
  await send(moving, 0);
  await send(moving, 54);
  await evaluated(watched);
  expect(await count(moving)).toBe(2);
});

test('an alarm ends when its device is at the place no more', async () => {
  const device = await world.device();
  await put(device, floor);
  await send(device, 60);
  await expect.poll(() => count(device), { timeout: 60_000 }).toBe(1);
  await world.must('PUT', `/v3/places/${floor.id}`, { parentId: null });
  const path = `/v3/alarms?workspaceId=${world.workspaceId}&deviceId=${device.id}`;
  await expect
    .poll(async () => (await world.must('GET', path)).content[0].cleared?.reason, {
      timeout: 60_000,
    })
    .toBe('INPUT_REMOVED');
  await world.must('PUT', `/v3/places/${floor.id}`, { parentId: site.id });
});

test('an unknown place, a place twice and a timer are refused', async () => {
  const draft = (inputs: object[], more: object = {}) =>
    world.call('POST', '/v3/rules', {
      name: 'x',
      workspaceId: world.workspaceId,
      inputs,
      logic: comparison(site.id),
      actions: [{ id: output }],
      ...more,
    });
  const unknown = await draft([
    { id: site.id, type: 'PLACE' },
    { id: '4100000000000000', type: 'PLACE' },
  ]);
  expect(unknown.body.message).toBe(
    'body inputs.1.id: no place with id 4100000000000000 in this workspace',
  );
  const twice = await draft([
    { id: site.id, type: 'PLACE' },
    { id: site.id, type: 'PLACE' },
  ]);
  expect(twice.status).toBe(400);
  const timer = { enabled: true, type: 'INTERVAL', schedule: 'PT1H' };
  expect((await draft([{ id: site.id, type: 'PLACE' }], { timer })).status).toBe(400);
});

test('silence of all devices of a place', async () => {
  const device = await world.device();
  const quiet = await place('Quiet');
  await put(device, quiet);
  await send(device, 0);
  const { totalElements } = await world.must(
    'GET',
    `/v3/assets?workspaceId=${world.workspaceId}&places.ids=${quiet.id}`,
  );
  expect(totalElements).toBe(1);
  const made = await world.call('POST', '/v3/rules', {
    name: 'Quiet',
    workspaceId: world.workspaceId,
    active: true,
    inputs: [{ id: quiet.id, type: 'PLACE' }],
    logic: {
      type: 'SILENCE',
      dataSources: [],
      silenceLogicBlock: { after: 'PT1M', mode: 'ALL', actionIds: [output] },
    },
    actions: [{ id: output }],
  });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
});

test('configuration documents have places by path, and rules name them', async () => {
  const path = `/v3/workspaces/${world.workspaceId}/configuration`;
  const document = await world.must('GET', path);
  expect(document.places.map(({ name }: { name: string }) => name)).toEqual([
    'Other',
    'Quiet',
    'Site',
    'Site/Floor',
  ]);
  const [exported] = document.rules.filter(({ name }: { name: string }) => name === 'Warm site');
  expect(exported.inputs).toEqual([{ id: '1', type: 'PLACE', place: 'Site' }]);
  const { organizationId } = world;
  const second = await world.must('POST', '/v3/workspaces', { name: 'Copy', organizationId });
  const sections = { format: document.format, places: document.places };
  const copy = `/v3/workspaces/${second.id}/configuration`;
  expect(await world.must('PUT', copy, sections)).toMatchObject({ created: 4, updated: 0 });
  expect(await world.must('PUT', copy, sections)).toMatchObject({ created: 0, unchanged: 4 });
  const { content } = await world.must('GET', `/v3/places?workspaceId=${second.id}&search=floor`);
  expect(content[0].path.map((step: { name: string }) => step.name)).toEqual(['Site', 'Floor']);
  const changed = { ...sections, places: [{ name: 'Site/Floor', kind: 'FLOOR' }] };
  expect(await world.must('PUT', copy, changed)).toMatchObject({ created: 0, updated: 1 });
});

test('a place that a rule names is only deleted by force; the rule then has no device', async () => {
  const path = `/v3/places/${site.id}`;
  const { message } = (await world.call('DELETE', path)).body;
  expect(message).toContain(`rule Warm site (${rule.id})`);
  const device = await world.device();
  await put(device, site);
  expect((await world.call('DELETE', `${path}?force=true`)).status).toBe(204);
  const after = await world.must('GET', `/v3/rules/${rule.id}`);
  expect(after).toMatchObject({ active: true, inputs: [{ id: site.id, type: 'PLACE' }] });
});
