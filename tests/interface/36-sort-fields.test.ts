// Contract 36: sort fields of each list are in the OpenAPI document; others are rejected.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AccessWorld, startAccessWorld } from '../access/access-world.ts';
import type { World } from '../world/world.ts';

interface Parameter {
  readonly name: string;
  readonly description?: string;
}

let at: AccessWorld;
let world: World;
let ids: Record<string, string>;
let lists: [method: 'GET' | 'POST', path: string, fields: string[]][];

beforeAll(async () => {
  at = await startAccessWorld();
  ({ world } = at);
  const { workspaceId, organizationId } = world;
  const device = await world.device({ workspaceId });
  const connector = await world.must('POST', '/v3/output-connectors', {
    name: 'Hook',
    workspaceId,
    type: 'WEBHOOK',
    scope: 'RULE_ACTION',
    webhookProperties: { uri: 'https://example.com', method: 'POST' },
  });
  const rule = await world.must('POST', '/v3/rules', {
    name: 'Rule',
    workspaceId,
    inputs: [{ id: device.id, type: 'DEVICE' }],
    logic: {
      type: 'COMPARISON',
      dataSources: [
        {
          id: 's1',
          inputIds: [device.id],
          dataTopic: 'default',
          dataKey: 'n',
          valueType: 'NUMERICAL',
        },
      ],
      logicBlocks: [
        {
          conditions: [
            {
              operandFirst: { type: 'DATA_SOURCE', dataSourceId: 's1' },
              operator: 'GT',
              operandSecond: { type: 'CONSTANT', value: 20 },
            },
          ],
        },
      ],
    },
    actions: [{ id: connector.id }],
  });
  ids = {
    organizations: organizationId,
    workspaces: workspaceId,
    devices: device.id,
    'output-connectors': connector.id,
    'device-connectors': device.connectorId,
    rules: rule.id,
  };
  for (const n of [1, 2, 3]) await world.capture(device, { n });
  const { paths } = await world.must('GET', '/v3/openapi.json');
  lists = [];
  for (const [path, operations] of Object.entries<Record<string, { parameters?: Parameter[] }>>(
    paths,
  )) {
    for (const [method, { parameters }] of Object.entries(operations)) {
      const sort = parameters?.find(({ name }) => name === 'sort');
      if (sort === undefined) continue;
      const fields = /Fields: (.+)\.$/.exec(sort.description ?? '')?.[1]?.split(', ') ?? [];
      lists.push([method.toUpperCase() as 'GET' | 'POST', path, fields]);
    }
  }
});
afterAll(() => at.close());

// Some lists are only for sessions.
function asked(method: 'GET' | 'POST', path: string, sort: string) {
  const place = path.replace(/\/([a-z-]+)\/\{\w+\}/, (_, kind: string) => `/${kind}/${ids[kind]}`);
  const narrowed = `organizationId=${world.organizationId}&workspaceId=${world.workspaceId}&sort=${sort}`;
  return at.owner.call(
    method,
    `${place}?${narrowed}`,
    method === 'POST' ? { workspaceIds: [world.workspaceId] } : undefined,
  );
}

test('review behaviour 18: every list documents its sort fields and refuses others by naming the same', async () => {
  expect(lists.length).toBeGreaterThan(20);
  for (const [method, path, fields] of lists) {
    const refused = await asked(method, path, 'nonsense');
    expect([path, refused.status, refused.body.errorCode]).toEqual([
      path,
      400,
      '40037_UNKNOWN_SORT_FIELD',
    ]);
    const named: string[] =
      /Valid fields: (.+)\.$/.exec(refused.body.message)?.[1]?.split(', ') ?? [];
    expect([path, named.toSorted()]).toEqual([path, fields.toSorted()]);
    for (const field of fields) {
      const { status, body } = await asked(method, path, `${field},desc`);
      expect([path, field, status, body.sort?.sorted]).toEqual([path, field, 200, true]);
    }
  }
});

test('review behaviour 18: raw uplinks come oldest first when asked, page by page', async () => {
  const numbers = async (query: string) => {
    const { content } = await world.must('GET', `/v3/devices/${ids['devices']}/uplinks?${query}`);
    return content.map(({ payload }: { payload: { n: number } }) => payload.n);
  };
  expect(await numbers('sort=timestamp,desc')).toEqual([3, 2, 1]);
  expect(await numbers('sort=timestamp,asc')).toEqual([1, 2, 3]);
  expect(await numbers('sort=timestamp,asc&size=2')).toEqual([1, 2]);
  expect(await numbers('sort=timestamp,asc&size=2&page=1')).toEqual([3]);
  expect(await numbers('sort=timestamp,asc&size=2&page=2')).toEqual([]);
});
