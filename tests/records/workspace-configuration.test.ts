// A workspace as one document: what is exported makes the same workspace elsewhere, and again changes nothing.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeDevice, type RecordsWorld, startRecordsWorld } from './records-world.ts';

let world: RecordsWorld;
let path: string;
beforeAll(async () => {
  world = await startRecordsWorld();
  const { admin, workspaceId, organizationId } = world;
  path = `/v3/workspaces/${workspaceId}/configuration`;
  await admin('PUT', `/v3/workspaces/${workspaceId}`, {
    settings: { timezone: 'Europe/Zurich' },
    properties: { a: 1 },
  });
  await admin('POST', '/v3/tags', { workspaceId, name: 'Roof', color: '#FF0000' });
  await admin('POST', '/v3/custom-fields/meta', {
    workspaceId,
    name: 'floor',
    type: 'STRING',
    selectOptions: ['1', '2'],
  });
  const type = await admin('POST', '/v3/device-types', {
    organizationId,
    name: 'T',
    uplinkScript: { code: 'x' },
    schemas: { default: {} },
  });
  const output = await admin('POST', '/v3/output-connectors', {
    workspaceId,
    name: 'Hook',
    type: 'WEBHOOK',
    webhookProperties: { uri: 'https://example.org', authType: 'BEARER', bearerToken: 'hush-hush' },
  });
  const { flow } = await makeDevice(admin, workspaceId, 'd');
  const outputConnectors = [
    { id: '0900000000000000', topic: '*' },
    { id: output.body.id, topic: 'alarm' },
  ];
  await admin('PUT', `/v3/data-flows/${flow.id}`, {
    deviceType: { id: type.body.id },
    outputConnectors,
  });
});
afterAll(async () => {
  expect(world.failures).toEqual([]);
  await world.close();
});

test('a document makes another workspace the same, and the same again changes nothing', async () => {
  const { admin, organizationId } = world;
  const { status, body: document } = await admin('GET', path);
  expect(status).toBe(200);
  expect(JSON.stringify(document)).not.toMatch(/hush-hush|uplinkSecret/);
  expect(document.dataFlows).toMatchObject([
    {
      deviceType: 'T',
      outputConnectors: [
        { name: expect.any(String), topic: '*' },
        { name: 'Hook', topic: 'alarm' },
      ],
    },
  ]);
  expect((await admin('PUT', path, document)).body).toEqual({
    created: 0,
    updated: 0,
    unchanged: 7,
    notes: [],
  });
  const other = (await admin('POST', '/v3/workspaces', { organizationId, name: 'copy' })).body.id;
  const there = `/v3/workspaces/${other}/configuration`;
  const first = await admin('PUT', there, document);
  // The device type belongs to the organization, so it is there already.
  expect(first.body).toMatchObject({
    created: 5,
    updated: 1,
    unchanged: 1,
    notes: [expect.stringContaining('Hook')],
  });
  expect((await admin('GET', there)).body).toEqual(document);
  expect((await admin('PUT', there, document)).body).toEqual({
    created: 0,
    updated: 0,
    unchanged: 7,
    notes: [],
  });
  document.tags[0].color = '#00FF00';
  expect((await admin('PUT', there, document)).body).toMatchObject({
    created: 0,
    updated: 1,
    unchanged: 6,
  });
});

test('a document that cannot be applied changes nothing', async () => {
  const before = (await world.admin('GET', path)).body;
  const { customFields, dataFlows } = before;
  const wrong = [
    { ...before, format: 'other' },
    { ...before, tags: [{ name: 'new' }], customFields: [{ ...customFields[0], type: 'NUMBER' }] },
    {
      ...before,
      tags: [{ name: 'new' }],
      dataFlows: [{ ...dataFlows[0], name: 'g', deviceConnector: 'none' }],
    },
    { ...before, deviceTypes: [{ name: 'unknown', library: true }] },
    { ...before, tags: [{ color: 'red' }] },
  ];
  for (const document of wrong) expect((await world.admin('PUT', path, document)).status).toBe(400);
  expect((await world.admin('GET', path)).body).toEqual(before);
});

test('a document takes the permissions of everything in it', async () => {
  const reader = await world.keyFor(world.organizationId, undefined, {
    workspace: ['read', 'update'],
    asset: ['read'],
  });
  expect((await reader('GET', path)).status).toBe(403);
  expect((await world.restricted('GET', path)).status).toBe(403);
  expect((await world.foreign('GET', path)).status).toBe(404);
});
