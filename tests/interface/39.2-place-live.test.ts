// Contract 39.2: live samples of the devices at a place and below it as they move, and places in templates.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startReceiver } from '../deliveries/receivers.ts';
import { alarmRules } from '../world/alarm-rules.ts';
import { openLive } from '../world/live-socket.ts';
import { comparison } from '../world/rule-logic.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let site: { id: string };
let floor: { id: string };

beforeAll(async () => {
  world = await startWorld({ environment: { EGRESS_ALLOW: '127.0.0.0/8' } });
  site = await place('Site');
  floor = await place('Floor 1', site.id);
});
afterAll(() => world.close());

const place = (name: string, parentId: string | null = null) =>
  world.must('POST', '/v3/places', { workspaceId: world.workspaceId, name, parentId });
const put = (device: TestDevice, to: { id: string } | null) =>
  world.must('PUT', `/v3/devices/${device.id}`, { placeId: to?.id ?? null });
const open = () =>
  openLive(`${world.base.replace('http', 'ws')}/v3/data-streams?xApiKey=${world.apiKey}`);
const item = ({ id }: TestDevice) => ({ assetId: id, valid: true });

test('a subscription to a place follows devices and places that move', async () => {
  const [inside, moving] = [await world.device(), await world.device()];
  await put(inside, floor);
  const live = await open();
  const subscriptions = [{ placeId: site.id, topic: '*' }];
  const answer = await live.ask({ type: 'subscribe', subscriptions });
  expect(answer['subscriptions']).toEqual([item(inside)]);

  await put(moving, floor);
  const started = await live.next();
  expect(started).toMatchObject({ type: 'subscribed', started: [item(moving)] });
  await world.capture(moving, { n: 1 });
  expect((await live.next())['sample']).toMatchObject({ deviceId: moving.id, data: { n: 1 } });

  await put(moving, null);
  const left = await live.next();
  expect(left).toMatchObject({
    type: 'unsubscribed',
    ended: [{ assetId: moving.id, valid: false }],
    subscriptions: [item(inside)],
  });

  // The floor leaves the site with its device, and returns.
  await world.must('PUT', `/v3/places/${floor.id}`, { parentId: null });
  expect(await live.next()).toMatchObject({ ended: [{ assetId: inside.id, valid: false }] });
  await world.must('PUT', `/v3/places/${floor.id}`, { parentId: site.id });
  expect(await live.next()).toMatchObject({ started: [item(inside)] });

  const none = await live.ask({ type: 'unsubscribe', subscriptions });
  expect(none['subscriptions']).toEqual([]);
  live.close();
});

test('an unknown place is valid: false, and two ways to name devices are an error', async () => {
  const live = await open();
  const subscriptions = [{ placeId: '41nowhere' }];
  const answer = await live.ask({ type: 'subscribe', subscriptions });
  expect(answer['subscriptions']).toEqual([
    { placeId: '41nowhere', topic: 'default', valid: false },
  ]);
  const both = [{ placeId: site.id, assetId: '02a' }];
  expect(await live.ask({ type: 'subscribe', subscriptions: both })).toMatchObject({
    type: 'error',
    message: expect.stringContaining('exactly one of assetId, tagId, placeId, and workspaceId'),
  });
  live.close();
});

const payload = '{"name": {{place.name}}, "path": {{place.path}}}';

test('outputs name the place and its path, also after it was renamed', async () => {
  const target = await startReceiver();
  const hook = await world.must('POST', '/v3/output-connectors', {
    workspaceId: world.workspaceId,
    name: 'Hook',
    type: 'WEBHOOK',
    webhookProperties: { uri: target.url },
    useCustomPayload: true,
    customPayload: payload,
  });
  const device = await world.device({ outputs: [{ id: hook.id, topic: '*' }] });
  const bodies = () => target.received.map(({ body }) => body);
  await world.capture(device, { n: 1 });
  await expect.poll(bodies, { timeout: 60_000 }).toEqual([{ name: null, path: null }]);
  const room = await place('Room A/B', floor.id);
  await put(device, room);
  await world.capture(device, { n: 2 });
  const first = { name: 'Room A/B', path: 'Site/Floor 1/Room A\\/B' };
  await expect.poll(() => bodies().at(-1), { timeout: 60_000 }).toEqual(first);
  await world.must('PUT', `/v3/places/${site.id}`, { name: 'Campus' });
  await world.capture(device, { n: 3 });
  const second = { ...first, path: 'Campus/Floor 1/Room A\\/B' };
  await expect.poll(() => bodies().at(-1), { timeout: 60_000 }).toEqual(second);
  await world.must('PUT', `/v3/places/${site.id}`, { name: 'Site' });
  await target.close();
});

test('alarms of rules name the place', async () => {
  const output = await alarmRules(world).output({
    key: '{{place.name}}',
    name: '{{place.path}} is warm',
  });
  const device = await world.device();
  await put(device, floor);
  await world.must('POST', '/v3/rules', {
    name: 'Warm',
    workspaceId: world.workspaceId,
    active: true,
    inputs: [{ id: device.id, type: 'DEVICE' }],
    logic: comparison(device.id, {}, { actionIds: [output] }),
    actions: [{ id: output }],
  });
  await world.capture(device, { temperature: 90 });
  const alarms = async () => {
    const path = `/v3/alarms?workspaceId=${world.workspaceId}&deviceId=${device.id}`;
    return (await world.must('GET', path)).content;
  };
  await expect
    .poll(alarms, { timeout: 60_000 })
    .toMatchObject([{ key: 'Floor 1', name: 'Site/Floor 1 is warm' }]);
});
