// Contract 14: custom logic blocks as records, what an active rule fixes, and every reason to reject one.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anyId, anyTime, expectRefusal } from '../world/expectations.ts';
import { customLogic } from '../world/rule-logic.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let device: TestDevice;

beforeAll(async () => {
  world = await startWorld();
  device = await world.device({ name: 'Sensor' });
});
afterAll(() => world.close());

const property = {
  name: 'Limit',
  variableName: 'limit',
  defaultValue: '20',
  type: 'NUMERICAL',
  description: null,
};
const source = {
  name: 'Temperature',
  description: null,
  variableName: 'temperature',
  defaultTopic: 'default',
  defaultDataKey: 'temperature',
  lastSample: false,
  triggerOnUplink: true,
};

function blockDraft() {
  return {
    organizationId: world.organizationId,
    name: 'Block',
    script: 'a',
    dataSources: [source],
    properties: [property],
  };
}

function ruleWith(customLogicId: string) {
  return {
    name: 'Too warm',
    workspaceId: world.workspaceId,
    inputs: [{ id: device.id, name: 'x', type: 'DEVICE' }],
    logic: customLogic(device.id, customLogicId, [
      { name: 'Limit', variableName: 'limit', value: 21, type: 'NUMERICAL' },
    ]),
    actions: [],
  };
}

test('contract 14: a block is created, read, changed and deleted with every field', async () => {
  const { organizationId } = world;
  const made = await world.call('POST', '/v3/rules/custom', blockDraft());
  expect(made.status).toBe(201);
  expect(made.body).toEqual({
    ...blockDraft(),
    id: anyId('37'),
    customLogicId: made.body.id,
    description: null,
    version: 0,
    created: anyTime,
    updated: null,
    rules: [],
  });
  const path = `/v3/rules/custom/${made.body.id}`;
  const [item] = (
    await world.must('GET', `/v3/rules/custom?organizationId=${organizationId}&search=blo`)
  ).content;
  expect(item).toEqual(
    Object.fromEntries(Object.entries(made.body).filter(([key]) => key !== 'rules')),
  );
  expect((await world.must('PUT', path, { script: 'b' })).script).toBe('b');
  expect((await world.call('DELETE', path)).status).toBe(204);
});

test('contract 14: an active rule fixes the properties of its block, and names it', async () => {
  const made = await world.must('POST', '/v3/rules/custom', blockDraft());
  const path = `/v3/rules/custom/${made.id}`;
  const rule = await world.must('POST', '/v3/rules', ruleWith(made.id));
  expect(rule.logic.customLogic.name).toBe('Block');
  const { id, workspaceId, name } = rule;
  expect((await world.must('GET', path)).rules).toEqual([{ id, workspaceId, name, active: true }]);
  expect((await world.must('PUT', path, { script: 'b' })).script).toBe('b');
  const answer = await world.call('PUT', path, { properties: [] });
  expectRefusal(answer, 409, '40972_CUSTOM_LOGIC_IN_USE', { path });
  expectRefusal(await world.call('DELETE', path), 409, '40902_IN_USE', { path });
  await world.must('PUT', `/v3/rules/${rule.id}`, { active: false });
  expect((await world.must('PUT', path, { properties: [] })).properties).toEqual([]);
  await world.must('DELETE', `/v3/rules/${rule.id}`);
  expect((await world.call('DELETE', path)).status).toBe(204);
});

test.each([
  [{ dataSources: [{ variableName: 'a b' }] }, /dataSources\.0\.variableName/],
  [
    { properties: [1, 2].map(() => ({ variableName: 'a', type: 'STRING' })) },
    /properties\.1\.variableName: a is duplicated/,
  ],
  [
    { properties: [{ variableName: 'a', type: 'NUMERICAL', defaultValue: 'x' }] },
    /defaultValue: "x" is not of type NUMERICAL/,
  ],
])('contract 14: %o is refused with 400 and the field', async (more, message) => {
  const body = { organizationId: world.organizationId, name: 'x', script: '', ...more };
  const answer = await world.call('POST', '/v3/rules/custom', body);
  expect(answer.body).toMatchObject({
    status: 400,
    errorCode: '40076_RULE_INVALID',
    message: expect.stringMatching(message),
  });
});
