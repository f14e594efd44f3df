// Contract 38: everything that asks more of the data is in the document of a workspace, and comes out of it the same elsewhere.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let room: TestDevice;
let building: TestDevice;
let document: Document;

type Item = Readonly<Record<string, unknown>> & { readonly name: string };
type Document = Readonly<Record<string, readonly Item[]>>;

const configurationOf = (workspaceId: string): Promise<Document> =>
  world.must('GET', `/v3/workspaces/${workspaceId}/configuration`);

beforeAll(async () => {
  world = await startWorld();
  const { workspaceId } = world;
  await world.must('PUT', `/v3/workspaces/${workspaceId}`, {
    settings: { implausibleTimes: 'RECEIPT' },
  });
  const rooms = await world.must('POST', '/v3/tags', { workspaceId, name: 'Rooms' });
  room = await world.device({ name: 'room', tags: [{ id: rooms.id }], schemas: {} });
  building = await world.device({ name: 'building' });
  await world.must('PUT', `/v3/device-types/${room.deviceTypeId}`, {
    ...{ name: 'Meter', meta: { encoding: 'BYTES' } },
    calculatedKeys: [
      { key: 'dewPoint', topic: 'default', expression: 'dewPoint(t, rh)', unit: '°C' },
      { key: 'hourly', topic: 'default', expression: 'avgOver(t, "PT1H")', title: 'Hourly mean' },
    ],
  });
  await world.must('POST', '/v3/device-connectors', {
    ...{ workspaceId, name: 'Texts', connectivity: 'MQTT', encoding: 'TEXT' },
  });
  const alarm = await world.must('POST', '/v3/output-connectors', {
    ...{ workspaceId, name: 'Cold room', type: 'ALARM', scope: 'RULE_ACTION' },
    alarmProperties: { name: 'Too warm', severity: 'MAJOR', remindEvery: 'PT1H' },
  });
  const operand = (expression: string) => ({ type: 'EXPRESSION', dataSourceId: 's', expression });
  const limit = (value: number) => ({ type: 'CONSTANT', value });
  await world.must('POST', '/v3/rules', {
    ...{ workspaceId, name: 'Cold rooms', inputs: [{ id: rooms.id, type: 'ASSET_TAG' }] },
    logic: {
      type: 'COMPARISON',
      dataSources: [
        {
          ...{ id: 's', inputIds: [rooms.id], dataTopic: 'default', dataKey: 't' },
          valueType: 'NUMERICAL',
        },
      ],
      logicBlocks: [
        {
          conditions: [
            {
              operandFirst: operand(`avgOver(t, "PT10M") - device("${building.id}", "t")`),
              operator: 'GT',
              operandSecond: limit(8),
            },
          ],
          clearConditions: [
            { operandFirst: operand('t'), operator: 'LT', operandSecond: limit(6) },
          ],
          ...{ holdsFor: 'PT15M', clearsFor: 'PT5M', actionIds: [alarm.id] },
        },
      ],
    },
    actions: [{ id: alarm.id }],
  });
  await world.must('POST', '/v3/rules', {
    ...{ workspaceId, name: 'Silent rooms', inputs: [{ id: rooms.id, type: 'ASSET_TAG' }] },
    logic: {
      type: 'SILENCE',
      dataSources: [],
      silenceLogicBlock: { after: 'PT30M', mode: 'ALL', actionIds: [alarm.id] },
    },
    actions: [{ id: alarm.id }],
  });
  await world.must('POST', '/v3/calculations', {
    ...{ workspaceId, name: 'Building', tagId: rooms.id, topic: 'default', period: 'PT15M' },
    ...{ timeZone: 'Europe/Zurich', target: { deviceId: building.id, topic: 'group' } },
    outputs: [
      { key: 'mean', each: { accumulator: 'TIME_WEIGHTED_AVG', dataKey: 't' }, across: 'AVG' },
      { key: 'worst', each: { accumulator: 'MAX', expression: 't - 20' }, across: 'MAX' },
      { key: 'reporting', count: 'REPORTING' },
      { key: 'rooms', count: 'TOTAL' },
      { key: 'share', expression: 'reporting / rooms' },
    ],
  });
  await world.must('POST', '/v3/dashboards', {
    ...{ workspaceId, name: 'Rooms' },
    configuration: {
      ...{ schema: 'heliograph-dashboard', version: 2 },
      tiles: [
        {
          ...{ id: 'a', kind: 'line', x: 0, y: 0, width: 6, height: 4 },
          series: [
            { deviceId: room.id, dataKey: 't', expected: 'LOW' },
            { deviceId: room.id, expression: 't * 9 / 5 + 32', accumulator: 'P95' },
            {
              ...{ deviceId: room.id, dataKey: 'door', accumulator: 'TIME_IN_STATE' },
              ...{ state: 'open', maxGap: 'PT1H' },
            },
            { deviceId: room.id, dataKey: 'energy', accumulator: 'RATE', per: 'PT1H' },
            { tagId: rooms.id, dataKey: 'energy', across: 'SUM', ref: 'total' },
          ],
        },
      ],
    },
  });
  document = await configurationOf(workspaceId);
});
afterAll(() => world.close());

/** Each record with what the document must say of it. */
const rows: readonly (readonly [section: string, name: string, wanted: object])[] = [
  ['deviceTypes', 'Meter', { meta: { encoding: 'BYTES' } }],
  [
    'deviceTypes',
    'Meter',
    {
      calculatedKeys: [
        { key: 'dewPoint', expression: 'dewPoint(t, rh)', unit: '°C' },
        { key: 'hourly', expression: 'avgOver(t, "PT1H")', title: 'Hourly mean' },
      ],
    },
  ],
  ['deviceConnectors', 'Texts', { encoding: 'TEXT' }],
  ['outputConnectors', 'Cold room', { alarmProperties: { remindEvery: 'PT1H' } }],
  [
    'rules',
    'Cold rooms',
    {
      logic: {
        logicBlocks: [
          {
            conditions: [
              {
                operandFirst: { expression: expect.stringMatching(/device\("physical-\d+-build/) },
              },
            ],
            clearConditions: [{ operandFirst: { type: 'EXPRESSION', expression: 't' } }],
            ...{ holdsFor: 'PT15M', clearsFor: 'PT5M', actionIds: ['Cold room'] },
          },
        ],
      },
    },
  ],
  [
    'rules',
    'Silent rooms',
    { logic: { type: 'SILENCE', silenceLogicBlock: { after: 'PT30M', mode: 'ALL' } } },
  ],
  [
    'calculations',
    'Building',
    {
      ...{ tag: 'Rooms', period: 'PT15M', timeZone: 'Europe/Zurich' },
      target: { deviceId: expect.stringMatching(/^physical-\d+-building$/), topic: 'group' },
      outputs: [
        { key: 'mean', each: { accumulator: 'TIME_WEIGHTED_AVG' }, across: 'AVG' },
        { key: 'worst', each: { expression: 't - 20' } },
        { key: 'reporting', count: 'REPORTING' },
        { key: 'rooms', count: 'TOTAL' },
        { key: 'share', expression: 'reporting / rooms' },
      ],
    },
  ],
  [
    'dashboards',
    'Rooms',
    {
      configuration: {
        tiles: [
          {
            series: [
              { dataKey: 't', expected: 'LOW' },
              { expression: 't * 9 / 5 + 32', accumulator: 'P95' },
              { accumulator: 'TIME_IN_STATE', state: 'open', maxGap: 'PT1H' },
              { accumulator: 'RATE', per: 'PT1H' },
              { tagId: 'Rooms', dataKey: 'energy', across: 'SUM', ref: 'total' },
            ],
          },
        ],
      },
    },
  ],
];

test.each(rows)('the document has %s %s', (section, name, wanted) => {
  expect(document[section]?.find((item) => item.name === name)).toMatchObject(wanted);
});

test('the document has the settings of the workspace, and no ids of its devices', () => {
  expect(document['workspace']).toMatchObject({ settings: { implausibleTimes: 'RECEIPT' } });
  for (const { id } of [room, building]) expect(JSON.stringify(document)).not.toContain(id);
});

test('another workspace is made the same, and the same again changes nothing', async () => {
  const { organizationId } = world;
  // Types are of the organization: under other names they are made.
  const text = JSON.stringify(document).replaceAll('"Meter"', '"Meter 2"');
  const wanted = JSON.parse(text.replaceAll(/physical-\d+-(room|building)/g, 'other-$1'));
  const { id } = await world.must('POST', '/v3/workspaces', { organizationId, name: 'Copy' });
  const path = `/v3/workspaces/${id}/configuration`;
  // Devices are not in documents: a first pass makes the flows that they need.
  await world.must('PUT', path, { ...wanted, rules: [], calculations: [], dashboards: [] });
  const flows = (await world.must('GET', `/v3/data-flows?workspaceId=${id}`)).content;
  for (const name of ['room', 'building']) {
    const flow = flows.find((one: Item) => one.name === name);
    const made = { workspaceId: id, name, deviceId: `other-${name}`, dataFlowId: flow.id };
    await world.must('POST', '/v3/devices', made);
  }
  const report = await world.must('PUT', path, wanted);
  expect(report.notes).toEqual([]);
  expect(report.created).toBe(4);
  const copy = await configurationOf(id);
  const sections = [...new Set(rows.map(([section]) => section))];
  for (const section of sections) {
    const ours = (items: readonly Item[] = []) =>
      items.filter(({ name }) => rows.some(([, of]) => of === name || `${of} 2` === name));
    expect(ours(copy[section]).filter(({ name }) => name !== 'Meter')).toEqual(
      ours(wanted[section]).filter(({ name }) => name !== 'Meter'),
    );
  }
  expect(copy['workspace']).toMatchObject({ settings: { implausibleTimes: 'RECEIPT' } });
  const again = await world.must('PUT', path, wanted);
  expect(again).toMatchObject({ created: 0, updated: 0, notes: [] });
});
