// Contract 13: rules as records, and every reason to reject one.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  besidesPlatform,
  makeOrganization,
  type OtherOrganization,
} from '../world/restricted-keys.ts';
import { anyId, anyTime, expectRefusal } from '../world/expectations.ts';
import { comparison, constant, customLogic, sourceOf } from '../world/rule-logic.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let device: TestDevice;
let elsewhere: OtherOrganization;
let otherWorkspaceId: string;
let tag: { id: string };

beforeAll(async () => {
  world = await startWorld();
  elsewhere = await besidesPlatform(world, makeOrganization);
  const { organizationId } = world;
  otherWorkspaceId = (
    await world.must('POST', '/v3/workspaces', { name: 'Second', organizationId })
  ).id;
  tag = await world.must('POST', '/v3/tags', { name: 'Roof', workspaceId: world.workspaceId });
  device = await world.device({ name: 'Sensor' });
});
afterAll(() => world.close());

function draft(more: object = {}) {
  return {
    name: 'Too warm',
    workspaceId: world.workspaceId,
    inputs: [{ id: device.id, name: 'x', type: 'DEVICE' }],
    logic: comparison(device.id),
    actions: [],
    ...more,
  };
}

const square = [
  [0, 0],
  [10, 0],
  [10, 10],
  [0, 10],
  [0, 0],
];

function fence(more: object = {}) {
  const polygon = {
    type: 'Feature',
    properties: {},
    geometry: { type: 'Polygon', coordinates: [square] },
  };
  return {
    type: 'GEO_FENCE',
    dataSources: [
      { ...sourceOf(device.id), id: 'a', dataKey: 'lat', variableName: 'latitude' },
      { ...sourceOf(device.id), id: 'b', dataKey: 'lng', variableName: 'longitude' },
    ],
    geoFenceLogicBlock: {
      address: 'x',
      geoJson: { type: 'FeatureCollection', features: [polygon] },
      ...more,
    },
  };
}

/** The record of `draft`, whole. */
function wanted(id: string): Record<string, unknown> {
  const operand = { dataKey: null, valueType: null };
  return {
    id: anyId('21'),
    ruleId: id,
    workspaceId: world.workspaceId,
    name: 'Too warm',
    description: 'd',
    active: true,
    deleted: false,
    version: 0,
    created: anyTime,
    updated: null,
    nextExecution: null,
    inputs: [
      {
        id: device.id,
        name: 'Sensor',
        type: 'DEVICE',
        tagCombination: null,
        workspaceId: null,
        device: true,
        trigger: true,
        tag: false,
      },
    ],
    timer: { enabled: false, schedule: null, type: null, startAt: null, timeZone: null },
    logic: {
      type: 'COMPARISON',
      dataSources: [{ ...sourceOf(device.id), variableName: null, triggerOnUplink: true }],
      logicBlocks: [
        {
          conditions: [
            {
              operandFirst: {
                ...operand,
                type: 'DATA_SOURCE',
                dataSourceId: 'dataSource::t',
                value: null,
              },
              operator: 'GT',
              operandSecond: { ...operand, type: 'CONSTANT', dataSourceId: null, value: 20 },
              order: 0,
              chainOperator: null,
            },
          ],
          actionIds: [],
        },
      ],
      geoFenceLogicBlock: null,
      customLogic: null,
    },
    actions: [],
  };
}

const refused: readonly (readonly [string, () => object, string | RegExp])[] = [
  ['no inputs', () => draft({ inputs: [] }), 'body inputs: at least one input is required'],
  [
    'a device twice',
    () => draft({ inputs: [0, 1].map(() => ({ id: device.id, type: 'DEVICE' })) }),
    /body inputs\.1\.id: .* duplicated/,
  ],
  ['an unknown device', () => draft({ inputs: [{ id: '02x', type: 'DEVICE' }] }), /input/],
  [
    'a tag combination without tags',
    () => draft({ inputs: [{ id: 'c', type: 'TAG_COMBINATION', tagCombination: 'AND:' }] }),
    /tagCombination: must be AND/,
  ],
  [
    'a tag combination with an unknown tag',
    () =>
      draft({
        inputs: [{ id: 'c', type: 'TAG_COMBINATION', tagCombination: `AND:${tag.id},71x` }],
        logic: comparison('c'),
      }),
    'body inputs.0.tagCombination: no tag with id 71x in this workspace',
  ],
  [
    'an input of another workspace',
    () => draft({ inputs: [{ id: device.id, type: 'DEVICE', workspaceId: otherWorkspaceId }] }),
    /inputs\.0\.workspaceId: must be .*, the workspace of the rule/,
  ],
  [
    'a data source of an unknown input',
    () => draft({ logic: comparison('02y') }),
    /inputIds: 02y is not an input/,
  ],
  [
    'an unknown data source',
    () =>
      draft({
        logic: comparison(device.id, { operandFirst: { type: 'DATA_SOURCE', dataSourceId: 'z' } }),
      }),
    /operandFirst\.dataSourceId: z is not a data source/,
  ],
  [
    'a constant of another type',
    () => draft({ logic: comparison(device.id, { operandSecond: constant('warm') }) }),
    /operandSecond\.value: "warm" cannot be compared as NUMERICAL/,
  ],
  [
    'an unknown operator',
    () => draft({ logic: comparison(device.id, { operator: 'LIKE' }) }),
    /EQ, GT, LT/,
  ],
  [
    'an action that is none',
    () => draft({ logic: comparison(device.id, {}, { actionIds: ['09x'] }) }),
    /actionIds/,
  ],
  [
    'an unknown action',
    () => draft({ actions: [{ id: '09x' }] }),
    /actions\.0\.id: no output connector/,
  ],
  [
    'an output of data flows as action',
    () => draft({ actions: [{ id: '0900000000000000' }] }),
    /actions\.0\.id/,
  ],
  [
    'no logic block',
    () => draft({ logic: { ...comparison(device.id), logicBlocks: [] } }),
    /logicBlocks/,
  ],
  [
    'an interval below PT10S',
    () => draft({ timer: timed('INTERVAL', 'PT9S') }),
    /timer\.schedule: .*PT10S/,
  ],
  [
    'a time that is none',
    () => draft({ timer: timed('FIXED', '25:00') }),
    /timer\.schedule: 25:00/,
  ],
  [
    'a cron of five fields',
    () => draft({ timer: timed('ADVANCED', '* * * * *') }),
    /timer\.schedule: .*5/,
  ],
  [
    'a cron that is never fires',
    () => draft({ timer: timed('ADVANCED', '0 0 0 31 2 ?') }),
    /never fires/,
  ],
  [
    'a time zone that is none',
    () => draft({ timer: timed('FIXED', '08:00', 'Mars/Base') }),
    /timer\.timeZone/,
  ],
  [
    'a fence that is none',
    () => draft({ logic: fence({ geoJson: { type: 'Point' } }) }),
    /FeatureCollection/,
  ],
  [
    'a fence without longitude',
    () =>
      draft({
        logic: { ...fence(), dataSources: [sourceOf(device.id, { variableName: 'latitude' })] },
      }),
    /variableName longitude/,
  ],
  [
    'unknown custom logic',
    () => draft({ logic: { ...customLogic(device.id, '37x') } }),
    'body logic.customLogic.customLogicId: no custom logic block with id 37x in this organization',
  ],
];
const timed = (type: string, schedule: string, timeZone?: string) => ({
  enabled: true,
  type,
  schedule,
  timeZone,
});

describe('contract 13: rules', () => {
  test('a rule is created, read, changed and deleted with every field of the contract', async () => {
    const made = await world.call('POST', '/v3/rules', draft({ description: 'd' }));
    expect(made.status).toBe(201);
    expect(made.body).toEqual(wanted(made.body.id));
    const path = `/v3/rules/${made.body.id}`;
    expect((await world.call('GET', path)).body).toEqual(made.body);
    const changed = await world.call('PUT', path, { ...made.body, name: 'Warm', active: false });
    expect(changed.status).toBe(200);
    expect(changed.body).toEqual({
      ...made.body,
      name: 'Warm',
      active: false,
      version: 1,
      updated: anyTime,
    });
    const stale = await world.call('PUT', path, { ...made.body });
    expectRefusal(stale, 409, '40901_STALE_VERSION', { path });
    const gone = await world.call('DELETE', path);
    expect([gone.status, gone.body]).toEqual([204, '']);
    expect((await world.call('GET', path)).status).toBe(404);
  });

  test('the list is filtered by workspace, search, custom logic and, under that name too, inputs', async () => {
    const a = await world.must('POST', '/v3/rules', draft({ name: 'Alpha' }));
    const b = await world.must(
      'POST',
      '/v3/rules',
      draft({
        name: 'Beta',
        inputs: [{ id: tag.id, type: 'ASSET_TAG' }],
        logic: comparison(tag.id),
      }),
    );
    expect(b.inputs[0]).toMatchObject({ name: 'Roof', device: false, tag: true });
    const ids = async (query: string) =>
      (await world.must('GET', `/v3/rules?workspaceId=${world.workspaceId}&${query}`)).content.map(
        (rule: { id: string }) => rule.id,
      );
    expect(await ids('')).toEqual([a.id, b.id]);
    expect(await ids('search=alp')).toEqual([a.id]);
    expect(await ids(`customLogicBlockId=${encodeURIComponent(`[${tag.id}, x]`)}`)).toEqual([b.id]);
    expect(await ids(`customLogicBlockId=%5B${device.id}%5D`)).toEqual([a.id]);
    const elsewhereQuery = `/v3/rules?workspaceId=${otherWorkspaceId}`;
    expect((await world.must('GET', elsewhereQuery)).content).toEqual([]);
    const refused = await world.call('DELETE', `/v3/tags/${tag.id}`);
    expectRefusal(refused, 409, '40902_IN_USE', { path: `/v3/tags/${tag.id}` });
    expect(refused.body.message).toContain('rule Beta');
    for (const { id } of [a, b]) await world.must('DELETE', `/v3/rules/${id}`);
  });

  test('nextExecution is the next due time of a timer while the rule is active', async () => {
    const timer = { enabled: true, type: 'INTERVAL', schedule: 'PT1H' };
    const made = await world.must('POST', '/v3/rules', draft({ timer }));
    const next = Date.parse(made.nextExecution);
    expect(next % 3_600_000).toBe(0);
    expect(next - Date.now()).toBeGreaterThan(0);
    expect(next - Date.now()).toBeLessThanOrEqual(3_600_000);
    expect(made.inputs[0].trigger).toBe(false);
    const off = await world.must('PUT', `/v3/rules/${made.id}`, { ...made, active: false });
    expect(off.nextExecution).toBeNull();
    const again = await world.must('PUT', `/v3/rules/${made.id}`, { ...off, active: true });
    expect(again.nextExecution).not.toBeNull();
    await world.must('DELETE', `/v3/rules/${made.id}`);
  });

  const timers = [
    [
      { type: 'INTERVAL', schedule: 'PT1H', startAt: '2030-01-01T00:30:00Z' },
      '2030-01-01T01:00:00.000Z',
    ],
    [
      { type: 'INTERVAL', schedule: 'P1W', startAt: '2030-01-01T00:00:00Z' },
      '2030-01-07T00:00:00.000Z',
    ],
    [
      { type: 'FIXED', schedule: '08:15', startAt: '2030-06-30T12:00:00Z' },
      '2030-07-01T08:15:00.000Z',
    ],
    [
      {
        type: 'FIXED',
        schedule: '08:15',
        startAt: '2030-06-30T12:00:00Z',
        timeZone: 'Europe/Zurich',
      },
      '2030-07-01T06:15:00.000Z',
    ],
    [
      {
        type: 'ADVANCED',
        schedule: '0 30 9 ? * MON',
        startAt: '2030-01-01T00:00:00Z',
        timeZone: 'America/New_York',
      },
      '2030-01-07T14:30:00.000Z',
    ],
    [{ type: 'ADVANCED', schedule: '0 0 12 1 1 ? 2031' }, '2031-01-01T12:00:00.000Z'],
    [{ type: 'ADVANCED', schedule: '0 0 12 1 1 ? 2025' }, null],
  ] as const;

  test.each(timers)(
    'review behaviour 31: nextExecution of %j is %s, and null while nothing is due',
    async (of, due) => {
      const timer = { enabled: true, ...of };
      const made = await world.must('POST', '/v3/rules', draft({ timer }));
      const at = `/v3/rules/${made.id}`;
      const read = async () => (await world.must('GET', at)).nextExecution;
      const put = async (change: object) =>
        world.must('PUT', at, { ...(await world.must('GET', at)), ...change });
      expect([made.nextExecution, await read()]).toEqual([due, due]);
      expect((await put({ description: 'another' })).nextExecution).toBe(due);
      expect([(await put({ active: false })).nextExecution, await read()]).toEqual([null, null]);
      expect((await put({ active: true })).nextExecution).toBe(due);
      expect((await put({ timer: { ...timer, enabled: false } })).nextExecution).toBeNull();
      await world.must('DELETE', at);
    },
  );

  test.each(refused)('%s is refused with 400 and the field', async (_, body, message) => {
    const answer = await world.call('POST', '/v3/rules', body());
    expect(answer.body).toMatchObject({ status: 400, message: expect.stringMatching(message) });
  });

  test('what is of another workspace or organization cannot be named', async () => {
    const inSecond = await world.device({ workspaceId: otherWorkspaceId });
    const other = draft({
      inputs: [{ id: inSecond.id, type: 'DEVICE' }],
      logic: comparison(inSecond.id),
    });
    const answer = await world.call('POST', '/v3/rules', other);
    expectRefusal(answer, 400, '40010_UNKNOWN_REFERENCE', { path: '/v3/rules' });
    const foreign = { name: 'x', organizationId: elsewhere.organizationId, script: '' };
    expect((await world.call('POST', '/v3/rules/custom', foreign)).status).toBe(404);
  });

  test('a geofence is kept as it was sent', async () => {
    const made = await world.must('POST', '/v3/rules', draft({ logic: fence() }));
    expect(made.logic.geoFenceLogicBlock).toEqual({
      ...fence().geoFenceLogicBlock,
      insideActionIds: [],
      outsideActionIds: [],
    });
    await world.must('DELETE', `/v3/rules/${made.id}`);
  });
});
