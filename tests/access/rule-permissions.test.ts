// Contract 36: rules ask for what they read and use, besides `rule` itself.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Permissions } from '../../src/model/principal.ts';
import { besidesPlatform, makeKey } from '../world/restricted-keys.ts';
import { startWorld, type World } from '../world/world.ts';

let world: World;
const keys = new Map<string, string>();
const grants: Readonly<Record<string, Permissions>> = {
  rule: { rule: ['create', 'read', 'update'] },
  'rule, asset': { rule: ['create', 'read', 'update'], asset: ['read'] },
  'rule, asset, dataFlow': {
    rule: ['create', 'read', 'update'],
    asset: ['read'],
    dataFlow: ['read'],
  },
  'rule, asset, new outputs': {
    rule: ['create', 'read', 'update'],
    asset: ['read'],
    dataFlow: ['read', 'create'],
  },
};
beforeAll(async () => {
  world = await startWorld();
  await besidesPlatform(world, async (records) => {
    for (const [name, permissions] of Object.entries(grants)) {
      keys.set(name, await makeKey(records, world, { permissions }));
    }
  });
});
afterAll(() => world.close());

test('review security 8: making, changing, trying and reading rules', async () => {
  const { must, workspaceId } = world;
  const device = await world.device();
  const action = await must('POST', '/v3/output-connectors', {
    name: 'Action',
    workspaceId,
    type: 'CUSTOM_DATABASE',
    scope: 'RULE_ACTION',
    customDatabaseProperties: { topic: 'x', useCurrentDevice: true },
  });
  const alarmProperties = { name: 'x', severity: 'MAJOR' };
  const dataSource = {
    id: 's',
    inputIds: [device.id],
    dataTopic: 'default',
    dataKey: 't',
    valueType: 'NUMERICAL',
  };
  const operandSecond = { type: 'CONSTANT', value: 1 };
  const conditions = [
    { operandFirst: { type: 'DATA_SOURCE', dataSourceId: 's' }, operator: 'GT', operandSecond },
  ];
  const plain = {
    name: 'Rule',
    workspaceId,
    inputs: [{ id: device.id, type: 'DEVICE' }],
    logic: { type: 'COMPARISON', dataSources: [dataSource], logicBlocks: [{ conditions }] },
  };
  const acting = { ...plain, actions: [{ id: action.id }] };
  const outputConnector = { name: 'New', type: 'ALARM', alarmProperties };
  const making = { ...plain, actions: [{ outputConnector }] };
  const { id } = await must('POST', '/v3/rules', plain);
  const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
  const requests = [
    ['POST', '/v3/rules', plain, [403, 201, 201, 201]],
    ['POST', '/v3/rules', acting, [403, 403, 201, 201]],
    ['POST', '/v3/rules', making, [403, 403, 403, 201]],
    ['PUT', `/v3/rules/${id}`, making, [403, 403, 403, 200]],
    ['POST', '/v3/rules/simulate', { rule: making, ...range }, [403, 403, 403, 200]],
    ['PUT', `/v3/rules/${id}`, { name: 'Other', active: true }, [200, 200, 200, 200]],
    ['PUT', `/v3/rules/${id}`, plain, [403, 200, 200, 200]],
    ['PUT', `/v3/rules/${id}`, acting, [403, 403, 200, 200]],
    ['GET', `/v3/rules/${id}/runs`, undefined, [403, 200, 200, 200]],
    ['POST', `/v3/rules/${id}/simulate`, range, [403, 200, 200, 200]],
  ] as const;
  for (const [method, path, body, wanted] of requests) {
    const statuses: number[] = [];
    for (const name of Object.keys(grants)) {
      const { status } = await world.call(method, path, body, { 'x-api-key': keys.get(name)! });
      statuses.push(status);
    }
    expect([method, path, statuses]).toEqual([method, path, wanted]);
  }
});
