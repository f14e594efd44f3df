// Dashboards in a configuration document: names and physical ids instead of ids, also in formulas and of dashboards that link to each other (contract 39).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyPermission } from '../../src/model/principal.ts';
import { besidesPlatform, makeKey } from '../world/restricted-keys.ts';
import { startWorld, type World } from '../world/world.ts';

// oxlint-disable-next-line typescript/no-explicit-any
type Body = any;

let world: World;
let path: string;
/** The physical ID. */
let meter: string;
/** A key without permission for dashboards. */
let otherKey: string;
let ids: Readonly<Record<string, string>>;
beforeAll(async () => {
  world = await startWorld();
  path = `/v3/workspaces/${world.workspaceId}/configuration`;
  const { dashboard: _, 'dashboard.group': __, ...permissions } = everyPermission;
  otherKey = await besidesPlatform(world, (records) => makeKey(records, world, { permissions }));
  const make = async (at: string, body: object): Promise<string> =>
    (await world.must('POST', at, { workspaceId: world.workspaceId, ...body })).id;
  const device = await world.device();
  const tag = await make('/v3/tags', { name: 'Meters' });
  const place = await make('/v3/places', { name: 'Campus' });
  const floor = await make('/v3/places', { name: 'Floor 1', parentId: place });
  const field = await make('/v3/custom-fields/meta', { name: 'Tenant', type: 'STRING' });
  const group = await make('/v3/dashboard-groups', { name: 'Energy' });
  const first = await make('/v3/dashboards', { name: 'First' });
  const second = await make('/v3/dashboards', {
    name: 'Second',
    groupId: group,
    configuration: {
      ...base,
      variables: [
        { name: 'meter', kind: 'DEVICE', tagId: tag, placeId: floor, default: device.id },
        { name: 'tenant', kind: 'CUSTOM_FIELD', fieldMetaId: field },
      ],
      tiles: [{ ...tile('t'), kind: 'links', links: [{ label: 'Back', dashboardId: first }] }],
    },
  });
  await world.must('PUT', `/v3/dashboards/${first}`, {
    name: 'First',
    configuration: {
      ...base,
      tiles: [
        {
          ...tile('line'),
          kind: 'line',
          series: [
            { deviceId: device.id, expression: `power - device("${device.id}", "power")` },
            { tagId: tag, dataKey: 'power' },
            { placeId: floor, dataKey: 'power' },
          ],
          link: { dashboardId: second, variables: { meter: [device.id], tenant: 'Meters' } },
        },
        {
          ...tile('control'),
          kind: 'control',
          deviceId: device.id,
          label: 'Reset',
          downlink: { deviceId: device.id },
        },
      ],
    },
  });
  await make('/v3/dashboards', { name: 'Of others', configuration: { deviceId: device.id } });
  meter = device.deviceId;
  ids = { device: device.id, tag, place, floor, field, group, first, second };
});
afterAll(() => world.close());

const base = { schema: 'heliograph-dashboard', version: 2 };
const tile = (id: string) => ({ id, x: 0, y: 0, width: 6, height: 4 });

async function dashboardsOf(workspaceId: string): Promise<Map<string, Body>> {
  const { content } = await world.must('GET', `/v3/dashboards?workspaceId=${workspaceId}`);
  return new Map(content.map((one: Body) => [one.name, one]));
}

test('dashboards have names', async () => {
  const document = await world.must('GET', path);
  expect(document.dashboardGroups).toEqual([{ name: 'Energy', description: null }]);
  const named = Object.fromEntries(document.dashboards.map((one: Body) => [one.name, one]));
  expect(named['First'].configuration.tiles).toMatchObject([
    {
      series: [
        { deviceId: meter, expression: `power - device("${meter}", "power")` },
        { tagId: 'Meters' },
        { placeId: 'Campus/Floor 1' },
      ],
      // Only what the variable of the other dashboard takes for an id is one.
      link: { dashboardId: 'Second', variables: { meter: [meter], tenant: 'Meters' } },
    },
    { deviceId: meter, downlink: { deviceId: ids['device'] } },
  ]);
  expect(named['Second']).toMatchObject({
    group: 'Energy',
    deviceType: null,
    configuration: {
      variables: [
        { tagId: 'Meters', placeId: 'Campus/Floor 1', default: meter },
        { fieldMetaId: 'Tenant' },
      ],
      tiles: [{ links: [{ dashboardId: 'First' }] }],
    },
  });
  // What another client keeps is its own.
  expect(named['Of others'].configuration).toEqual({ deviceId: ids['device'] });
});

test('the same document changes nothing, also with what was deleted since', async () => {
  const before = await dashboardsOf(world.workspaceId);
  const gone = await world.device();
  const { id } = await world.must('POST', '/v3/dashboards', {
    workspaceId: world.workspaceId,
    name: 'Gone',
    configuration: {
      ...base,
      tiles: [
        {
          ...tile('value'),
          kind: 'value',
          series: [{ deviceId: gone.id, dataKey: 'power' }],
          link: { dashboardId: `41${'0'.repeat(14)}` },
        },
      ],
    },
  });
  await world.must('DELETE', `/v3/devices/${gone.id}`);
  const document = await world.must('GET', path);
  expect(await world.must('PUT', path, document)).toMatchObject({
    created: 0,
    updated: 0,
    notes: [],
  });
  await world.must('DELETE', `/v3/dashboards/${id}`);
  expect(await dashboardsOf(world.workspaceId)).toEqual(before);
});

test('elsewhere they are created with the ids of there, once their devices exist', async () => {
  const document = await world.must('GET', path);
  const { organizationId } = world;
  const { id: other } = await world.must('POST', '/v3/workspaces', {
    organizationId,
    name: 'copy',
  });
  const there = `/v3/workspaces/${other}/configuration`;
  // The device ID is taken in the other workspace, so that the copy has another one.
  const renamed = JSON.parse(JSON.stringify(document).replaceAll(meter, 'meter-2'));
  const { notes } = await world.must('PUT', there, renamed);
  expect(notes).toEqual(
    expect.arrayContaining([
      'dashboards First: left out, the workspace has no device meter-2',
      'dashboards Second: left out, the workspace has no device meter-2',
    ]),
  );
  expect([...(await dashboardsOf(other)).keys()]).toEqual(['Of others']);
  const device = await world.device({ workspaceId: other });
  await world.must('PUT', `/v3/devices/${device.id}`, { name: 'meter', deviceId: 'meter-2' });
  expect(await world.must('PUT', there, renamed)).toMatchObject({
    created: 2,
    updated: 0,
    notes: [],
  });
  const made = await dashboardsOf(other);
  const { id: firstId, configuration: first } = made.get('First');
  const { id: secondId, configuration: second } = made.get('Second');
  const [line] = first.tiles;
  expect(line.series[0]).toEqual({
    deviceId: device.id,
    expression: `power - device("${device.id}", "power")`,
  });
  expect(line.link).toEqual({
    dashboardId: secondId,
    variables: { meter: [device.id], tenant: 'Meters' },
  });
  expect(second.tiles[0].links).toEqual([{ label: 'Back', dashboardId: firstId }]);
  expect(second.variables[0].default).toBe(device.id);
  for (const id of Object.values(ids).filter((one) => one !== ids['device']))
    expect(JSON.stringify([first, second])).not.toContain(id);
  expect(await world.must('PUT', there, renamed)).toMatchObject({ created: 0, updated: 0 });
});

test('a name that is not there and a configuration that cannot be drawn are refused', async () => {
  const document = await world.must('GET', path);
  const send = (configuration: object) =>
    world.call('PUT', path, {
      format: document.format,
      dashboards: [{ name: 'New', configuration: { ...base, ...configuration } }],
    });
  const series = (of: object) => ({
    tiles: [{ ...tile('t'), kind: 'value', series: [{ dataKey: 'power', ...of }] }],
  });
  expect(await send(series({ tagId: 'Nobody' }))).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('Nobody') },
  });
  expect(await send(series({ tagId: 'Meters', variable: 'none' }))).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('configuration.tiles.0') },
  });
  expect((await dashboardsOf(world.workspaceId)).has('New')).toBe(false);
});

test('formulas of rules name devices by physical id', async () => {
  const device = await world.device();
  const operandFirst = {
    type: 'EXPRESSION',
    dataSourceId: 's',
    expression: `power - device("${ids['device']}", "power")`,
  };
  const source = { dataTopic: 'default', dataKey: 'power', valueType: 'NUMERICAL' };
  const conditions = [
    { operandFirst, operator: 'GT', operandSecond: { type: 'CONSTANT', value: 3 } },
  ];
  await world.must('POST', '/v3/rules', {
    workspaceId: world.workspaceId,
    name: 'More than the other',
    inputs: [{ id: device.id, type: 'DEVICE' }],
    logic: {
      type: 'COMPARISON',
      dataSources: [{ ...source, id: 's', inputIds: [device.id] }],
      logicBlocks: [{ conditions, actionIds: [] }],
    },
  });
  const document = await world.must('GET', path);
  const [rule] = document.rules;
  expect(rule.logic.logicBlocks[0].conditions[0].operandFirst.expression).toBe(
    `power - device("${meter}", "power")`,
  );
  expect(await world.must('PUT', path, document)).toMatchObject({ created: 0, updated: 0 });
  const text = JSON.stringify({ ...document, rules: [{ ...rule, name: 'Again' }] });
  const elsewhere = JSON.parse(text.replaceAll(meter, 'nowhere'));
  expect((await world.must('PUT', path, elsewhere)).notes).toContain(
    'rules Again: left out, the workspace has no device nowhere',
  );
});

test('without permission for dashboards a document has none, and one with dashboards is refused', async () => {
  const call = (method: string, at: string, body?: unknown) =>
    world.call(method, at, body, { 'x-api-key': otherKey });
  const { body: document } = await call('GET', path);
  expect(document).not.toHaveProperty('dashboards');
  expect(document).not.toHaveProperty('dashboardGroups');
  expect(await call('PUT', path, document)).toMatchObject({ status: 200, body: { updated: 0 } });
  const dashboards = [{ name: 'New' }];
  expect(await call('PUT', path, { format: document.format, dashboards })).toMatchObject({
    status: 403,
  });
});
