// Record types against their schemas: requests, answers, and records sent back as read.
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Body, makeDevice, type RecordsWorld, startRecordsWorld } from './records-world.ts';

let world: RecordsWorld;
let flow: Body;
let connector: Body;
beforeAll(async () => {
  world = await startRecordsWorld();
  ({ flow, connector } = await makeDevice(world.admin, world.workspaceId, 'rc-0'));
});
afterAll(async () => {
  expect(world.failures).toEqual([]);
  await world.close();
});

const schemaOf = (method: string, path: string, part: 'body' | 'response') =>
  world.routes.find((route) => route.method === method && route.path === path)?.[part] as TSchema;

function mustFit(method: string, path: string, part: 'body' | 'response', value: unknown): void {
  const schema = schemaOf(method, path, part);
  expect(schema, `${method} ${path} has no schema of its ${part}`).toBeDefined();
  expect([...Value.Errors(schema, value)], `${part} of ${method} ${path}`).toEqual([]);
}

type Draft = () => Record<string, unknown>;
const inWorkspace =
  (more: object = {}): Draft =>
  () => ({ workspaceId: world.workspaceId, name: 'R', ...more });
const inOrganization =
  (more: object = {}): Draft =>
  () => ({ organizationId: world.organizationId, name: 'R', ...more });

// The path, how its list is asked for, and a body that makes one.
const kinds: [string, 'workspace' | 'organization', Draft][] = [
  ['/v3/workspaces', 'organization', inOrganization()],
  ['/v3/tags', 'workspace', inWorkspace({ color: '#123456' })],
  ['/v3/custom-fields/meta', 'workspace', inWorkspace({ type: 'STRING', selectOptions: ['a'] })],
  [
    '/v3/device-types',
    'organization',
    inOrganization({ meta: { encoding: 'HEX' }, schemas: { default: {} } }),
  ],
  ['/v3/device-connectors', 'workspace', inWorkspace({ connectivity: 'MQTT' })],
  [
    '/v3/output-connectors',
    'workspace',
    inWorkspace({ type: 'WEBHOOK', webhookProperties: { uri: 'https://example.org' } }),
  ],
  [
    '/v3/data-flows',
    'workspace',
    () => ({ ...inWorkspace()(), deviceConnector: { id: connector.id } }),
  ],
  ['/v3/dashboard-groups', 'workspace', inWorkspace()],
  ['/v3/dashboards', 'workspace', inWorkspace({ configuration: { a: 1 } })],
  [
    '/v3/devices',
    'workspace',
    () => ({ ...inWorkspace()(), deviceId: 'rc-1', dataFlowId: flow.id }),
  ],
];

describe.each(kinds)('%s', (path, scope, draftOf) => {
  let made: Body;

  test('what is sent and what is answered fit their schemas', async () => {
    const draft = draftOf();
    mustFit('POST', path, 'body', draft);
    const { status, body } = await world.admin('POST', path, draft);
    expect(status).toBe(201);
    made = body;
    mustFit('POST', path, 'response', made);
    const read = await world.admin('GET', `${path}/${made.id}`);
    mustFit('GET', `${path}/:id`, 'response', read.body);
    expect(read.body).toEqual(made);
    const id = scope === 'workspace' ? world.workspaceId : world.organizationId;
    const listPath = path === '/v3/devices' ? '/v3/assets' : path;
    const list = await world.admin('GET', `${listPath}?${scope}Id=${id}`);
    expect(list.body.content.map((item: Body) => item.id)).toContain(made.id);
    mustFit('GET', listPath, 'response', list.body);
  });

  test('every member is always there: an answer without one of them would not fit', () => {
    const schema = schemaOf('GET', `${path}/:id`, 'response');
    const { required } = schema as unknown as { required: string[] };
    expect(Object.keys(made).sort()).toEqual([...required].sort());
    for (const name of Object.keys(made)) {
      const { [name]: _, ...without } = made;
      expect(Value.Check(schema, without), `without ${name}`).toBe(false);
    }
  });

  test('what was read can be sent back, and only the version moves', async () => {
    mustFit('PUT', `${path}/:id`, 'body', made);
    const { status, body } = await world.admin('PUT', `${path}/${made.id}`, made);
    expect([status, body.message]).toEqual([200, undefined]);
    mustFit('PUT', `${path}/:id`, 'response', body);
    const { version: before, updated: _, ...was } = made;
    const { version: after, updated, ...is } = body;
    expect(is).toEqual(was);
    expect(updated).not.toBeNull();
    if (before !== undefined) expect(after).toBe(before + 1);
  });

  test.each([
    ['a number for a name', { name: 1 }],
    ['an empty name', { name: '' }],
    ['no name', { name: undefined }],
    ['a name too long', { name: 'x'.repeat(501) }],
    ['a list as description', { description: [] }],
  ])('%s is a 400 and does not fit the schema', async (_, wrong) => {
    const { name, description, ...rest } = draftOf();
    const draft = JSON.parse(JSON.stringify({ name, description, ...rest, ...wrong }));
    // Output connectors have no description.
    if ('description' in wrong && path === '/v3/output-connectors') return;
    expect(Value.Check(schemaOf('POST', path, 'body'), draft)).toBe(false);
    expect((await world.admin('POST', path, draft)).status).toBe(400);
  });
});
