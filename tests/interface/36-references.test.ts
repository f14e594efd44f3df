// Contract 36: invalid references of a record are rejected at creation.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { databaseConnectorId } from '../../src/model/ids.ts';
import { besidesPlatform, makeOrganization } from '../world/restricted-keys.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let own: TestDevice;
let other: TestDevice;
beforeAll(async () => {
  world = await startWorld();
  await besidesPlatform(world, (records) => makeOrganization(records));
  own = await world.device();
  const { organizationId } = world;
  const { id } = await world.must('POST', '/v3/workspaces', { name: 'Other', organizationId });
  other = await world.device({ workspaceId: id });
});
afterAll(() => world.close());

const action = (more: object) =>
  world.call('POST', '/v3/output-connectors', {
    name: 'Action',
    workspaceId: world.workspaceId,
    scope: 'RULE_ACTION',
    ...more,
  });
const writing = (targetDeviceId: string) =>
  action({
    type: 'CUSTOM_DATABASE',
    customDatabaseProperties: { topic: 'made', targetDeviceId, useCurrentDevice: false },
  });
const commanding = (targetDeviceId: string) =>
  action({
    type: 'DOWNLINK',
    downlinkProperties: { downlinkPayload: {}, targetDeviceIds: [targetDeviceId] },
  });

test('review security 16: target devices are of the workspace; elsewhere and nowhere read the same', async () => {
  for (const make of [writing, commanding]) {
    const nowhere = own.id.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const refusals: string[] = [];
    for (const id of [other.id, nowhere]) {
      const answer = await make(id);
      expect(answer.status).toBe(400);
      refusals.push(String(answer.body.message).replaceAll(id, 'ID'));
    }
    expect(refusals[0]).toBe(refusals[1]);
    expect((await make(own.id)).status).toBe(201);
  }
});

test('review behaviour 27: a downlink is an action of rules, and has properties', async () => {
  const downlinkProperties = { downlinkPayload: {} };
  expect((await action({ type: 'DOWNLINK', scope: 'DATA_FLOW', downlinkProperties })).status).toBe(
    400,
  );
  for (const [lacking, named] of [
    [{}, 'body downlinkProperties: is required'],
    [{ downlinkProperties: {} }, 'body downlinkProperties.downlinkPayload: is required'],
    [{ downlinkProperties: { port: 2 }, useCustomPayload: true }, 'customPayload'],
  ] as const) {
    const { status, body } = await action({ type: 'DOWNLINK', ...lacking });
    expect([status, body.message]).toEqual([400, expect.stringContaining(named)]);
  }
  const custom = { downlinkProperties: {}, useCustomPayload: true, customPayload: '{"on":true}' };
  expect((await action({ type: 'DOWNLINK', ...custom })).status).toBe(201);
  expect((await action({ type: 'DOWNLINK', downlinkProperties })).status).toBe(201);
});

test('review behaviour 27: topics of outputs, logins of connectors', async () => {
  const { call, workspaceId } = world;
  const flow = (topic: string) =>
    call('POST', '/v3/data-flows', {
      name: 'Flow',
      workspaceId,
      deviceConnector: { id: own.connectorId },
      outputConnectors: [{ id: databaseConnectorId, topic }],
    });
  const connector = (connectivity: string) =>
    call('POST', '/v3/device-connectors', {
      name: 'C',
      workspaceId,
      connectivity,
      authType: 'DEVICE_CREDENTIALS',
    });
  const statuses = [
    await flow('bad topic!'),
    await flow('good.topic'),
    await connector('HTTP'),
    await connector('MQTT'),
  ].map(({ status }) => status);
  expect(statuses).toEqual([400, 201, 400, 201]);
});
