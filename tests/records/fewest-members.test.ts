// Records made with the fewest members answer as their schemas say, to old clients too (contract 36, 42).
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RecordsWorld, startRecordsWorld } from './records-world.ts';

let world: RecordsWorld;

beforeAll(async () => {
  world = await startRecordsWorld();
});
afterAll(async () => {
  expect(world.failures).toEqual([]);
  await world.close();
});

const vendor = { 'akenza-client': 'test' };

const drafts: [string, string, (world: RecordsWorld) => object][] = [
  ['tag', '/v3/tags', ({ workspaceId }) => ({ workspaceId, name: 'few' })],
  ['device type', '/v3/device-types', ({ organizationId }) => ({ organizationId, name: 'few' })],
  ...['HTTP', 'MQTT', 'COAP'].map((connectivity): (typeof drafts)[number] => [
    `device connector ${connectivity}`,
    '/v3/device-connectors',
    ({ workspaceId }) => ({ workspaceId, name: 'few', connectivity }),
  ]),
  ['dashboard', '/v3/dashboards', ({ workspaceId }) => ({ workspaceId, name: 'few' })],
  [
    'custom field',
    '/v3/custom-fields/meta',
    ({ workspaceId }) => ({ workspaceId, name: 'few', type: 'STRING' }),
  ],
];

test.each(drafts)('behaviour 23: a %s with the fewest members', async (_, path, draft) => {
  const made = await world.admin('POST', path, draft(world));
  expect([made.status, made.body.message]).toEqual([201, undefined]);
  for (const headers of [{}, vendor]) {
    const read = await world.admin('GET', `${path}/${made.body.id}`, undefined, headers);
    const route = world.routes.find(
      (known) => known.method === 'GET' && known.path === `${path}/:id`,
    )!;
    expect([...Value.Errors(route.response as TSchema, read.body)]).toEqual([]);
  }
});
