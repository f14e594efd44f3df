// Target devices in a configuration document: physical ids, resolved on import, or omitted with a note.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeDevice, type RecordsWorld, startRecordsWorld } from './records-world.ts';

let world: RecordsWorld;
beforeAll(async () => {
  world = await startRecordsWorld();
});
afterAll(() => world.close());

test('review rules 5: a document names target devices by their physical ids, and a workspace takes in those it has', async () => {
  const { admin, workspaceId, organizationId } = world;
  const { device } = await makeDevice(admin, workspaceId, 'siren-1');
  const action = (name: string, more: object) =>
    admin('POST', '/v3/output-connectors', { workspaceId, name, scope: 'RULE_ACTION', ...more });
  const writes = { topic: 'made', targetDeviceId: device.id, useCurrentDevice: false };
  expect(
    (await action('Write', { type: 'CUSTOM_DATABASE', customDatabaseProperties: writes })).status,
  ).toBe(201);
  const path = `/v3/workspaces/${workspaceId}/configuration`;
  const { body: document } = await admin('GET', path);
  expect(document.outputConnectors).toMatchObject([
    { customDatabaseProperties: { targetDeviceId: 'siren-1' } },
  ]);
  expect(JSON.stringify(document)).not.toContain(device.id);
  expect((await admin('PUT', path, document)).body).toMatchObject({
    created: 0,
    updated: 0,
    notes: [],
  });
  const other = await admin('POST', '/v3/workspaces', { name: 'Other', organizationId });
  const elsewhere = `/v3/workspaces/${other.body.id}/configuration`;
  const told = await admin('PUT', elsewhere, document);
  expect(told).toMatchObject({
    status: 200,
    body: { notes: ['outputConnectors Write: left out, the workspace has no device siren-1'] },
  });
  await makeDevice(admin, other.body.id, 'siren-2');
  const text = JSON.stringify(document).replaceAll('siren-1', 'siren-2');
  expect((await admin('PUT', elsewhere, JSON.parse(text))).body).toMatchObject({ notes: [] });
  const { body: list } = await admin(
    'GET',
    `/v3/output-connectors?workspaceId=${other.body.id}&type=CUSTOM_DATABASE`,
  );
  expect(list.content[0].customDatabaseProperties.targetDeviceId).toMatch(/^02/);
});
