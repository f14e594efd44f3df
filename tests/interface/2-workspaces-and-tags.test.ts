// Interface 2.8, contract 0, 1, 3 and 6: organizations, workspaces and tags with every field, and who reaches which workspace.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anyId, anyTime, expectRefusal } from '../world/expectations.ts';
import { startWorld, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const defaultSettings = {
  lifecycleMessages: false,
  lifecycleMessageInterval: null,
  lifecycleMessageRecipients: null,
  timezone: null,
  workingHours: null,
  holidays: null,
  holidayRegion: null,
  implausibleTimes: 'KEEP',
  map: { source: 'INSTALLATION', url: null, attribution: null },
  retentionDays: null,
};

describe('contract 1: organizations', () => {
  const whole = () => ({
    id: world.organizationId,
    name: expect.any(String),
    description: null,
    logo: null,
    owner: { id: anyId('52'), name: expect.any(String), email: expect.stringContaining('@') },
    alphaFeatures: false,
    properties: null,
    created: anyTime,
    updated: null,
    version: 0,
  });

  test('the list has exactly the organization of the key', async () => {
    expect((await world.must('GET', '/v3/organizations')).content).toEqual([whole()]);
    expect(await world.must('GET', `/v3/organizations/${world.organizationId}`)).toEqual(whole());
  });
  for (const query of ['size=1&minimal=true', 'minimal=true&page=0&size=100', 'size=1'])
    test(`${query} answers id and name at least`, async () => {
      const { content } = await world.must('GET', `/v3/organizations?${query}`);
      expect(content).toEqual([
        expect.objectContaining({ id: world.organizationId, name: expect.any(String) }),
      ]);
    });
  test('PUT changes it and counts the version', async () => {
    const path = `/v3/organizations/${world.organizationId}`;
    const sent = {
      id: world.organizationId,
      name: 'Alps',
      description: 'High',
      logo: 'data:image/png;base64,AA==',
    };
    const body = await world.must('PUT', path, { ...sent, properties: { a: 1 } });
    expect(body).toEqual({
      ...whole(),
      ...sent,
      properties: { a: 1 },
      updated: anyTime,
      version: 1,
    });
    expectRefusal(
      await world.call('PUT', path, { name: 'x', version: 0 }),
      409,
      '40901_STALE_VERSION',
      { path },
    );
  });
  test('one that does not exist is a 404', async () => {
    const path = '/v3/organizations/2800000000000000';
    expectRefusal(await world.call('GET', path), 404, '40400_NOT_FOUND', { path });
  });
});

describe('contract 3: workspaces', () => {
  const draft = (more: object = {}) => ({
    name: 'Lab',
    organizationId: world.organizationId,
    ...more,
  });
  const whole = (known: object = {}) => ({
    id: anyId('29'),
    name: 'Lab',
    description: null,
    version: 0,
    properties: {},
    settings: defaultSettings,
    organizationId: world.organizationId,
    created: anyTime,
    updated: null,
    ...known,
  });

  test('created (201), read, listed, changed, deleted (204)', async () => {
    const { status, body: made } = await world.call('POST', '/v3/workspaces', draft());
    expect(status).toBe(201);
    expect(made).toEqual(whole());
    const path = `/v3/workspaces/${made.id}`;
    expect(await world.must('GET', path)).toEqual(made);
    const listed = await world.must(
      'GET',
      `/v3/workspaces?organizationId=${world.organizationId}&search=lab`,
    );
    expect(listed.content).toEqual([made]);
    const settings = {
      lifecycleMessages: true,
      lifecycleMessageInterval: 'WEEKLY',
      timezone: 'Europe/Zurich',
    };
    const sent = {
      id: made.id,
      name: 'Lab 2',
      description: 'cold',
      properties: { floor: 3 },
      settings,
    };
    const changed = await world.must('PUT', path, sent);
    expect(changed).toEqual({
      ...whole(),
      ...sent,
      settings: { ...defaultSettings, ...settings },
      version: 1,
      updated: anyTime,
    });
    const gone = await world.call('DELETE', path);
    expect({ status: gone.status, body: gone.body }).toEqual({ status: 204, body: '' });
    expectRefusal(await world.call('GET', path), 404, '40400_NOT_FOUND', { path });
  });

  test('working hours and holidays come back as sent', async () => {
    const settings = {
      timezone: 'America/New_York',
      workingHours: { enabled: true, days: { MONDAY: [{ from: '08:00', to: '18:00' }] } },
      holidays: [{ date: '2026-12-25', name: 'Christmas' }],
      lifecycleMessageRecipients: ['a@b.test'],
      retentionDays: 365,
    };
    const made = await world.must('POST', '/v3/workspaces', draft({ name: 'Hours', settings }));
    expect(made.settings).toEqual({ ...defaultSettings, ...settings });
    await world.must('DELETE', `/v3/workspaces/${made.id}`);
  });

  test('name and search find part of the name, in any case', async () => {
    const ids = [];
    for (const name of ['North', 'North wing'])
      ids.push((await world.must('POST', '/v3/workspaces', draft({ name }))).id);
    const found = async (query: string) =>
      (
        await world.must('GET', `/v3/workspaces?organizationId=${world.organizationId}&${query}`)
      ).content.map(({ name }: { name: string }) => name);
    expect(await found('name=North%20w')).toEqual(['North wing']);
    expect(await found('search=north')).toEqual(['North', 'North wing']);
    for (const id of ids) await world.must('DELETE', `/v3/workspaces/${id}`);
  });

  test('a workspace that is used cannot be deleted: 409 says by what', async () => {
    const workspace = await world.must('POST', '/v3/workspaces', draft({ name: 'Used' }));
    const tag = await world.must('POST', '/v3/tags', { workspaceId: workspace.id, name: 'in it' });
    const path = `/v3/workspaces/${workspace.id}`;
    expectRefusal(await world.call('DELETE', path), 409, '40902_IN_USE', { path });
    await world.must('DELETE', `/v3/tags/${tag.id}`);
    await world.must('DELETE', path);
  });

  for (const [what, body, status, code] of [
    ['no name', { name: undefined }, 400, '40001_INVALID_REQUEST'],
    ['empty name', { name: '' }, 400, '40001_INVALID_REQUEST'],
    [
      'unknown time zone',
      { settings: { timezone: 'Mars/Olympus' } },
      400,
      '40034_UNKNOWN_TIME_ZONE',
    ],
    [
      'unknown interval',
      { settings: { lifecycleMessageInterval: 'HOURLY' } },
      400,
      '40001_INVALID_REQUEST',
    ],
    ['no day of retention', { settings: { retentionDays: 0 } }, 400, '40001_INVALID_REQUEST'],
    ['half a day of retention', { settings: { retentionDays: 0.5 } }, 400, '40001_INVALID_REQUEST'],
    ['another organization', { organizationId: '2800000000000000' }, 404, '40400_NOT_FOUND'],
  ] as const)
    test(`refused: ${what}`, async () => {
      const path = '/v3/workspaces';
      expectRefusal(await world.call('POST', path, draft(body)), status, code, { path });
    });

  for (const [scope, verb] of [
    ['ASSET', 'READ'],
    ['asset', 'read'],
    ['DEVICE_TYPE', 'CREATE'],
    ['deviceType', 'update'],
    ['DATA_FLOW', 'READ'],
    ['ORGANIZATION_MEMBER', 'READ'],
    ['organization.member', 'manage'],
    ['DASHBOARD_GROUP', 'DELETE'],
  ])
    test(`workspace-access ${scope} ${verb}: all is true and ids are empty`, async () => {
      const query = `organizationId=${world.organizationId}&scope=${scope}&verb=${verb}`;
      expect(await world.must('GET', `/v3/workspace-access?${query}`)).toEqual({
        all: true,
        ids: [],
      });
    });
  for (const query of [
    'scope=NOTHING&verb=READ',
    'scope=ASSET&verb=LOOK',
    'verb=READ',
    'scope=ASSET',
  ])
    test(`workspace-access ${query}: 400`, async () => {
      const path = '/v3/workspace-access';
      expectRefusal(await world.call('GET', `${path}?${query}`), 400, '40001_INVALID_REQUEST', {
        path,
      });
    });
});

describe('contract 6: tags', () => {
  const whole = (known: object = {}) => ({
    id: anyId('71'),
    name: 'roof',
    description: null,
    workspaceId: world.workspaceId,
    color: null,
    taggedDevices: 0,
    created: anyTime,
    updated: null,
    version: 0,
    ...known,
  });

  test('created (201), read, listed, changed, deleted (204)', async () => {
    const { status, body: made } = await world.call('POST', '/v3/tags', {
      workspaceId: world.workspaceId,
      name: 'roof',
    });
    expect(status).toBe(201);
    expect(made).toEqual(whole());
    const path = `/v3/tags/${made.id}`;
    expect(await world.must('GET', path)).toEqual(made);
    const sent = { id: made.id, name: 'Roof', description: 'high', color: '#FFFFFF' };
    const changed = await world.must('PUT', path, sent);
    expect(changed).toEqual(whole({ ...sent, updated: anyTime, version: 1 }));
    expect(
      (await world.must('GET', `/v3/tags?workspaceId=${world.workspaceId}&search=oo`)).content,
    ).toEqual([changed]);
    const gone = await world.call('DELETE', path);
    expect({ status: gone.status, body: gone.body }).toEqual({ status: 204, body: '' });
    expectRefusal(await world.call('GET', path), 404, '40400_NOT_FOUND', { path });
  });

  test('taggedDevices counts the devices that carry it; a deleted tag leaves its devices', async () => {
    const tag = await world.must('POST', '/v3/tags', {
      workspaceId: world.workspaceId,
      name: 'counted',
    });
    const device = await world.device({ name: 'tagged', tags: [{ id: tag.id }] });
    expect(await world.must('GET', `/v3/tags/${tag.id}`)).toMatchObject({ taggedDevices: 1 });
    const [listed] = (
      await world.must('GET', `/v3/tags?workspaceId=${world.workspaceId}&search=counted`)
    ).content;
    expect(listed.taggedDevices).toBe(1);
    await world.must('DELETE', `/v3/tags/${tag.id}`);
    expect((await world.must('GET', `/v3/devices/${device.id}`)).tags).toEqual([]);
  });

  test('a tag of another workspace cannot be given to a device', async () => {
    const elsewhere = await world.must('POST', '/v3/workspaces', {
      name: 'Elsewhere',
      organizationId: world.organizationId,
    });
    const tag = await world.must('POST', '/v3/tags', { workspaceId: elsewhere.id, name: 'far' });
    const device = await world.device({ name: 'near' });
    const path = `/v3/devices/${device.id}`;
    const refused = await world.call('PUT', path, { tags: [{ id: tag.id }] });
    expectRefusal(refused, 400, '40010_UNKNOWN_REFERENCE', {
      path,
      message: expect.stringContaining(tag.id),
    });
  });
});
