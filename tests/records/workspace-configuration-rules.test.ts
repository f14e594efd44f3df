// Rules in a configuration document: names instead of ids, devices by physical id, or omitted with a note.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Body, makeDevice, type RecordsWorld, startRecordsWorld } from './records-world.ts';

let world: RecordsWorld;
let path: string;
let deviceId: string;
beforeAll(async () => {
  world = await startRecordsWorld();
  const { admin, workspaceId, organizationId } = world;
  path = `/v3/workspaces/${workspaceId}/configuration`;
  const make = async (at: string, body: object): Promise<string> => {
    const answer = await admin('POST', at, { workspaceId, ...body });
    expect(answer).toMatchObject({ status: 201 });
    return answer.body.id;
  };
  const roof = await make('/v3/tags', { name: 'Roof' });
  const hall = await make('/v3/tags', { name: 'Hall, north' });
  const hook = {
    type: 'WEBHOOK',
    scope: 'RULE_ACTION',
    webhookProperties: { uri: 'https://example.org' },
  };
  const action = await make('/v3/output-connectors', {
    name: 'Alarm',
    sendConsecutiveAlerts: false,
    ...hook,
  });
  deviceId = (await makeDevice(admin, workspaceId, 'sensor-1')).device.id;
  const block = await make('/v3/rules/custom', {
    workspaceId: undefined,
    organizationId,
    name: 'Average',
    script: 'function consume(event) {}',
    dataSources: [{ variableName: 'a' }],
    properties: [{ variableName: 'n', type: 'NUMERICAL', defaultValue: '3' }],
  });
  await make('/v3/rules/custom', {
    workspaceId: undefined,
    organizationId,
    name: 'Unused',
    script: 'x',
  });
  const source = { dataTopic: 'default', dataKey: 't', valueType: 'NUMERICAL' };
  const operandFirst = { type: 'DATA_SOURCE', dataSourceId: 's' };
  const conditions = [
    { operandFirst, operator: 'GT', operandSecond: { type: 'CONSTANT', value: 30 } },
  ];
  await make('/v3/rules', {
    name: 'Too warm',
    inputs: [{ id: deviceId, type: 'DEVICE' }],
    logic: {
      type: 'COMPARISON',
      dataSources: [{ ...source, id: 's', inputIds: [deviceId] }],
      logicBlocks: [{ conditions, actionIds: [action] }],
    },
    actions: [{ id: action }],
  });
  await make('/v3/rules', {
    name: 'Mean',
    active: false,
    timer: { enabled: false, type: 'FIXED', schedule: '06:30', timeZone: 'Europe/Zurich' },
    inputs: [
      { id: roof, type: 'ASSET_TAG' },
      { id: 'both', name: 'both', type: 'TAG_COMBINATION', tagCombination: `AND:${roof},${hall}` },
    ],
    logic: {
      type: 'CUSTOM_LOGIC',
      dataSources: [{ ...source, id: 's', inputIds: [roof, 'both'], variableName: 'a' }],
      customLogic: {
        customLogicId: block,
        actionIds: [action],
        properties: [{ variableName: 'n', value: 5, type: 'NUMERICAL' }],
      },
    },
    actions: [{ id: action, configuration: { a: 1 } }],
  });
  await make('/v3/rules', fence(roof, action));
});
afterAll(async () => {
  expect(world.failures).toEqual([]);
  await world.close();
});

function fence(tag: string, action: string) {
  const ring = [0, 0, 1, 0, 1, 1, 0, 0];
  const coordinates = [[0, 2, 4, 6].map((at) => [ring[at], ring[at + 1]])];
  const feature = { type: 'Feature', properties: {}, geometry: { type: 'Polygon', coordinates } };
  return {
    name: 'Left the yard',
    inputs: [{ id: tag, type: 'ASSET_TAG' }],
    logic: {
      type: 'GEO_FENCE',
      dataSources: ['latitude', 'longitude'].map((variableName) => ({
        id: variableName,
        variableName,
        inputIds: [tag],
        dataTopic: 'gps',
        dataKey: variableName,
        valueType: 'NUMERICAL',
      })),
      geoFenceLogicBlock: {
        geoJson: { type: 'FeatureCollection', features: [feature] },
        outsideActionIds: [action],
      },
    },
    actions: [{ id: action }],
  };
}

async function documentNow(at = path): Promise<Body> {
  const { status, body } = await world.admin('GET', at);
  expect(status).toBe(200);
  return body;
}

/** What of the rules of a workspace is left when ids and times are taken away. */
async function rulesOf(workspaceId: string): Promise<Body[]> {
  const { body } = await world.admin('GET', `/v3/rules?workspaceId=${workspaceId}`);
  return body.content;
}

test('rules have names, without ids, and the custom logic that they use', async () => {
  const document = await documentNow();
  expect(document.customLogic.map(({ name }: Body) => name)).toEqual(['Average']);
  const [fenced, mean, warm] = document.rules;
  expect(fenced).toMatchObject({
    name: 'Left the yard',
    inputs: [{ type: 'ASSET_TAG', tag: 'Roof' }],
  });
  expect(mean).toMatchObject({
    name: 'Mean',
    active: false,
    timer: { enabled: false, schedule: '06:30', timeZone: 'Europe/Zurich' },
    inputs: [
      { id: '1', type: 'ASSET_TAG', tag: 'Roof' },
      { id: '2', type: 'TAG_COMBINATION', tagCombination: 'AND', tags: ['Roof', 'Hall, north'] },
    ],
    logic: {
      dataSources: [{ inputIds: ['1', '2'] }],
      customLogic: {
        customLogicId: 'Average',
        actionIds: ['Alarm'],
        properties: [{ variableName: 'n', value: 5 }],
      },
    },
    actions: [{ name: 'Alarm', configuration: { a: 1 } }],
  });
  expect(warm).toMatchObject({
    inputs: [{ id: '1', type: 'DEVICE', deviceId: 'sensor-1' }],
    logic: { logicBlocks: [{ actionIds: ['Alarm'] }] },
  });
  const ids = (await rulesOf(world.workspaceId)).flatMap(({ id, inputs, actions }) => [
    id,
    ...[...inputs, ...actions].map((of: Body) => of.id).filter((of: string) => of.length === 16),
  ]);
  for (const id of ids) expect(JSON.stringify(document)).not.toContain(id);
});

test('the same document changes nothing, not even a version', async () => {
  const before = await rulesOf(world.workspaceId);
  const { status, body } = await world.admin('PUT', path, await documentNow());
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { created: 0, updated: 0, notes: [] },
  });
  expect(await rulesOf(world.workspaceId)).toEqual(before);
});

test('elsewhere rules are created; those with unknown devices wait with a note', async () => {
  const { admin, organizationId, workspaceId } = world;
  const document = await documentNow();
  const other = (await admin('POST', '/v3/workspaces', { organizationId, name: 'copy' })).body.id;
  const there = `/v3/workspaces/${other}/configuration`;
  const note = 'rules Too warm: left out, the workspace has no device sensor-1';
  expect((await admin('PUT', there, document)).body.notes).toContain(note);
  expect((await rulesOf(other)).map(({ name }) => name)).toEqual(['Left the yard', 'Mean']);
  expect((await documentNow(there)).rules).toEqual(document.rules.slice(0, 2));
  const again = await admin('PUT', there, document);
  expect(again.body).toMatchObject({ created: 0, updated: 0, notes: [note] });
  // The references are those of the other workspace.
  const own = await rulesOf(workspaceId);
  const [, mean] = await rulesOf(other);
  expect(mean.actions[0].id).not.toBe(own[1].actions[0].id);
  expect(mean.inputs[0].id).not.toBe(own[1].inputs[0].id);
  expect(mean.logic.customLogic.customLogicId).toBe(own[1].logic.customLogic.customLogicId);
  document.rules[2].inputs[0].deviceId = 'sensor-2';
  const { device } = await makeDevice(admin, other, 'sensor-2');
  expect((await admin('PUT', there, document)).body).toMatchObject({
    created: 1,
    updated: 0,
    notes: [],
  });
  expect((await rulesOf(other))[2]).toMatchObject({
    name: 'Too warm',
    inputs: [{ id: device.id }],
  });
});

test('a document that says only a part of a rule changes that part', async () => {
  const document = await documentNow();
  const [, , warm] = document.rules;
  const { name, inputs, logic } = warm;
  const colder = structuredClone(logic);
  colder.logicBlocks[0].conditions[0].operandSecond.value = 25;
  const rules = [{ name, inputs, logic: colder }];
  const sent = { format: document.format, rules };
  expect((await world.admin('PUT', path, sent)).body).toMatchObject({
    created: 0,
    updated: 1,
    unchanged: 0,
  });
  expect((await documentNow()).rules).toEqual([
    ...document.rules.slice(0, 2),
    { ...warm, logic: colder },
  ]);
});

test('names that are not there are refused, and then nothing was changed', async () => {
  const document = await documentNow();
  const [fenced, mean] = document.rules;
  const wrong = [
    { ...fenced, inputs: [{ id: '1', type: 'ASSET_TAG', tag: 'Cellar' }] },
    { ...fenced, inputs: [{ ...fenced.inputs[0], id: '7' }] },
    { ...fenced, actions: [{ name: 'Siren' }] },
    { ...mean, logic: { ...mean.logic, customLogic: { customLogicId: 'Median', actionIds: [] } } },
    { ...mean, inputs: [mean.inputs[0], { ...mean.inputs[1], tags: [] }] },
  ];
  for (const rule of wrong) {
    const answer = await world.admin('PUT', path, {
      ...document,
      tags: [{ name: 'new' }],
      rules: [rule],
    });
    expect({ rule, status: answer.status }).toEqual({ rule, status: 400 });
  }
  expect(await documentNow()).toEqual(document);
});

test('a document takes the permissions of rules too', async () => {
  const permissions = {
    workspace: ['read'],
    asset: ['read'],
    deviceType: ['read'],
    dataFlow: ['read'],
  } as const;
  const reader = await world.keyFor(world.organizationId, undefined, permissions);
  expect((await reader('GET', path)).status).toBe(403);
  const rules = { ...permissions, rule: ['read'], customLogic: ['read'] } as const;
  const entitled = await world.keyFor(world.organizationId, undefined, rules);
  expect((await entitled('GET', path)).status).toBe(200);
});

test('contract 38: a rule of silence keeps its block in another workspace', async () => {
  const { admin, organizationId, workspaceId } = world;
  const { tags, outputConnectors } = await documentNow();
  expect([tags.length, outputConnectors.length]).not.toContain(0);
  const rule = {
    name: 'Zero uplinks',
    inputs: [{ id: '1', type: 'ASSET_TAG', tag: 'Roof' }],
    logic: {
      type: 'SILENCE',
      dataSources: [],
      silenceLogicBlock: { after: 'PT30M', mode: 'ALL', actionIds: ['Alarm'] },
    },
    actions: [{ name: 'Alarm' }],
  };
  const { format } = await documentNow();
  expect((await admin('PUT', path, { format, rules: [rule] })).body).toMatchObject({ created: 1 });
  expect((await rulesOf(workspaceId)).at(-1)).toMatchObject({
    logic: { silenceLogicBlock: { after: 'PT30M', mode: 'ALL' } },
  });
  const other = (await admin('POST', '/v3/workspaces', { organizationId, name: 'quiet' })).body.id;
  const there = `/v3/workspaces/${other}/configuration`;
  const document = await documentNow();
  expect((await admin('PUT', there, document)).status).toBe(200);
  expect((await documentNow(there)).rules.at(-1)).toEqual(document.rules.at(-1));
  expect(document.rules.at(-1).logic.silenceLogicBlock.actionIds).toEqual(['Alarm']);
});
