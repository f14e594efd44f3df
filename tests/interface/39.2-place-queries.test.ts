// Contract 39.2: queries, latest samples, alarms, overview and search at a place and below it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { alarmRules } from '../world/alarm-rules.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let devices: TestDevice[];
let site: { id: string };
let floors: { id: string }[];
const from = '2026-01-01T00:00:00.000Z';

/** Site: device 1. Floor 1 below it: devices 2 and 3. Floor 2: device 4, without a value. At no place: device 5. */
beforeAll(async () => {
  world = await startWorld();
  const { workspaceId } = world;
  site = await world.must('POST', '/v3/places', { workspaceId, name: 'Site Alpha' });
  floors = [];
  for (const name of ['Floor 1', 'Floor 2'])
    floors.push(await world.must('POST', '/v3/places', { workspaceId, name, parentId: site.id }));
  devices = [];
  for (const n of [1, 2, 3, 4, 5]) devices.push(await world.device({ name: `device ${n}` }));
  const places = [site, floors[0], floors[0], floors[1]];
  for (const [at, place] of places.entries())
    await world.must('PUT', `/v3/devices/${devices[at]!.id}`, { placeId: place!.id });
  for (const at of [0, 1, 2, 4])
    await world.capture(devices[at]!, { value: 10 * (at + 1) }, { timestamp: from });
});
afterAll(() => world.close());

const kpi = (more: object = {}) => ({
  topic: 'default',
  dataKey: 'value',
  accumulator: 'AVG',
  interval: { from, to: '2026-01-01T01:00:00.000Z' },
  ...more,
});
const idsOf = (numbers: readonly number[]) => numbers.map((n) => devices[n - 1]!.id);

describe('POST /v3/places/{id}/query', () => {
  test.each(['raw', 'aggregated/hourly'])('%s: devices at and below', async (source) => {
    const path = `/v3/places/${site.id}/query/${source}`;
    const page = await world.must('POST', `${path}/kpi`, kpi());
    expect(
      page.content.map((one: { deviceId: string; kpi: number }) => [one.deviceId, one.kpi]),
    ).toEqual([
      [devices[0]!.id, 10],
      [devices[1]!.id, 20],
      [devices[2]!.id, 30],
      [devices[3]!.id, null],
    ]);
    expect(await world.must('POST', `${path}/accumulated-kpi`, kpi())).toEqual({
      kpi: 60,
      placeId: site.id,
      topic: 'default',
      dataKey: 'value',
    });
    const floor = `/v3/places/${floors[0]!.id}/query/${source}/time-series?size=1`;
    const series = await world.must('POST', floor, kpi({ bucketInterval: 'PT1H' }));
    expect(series.totalElements).toBe(2);
    expect(series.content[0].deviceId).toBe(devices[1]!.id);
  });
  test('an unknown place is a 404', async () => {
    const path = '/v3/places/4100000000000000/query/raw/kpi';
    expect((await world.call('POST', path, kpi())).status).toBe(404);
  });
});

describe('POST /v3/places/query/values', () => {
  const values = (body: object) =>
    world.must('POST', '/v3/places/query/values', {
      workspaceId: world.workspaceId,
      combine: 'AVG',
      ...kpi(),
      ...body,
    });
  test('one number for each place below, nulls left out', async () => {
    expect(await values({ parentId: site.id })).toEqual([
      { placeId: floors[0]!.id, value: 25, devices: 2, withValue: 2 },
      { placeId: floors[1]!.id, value: null, devices: 1, withValue: 0 },
    ]);
    expect(await values({ parentId: null, combine: 'SUM' })).toEqual([
      { placeId: site.id, value: 60, devices: 4, withValue: 3 },
    ]);
  });
  test.each([
    ['MIN', 20],
    ['MAX', 30],
    ['AVG', 25],
    ['SUM', 50],
  ])('%s is %d', async (combine, value) => {
    const [one] = await values({ placeIds: [floors[0]!.id], combine });
    expect(one.value).toBe(value);
  });
  test('hourly aggregates above 25 hours, expressions, and nested places', async () => {
    const interval = { from, to: '2026-01-03T00:00:00.000Z' };
    const { dataKey: _, ...rest } = kpi({ interval });
    const placeIds = [floors[0]!.id, site.id, '4100000000000000'];
    expect(await values({ placeIds, interval, combine: 'MAX' })).toEqual([
      { placeId: floors[0]!.id, value: 30, devices: 2, withValue: 2 },
      { placeId: site.id, value: 30, devices: 4, withValue: 3 },
    ]);
    const answer = await world.call('POST', '/v3/places/query/values', {
      workspaceId: world.workspaceId,
      combine: 'MAX',
      placeIds,
      ...rest,
      interval: kpi().interval,
      expression: 'value * 2',
    });
    expect(answer.body.map((one: { value: number }) => one.value)).toEqual([60, 60]);
  });
  test.each([
    ['both', { parentId: null, placeIds: ['x'] }],
    ['neither', {}],
    ['a wrong combination', { parentId: null, combine: 'MEDIAN' }],
  ])('%s is a 400', async (_, body) => {
    const answer = await world.call('POST', '/v3/places/query/values', {
      workspaceId: world.workspaceId,
      combine: 'AVG',
      ...kpi(),
      ...body,
    });
    expect(answer.status).toBe(400);
  });
});

test('query/latest of a place', async () => {
  const latest = (body: object) => world.call('POST', '/v3/devices/query/latest', body);
  const { body } = await latest({ placeId: site.id });
  expect(body.content.map((row: { deviceId: string }) => row.deviceId)).toEqual(
    idsOf([1, 2, 3, 4]),
  );
  const expression = {
    operator: 'FILTER',
    field: 'name',
    predicate: 'EQUALS',
    values: ['device 3'],
  };
  const narrowed = await latest({ placeId: site.id, expression });
  expect(narrowed.body.content).toHaveLength(1);
  expect((await latest({ placeId: site.id, workspaceId: world.workspaceId })).status).toBe(400);
  expect((await latest({ placeId: '4100000000000000' })).status).toBe(404);
});

test('overview of a place', async () => {
  const path = `/v3/workspaces/${world.workspaceId}/overview`;
  const whole = await world.must('GET', path);
  expect(whole.devices.total).toBe(5);
  const { devices: counts, silent } = await world.must('GET', `${path}?placeId=${site.id}`);
  expect(counts).toEqual({ total: 4, online: 3, offline: 0, unknown: 1 });
  expect(silent.map((one: { id: string }) => one.id).toSorted()).toEqual(
    idsOf([1, 2, 3]).toSorted(),
  );
  expect((await world.call('GET', `${path}?placeId=4100000000000000`)).status).toBe(404);
});

test('alarms of a place', async () => {
  const { workspaceId } = world;
  const rules = alarmRules(world);
  const output = await rules.output();
  for (const n of [2, 5]) {
    await rules.hotRule(devices[n - 1]!, [[20, output]]);
    await rules.send(devices[n - 1]!, 30);
  }
  const list = async (query: string) =>
    (await world.must('GET', `/v3/alarms?workspaceId=${workspaceId}${query}`)).totalElements;
  await expect.poll(() => list(''), { timeout: 60_000 }).toBe(2);
  expect(await list(`&placeId=${site.id}`)).toBe(1);
  expect(await list(`&placeId=${floors[1]!.id}`)).toBe(0);
  const overview = `/v3/workspaces/${workspaceId}/overview?placeId=${floors[0]!.id}`;
  expect((await world.must('GET', overview)).alarms.open.MAJOR).toBe(1);
  const listed = await world.must('GET', `/v3/places?workspaceId=${workspaceId}&details=health`);
  const health = new Map(
    listed.content.map((place: { name: string; health: object }) => [place.name, place.health]),
  );
  expect(health).toEqual(
    new Map([
      ['Site Alpha', { places: 2, openAlarms: 1, worstSeverity: 'MAJOR' }],
      ['Floor 1', { places: 0, openAlarms: 1, worstSeverity: 'MAJOR' }],
      ['Floor 2', { places: 0, openAlarms: 0, worstSeverity: null }],
    ]),
  );
});

test('search finds places', async () => {
  const found = async (query: string) =>
    (await world.must('GET', `/v3/search?q=${query}&workspaceId=${world.workspaceId}`)).hits;
  expect(await found('alpha')).toEqual([
    {
      kind: 'PLACE',
      id: site.id,
      name: 'Site Alpha',
      workspaceId: world.workspaceId,
      match: { field: 'name', value: 'Site Alpha' },
    },
  ]);
  expect((await found(site.id))[0].match.field).toBe('id');
});
