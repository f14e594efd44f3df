// Records made with the fewest members have every member that strict clients need, in lists too (contract 36, 42).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { carrierOf, integrationTypes, vendorIntegrationTypes } from '../../src/model/connector.ts';
import { loraDevice } from '../world/lora-world.ts';
import { startWorld, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const vendor = { 'akenza-client': 'java/3' };

/** What one client of old refuses to read when it is null. */
const neededOfLora = ['carrier', 'activationMode', 'deviceClass', 'deviceEui', 'loraVersion'];
const neededOfActility = ['actilityId', 'connectivityPlanId', 'deviceProfileId', 'motionIndicator'];

const missing = (object: Record<string, unknown>, names: readonly string[]) =>
  names.filter((name) => object[name] === null || object[name] === undefined);

test.each(integrationTypes)('behaviour 23: a LoRa device of %s', async (type) => {
  const { id, deviceEui } = await loraDevice(world, { type });
  const path = `/v3/devices/${id}`;
  const device = await world.must('GET', path);
  expect(device.integration.type).toBe(type);
  expect(device.loraProperties).toMatchObject({
    activationMode: 'OTAA',
    deviceClass: 'A',
    loraVersion: '1.0.2',
    carrier: carrierOf(type),
    deviceEui: deviceEui.toUpperCase(),
  });
  if (device.loraProperties.actilityProperties !== null)
    expect(missing(device.loraProperties.actilityProperties, neededOfActility)).toEqual([]);

  const deviceId = deviceEui.toUpperCase();
  const list = `/v3/assets?workspaceId=${world.workspaceId}&search=${deviceId}`;
  const body = { organizationId: world.organizationId, search: deviceId };
  const asked = async (method: string, at: string, sent?: unknown) =>
    (await world.call(method, at, sent, vendor)).body;
  const seen = [
    await asked('GET', path),
    await asked('PUT', path, { description: 'changed' }),
    (await asked('GET', list)).content[0],
    (await asked('POST', '/v3/assets/list', body)).content[0],
  ];
  for (const { id: of, integration, loraProperties } of seen) {
    expect(of).toBe(id);
    if ((vendorIntegrationTypes as readonly string[]).includes(type))
      expect(integration.type).toBe(type);
    else expect(integration).toBeNull();
    if (carrierOf(type) === null) expect(loraProperties).toBeNull();
    else expect(missing(loraProperties, neededOfLora)).toEqual([]);
  }
});

test('behaviour 23: what was given to a LoRa device stays', async () => {
  const given = { activationMode: 'ABP', deviceClass: 'C', loraVersion: '1.1.0' };
  const actilityProperties = { connectivityPlanId: 'plan' };
  const { id } = await loraDevice(world, {
    type: 'GENERIC_ACTILITY',
    loraProperties: { ...given, actilityProperties },
  });
  const { loraProperties } = await world.must('GET', `/v3/devices/${id}`);
  expect(loraProperties).toMatchObject({ ...given, actilityProperties });
});
