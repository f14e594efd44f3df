// Contract 19 with 35: registering LoRa devices updates their network server through its API.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loraDevice } from '../world/lora-world.ts';
import { startNetworkServer } from '../world/network-server.ts';
import { startWorld, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ environment: { EGRESS_ALLOW: '127.0.0.0/8' } });
});
afterAll(() => world.close());

async function bulk(
  work: string,
  deviceId: string,
): Promise<{ succeeded: boolean; actions: { state: string }[] }> {
  const { id } = await world.must('POST', `/v3/devices/bulk/${work}`, {
    workspaceId: world.workspaceId,
    deviceIds: [deviceId],
  });
  for (;;) {
    const operation = await world.must('GET', `/v3/operations/${id}`);
    if (operation.completed !== null) return operation;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('ChirpStack: deregistering deletes the device there, registering makes it with its key; a refusal fails that device', async () => {
  const server = await startNetworkServer();
  const properties = {
    baseUrl: server.url,
    apiKey: 'k',
    applicationId: 'app',
    deviceProfileId: 'profile',
  };
  const loraProperties = {
    applicationKey: '00112233445566778899AABBCCDDEEFF',
    joinEui: '800000000000000C',
  };
  const device = await loraDevice(world, { type: 'CHIRP_STACK', properties, loraProperties });
  expect((await bulk('deregister', device.id)).succeeded).toBe(true);
  expect((await world.must('GET', `/v3/devices/${device.id}`)).onlineState).toBe('DE_REGISTERED');
  expect((await bulk('register', device.id)).succeeded).toBe(true);
  expect(server.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
    `DELETE /api/devices/${device.deviceEui}`,
    'POST /api/devices',
    `POST /api/devices/${device.deviceEui}/keys`,
  ]);
  expect(server.asked[1]!.body.device).toMatchObject({
    applicationId: 'app',
    deviceProfileId: 'profile',
  });
  expect(server.asked[2]!.body).toEqual({ deviceKeys: { nwkKey: loraProperties.applicationKey } });
  server.answer({ status: 403, body: { message: 'no right' } });
  expect(await bulk('deregister', device.id)).toMatchObject({
    succeeded: false,
    actions: [{ state: 'FAILED', data: { errorCode: '40971_NETWORK_SERVER_REFUSED' } }],
  });
  await server.close();
});

test('review behaviour 15: the answer to the deletion of a single device says what its network server did', async () => {
  const server = await startNetworkServer();
  const names = { applicationId: 'app', deviceProfileId: 'profile' };
  const properties = { baseUrl: server.url, apiKey: 'k', ...names };
  const removed = async (id: string) => {
    const { status, headers } = await world.call('DELETE', `/v3/devices/${id}`);
    return [status, headers.get('x-deregistered'), headers.get('x-deregistration-reason')];
  };
  const [one, other, alone] = [
    await loraDevice(world, { type: 'CHIRP_STACK', properties }),
    await loraDevice(world, { type: 'CHIRP_STACK', properties }),
    await loraDevice(world, { type: 'GENERIC_ACTILITY' }),
  ];
  expect(await removed(one.id)).toEqual([204, 'true', null]);
  server.answer({ status: 403, body: { message: 'no right für dich' } });
  expect(await removed(other.id)).toEqual([204, 'false', expect.stringContaining('no right')]);
  expect(await removed(alone.id)).toEqual([204, 'false', expect.any(String)]);
  expect(await removed((await world.device()).id)).toEqual([204, null, null]);
  for (const { id } of [one, other, alone])
    expect((await world.call('GET', `/v3/devices/${id}`)).status).toBe(404);
  await server.close();
});
