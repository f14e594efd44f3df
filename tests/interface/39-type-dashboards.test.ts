// Contract 39: the dashboard of a device type, stored or generated, and of a device without one.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AccessWorld, actingBy, startAccessWorld } from '../access/access-world.ts';

let at: AccessWorld;
let workspaceId: string;

beforeAll(async () => {
  at = await startAccessWorld();
  ({ workspaceId } = at.world);
});

afterAll(() => at.world.close());

const schemas = {
  default: {
    type: 'object',
    properties: {
      temperature: { type: 'number', unit: '°C', title: 'Temperature' },
      door: { type: 'boolean' },
    },
  },
};
const kinds = ({ configuration }: { configuration: { tiles: { kind: string }[] } }) =>
  configuration.tiles.map(({ kind }) => kind);

test('a type shows a generated dashboard until one is stored, and so do its devices', async () => {
  const { owner, world } = at;
  const { id: deviceId, deviceTypeId } = await world.device({ script: 'function consume() {}' });
  await owner.must('PUT', `/v3/device-types/${deviceTypeId}`, { schemas });
  const path = `/v3/device-types/${deviceTypeId}/dashboard?workspaceId=${workspaceId}`;
  const generated = await owner.must('GET', path);
  expect(generated).toMatchObject({
    source: 'GENERATED',
    dashboard: null,
    configuration: {
      schema: 'heliograph-dashboard',
      version: 2,
      variables: [{ name: 'device', kind: 'DEVICE', deviceTypeId }],
    },
  });
  expect(kinds(generated)).toEqual(['value', 'line', 'timeline', 'alarms']);
  expect(await owner.must('GET', `/v3/devices/${deviceId}/dashboard`)).toEqual(generated);
  const stored = await owner.must('POST', '/v3/dashboards', {
    workspaceId,
    name: 'Rooms',
    deviceTypeId,
    configuration: generated.configuration,
  });
  const shown = { source: 'STORED', dashboard: stored, configuration: generated.configuration };
  expect(await owner.must('GET', path)).toEqual(shown);
  expect(await owner.must('GET', `/v3/devices/${deviceId}/dashboard`)).toEqual(shown);
  const elsewhere = path.replace(workspaceId, at.secondWorkspaceId);
  expect((await owner.must('GET', elsewhere)).source).toBe('GENERATED');
});

test('a device whose type declares nothing shows what it has sent', async () => {
  const { owner, world } = at;
  const device = await world.device();
  await owner.must('POST', '/v3/samples/bulk', [
    { deviceId: device.id, timestamp: '2026-03-01T10:00:00Z', data: { level: 3, open: true } },
  ]);
  const shown = await owner.must('GET', `/v3/devices/${device.id}/dashboard`);
  expect(shown.source).toBe('INFERRED');
  expect(kinds(shown)).toEqual(['value', 'line', 'timeline', 'alarms']);
});

test('it needs dashboards and devices of the workspace, and a type of the organization', async () => {
  const { owner, otherOwner, world } = at;
  const { id, deviceTypeId } = await world.device({ script: 'function consume() {}' });
  const paths = [
    `/v3/devices/${id}/dashboard`,
    `/v3/device-types/${deviceTypeId}/dashboard?workspaceId=${workspaceId}`,
  ];
  for (const permissions of [{ dashboard: ['read'] }, { asset: ['read'] }]) {
    const { secret } = await owner.must('POST', '/v3/api-keys', {
      name: 'Half',
      organizationId: world.organizationId,
      permissions,
    });
    const half = actingBy(at.base, { 'x-api-key': secret });
    for (const path of paths) expect((await half.call('GET', path)).status).toBe(403);
  }
  for (const path of paths) expect((await otherOwner.call('GET', path)).status).not.toBe(200);
  const foreign = `/v3/device-types/${deviceTypeId}/dashboard?workspaceId=${at.otherWorkspaceId}`;
  expect((await otherOwner.call('GET', foreign)).status).toBe(404);
  expect((await owner.call('GET', '/v3/devices/none/dashboard')).status).toBe(404);
});
