// Interface 2.1 and contract 4: the device, every field present, null where unknown; create, read, change, delete.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anyId, anyTime, anyUuid, expectRefusal } from '../world/expectations.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let plain: TestDevice;
let tag: { id: string; name: string };

beforeAll(async () => {
  world = await startWorld();
  tag = await world.must('POST', '/v3/tags', { workspaceId: world.workspaceId, name: 'roof' });
  plain = await world.device({ name: 'plain', tags: [{ id: tag.id }] });
});
afterAll(() => world.close());

const draft = (deviceId: string, more: object = {}) => ({
  name: 'made',
  deviceId,
  workspaceId: world.workspaceId,
  dataFlowId: plain.dataFlowId,
  connectivity: 'HTTP',
  ...more,
});

function wholeDevice(known: object): object {
  return {
    id: anyId('02'),
    deviceId: expect.any(String),
    name: 'made',
    description: null,
    type: 'DEVICE',
    workspaceId: world.workspaceId,
    organizationId: world.organizationId,
    connectivity: 'HTTP',
    onlineTimeout: 86_400,
    online: null,
    onlineState: 'UNKNOWN',
    registered: null,
    properties: {},
    dataFlowId: plain.dataFlowId,
    dataFlow: {
      id: plain.dataFlowId,
      name: 'plain',
      deviceType: null,
      deviceConnector: {
        id: plain.connectorId,
        name: 'plain',
        authType: 'BASIC',
        decodingType: 'NONE',
      },
      workspaceId: world.workspaceId,
      organizationId: world.organizationId,
    },
    integration: null,
    integrationId: null,
    customFields: [],
    tags: [],
    placeId: null,
    place: null,
    planPosition: null,
    uplinkMetrics: null,
    loraProperties: null,
    excludeFromLifecycleReport: false,
    created: anyTime,
    updated: null,
    version: 0,
    ...known,
  };
}

describe('contract 4: the full device object, everywhere the same', () => {
  const lists: [string, () => Promise<unknown[]>][] = [
    ['GET /v3/devices/{id}', async () => [await world.must('GET', `/v3/devices/${plain.id}`)]],
    [
      'GET /v3/devices/by-device-id',
      async () => [await world.must('GET', `/v3/devices/by-device-id?deviceId=${plain.deviceId}`)],
    ],
    [
      'GET /v3/assets by workspace',
      async () =>
        (await world.must('GET', `/v3/assets?workspaceId=${world.workspaceId}&search=plain`))
          .content,
    ],
    [
      'GET /v3/assets by organization and type',
      async () =>
        (
          await world.must(
            'GET',
            `/v3/assets?organizationId=${world.organizationId}&type=DEVICE&search=PLAIN`,
          )
        ).content,
    ],
    [
      'POST /v3/assets/list by workspaces',
      async () =>
        (
          await world.must('POST', '/v3/assets/list', {
            workspaceIds: [world.workspaceId],
            search: 'plain',
          })
        ).content,
    ],
    [
      'POST /v3/assets/list by organization',
      async () =>
        (
          await world.must('POST', '/v3/assets/list?page=0&size=100&sort=name,asc', {
            organizationId: world.organizationId,
            search: 'plain',
          })
        ).content,
    ],
  ];
  for (const [what, read] of lists)
    test(what, async () => {
      const tags = [{ id: tag.id, name: 'roof', description: null }];
      expect(await read()).toEqual([
        wholeDevice({ id: plain.id, deviceId: plain.deviceId, name: 'plain', tags }),
      ]);
    });

  test('POST answers 201 with the device', async () => {
    const { status, body } = await world.call(
      'POST',
      '/v3/devices',
      draft('made-1', { description: 'on the roof' }),
    );
    expect(status).toBe(201);
    expect(body).toEqual(wholeDevice({ deviceId: 'made-1', description: 'on the roof' }));
  });

  test('uplinkMetrics: every member exists after a payload arrived', async () => {
    const device = await world.device({ name: 'metered' });
    const body = { port: 7, batteryLevel: 60, sqi: 3 };
    const receipt = (await world.capture(device, body)).body;
    const read = await world.must('GET', `/v3/devices/${device.id}`);
    expect(read).toMatchObject({ online: true, onlineState: 'ONLINE' });
    expect(read.uplinkMetrics).toEqual({
      id: device.id,
      uplinkId: receipt.id,
      deviceId: device.id,
      svcDeviceId: device.id,
      akenzaDeviceId: device.id,
      uplinkSize: JSON.stringify(body).length,
      timestamp: receipt.timestamp,
      latitude: null,
      longitude: null,
      locationRadius: null,
      port: 7,
      frameCountUp: null,
      frameCountDown: null,
      rssi: null,
      snr: null,
      sf: null,
      txPower: null,
      numberOfGateways: null,
      esp: null,
      sqi: 3,
      sqiTimestamp: anyTime,
      signalQuality: 'GOOD',
      batteryLevel: 60,
      batteryLevelStatus: 'MEDIUM',
      batteryTimestamp: anyTime,
    });
    expect(read.uplinkMetrics.uplinkId).toEqual(anyUuid);
  });

  test('LoRa properties: either spelling, every member present, properties and tags', async () => {
    const lora = {
      carrier: 'TTN',
      activationMode: 'OTAA',
      deviceClass: 'A',
      deviceEui: '0011223344556677',
    };
    for (const [key, deviceId] of [
      ['loRaProperties', 'lora-1'],
      ['loraProperties', 'lora-2'],
    ] as const) {
      const { body } = await world.call(
        'POST',
        '/v3/devices',
        draft(deviceId, { [key]: lora, timezoneOffset: 60 }),
      );
      expect(body.loraProperties).toEqual({
        ...lora,
        loraVersion: null,
        deviceAddress: null,
        applicationEui: null,
        joinEui: null,
        applicationKey: null,
        applicationSessionKey: null,
        networkSessionKey: null,
        forwardingNetworkSessionIntegrityKey: null,
        networkSessionEncryptionKey: null,
        servingNetworkSessionIntegrityKey: null,
        actilityProperties: null,
        ttnProperties: null,
      });
    }
  });
});

describe('contract 4: online states', () => {
  const state = async (device: TestDevice) => {
    const { online, onlineState } = await world.must('GET', `/v3/devices/${device.id}`);
    return { online, onlineState };
  };
  const found = async (query: string) =>
    (await world.must('GET', `/v3/assets?workspaceId=${world.workspaceId}&${query}`)).content.map(
      ({ name }: { name: string }) => name,
    );

  test('never an uplink: UNKNOWN and null', async () => {
    const device = await world.device({ name: 'silent' });
    expect(await state(device)).toEqual({ online: null, onlineState: 'UNKNOWN' });
    expect(await found('state=UNKNOWN')).toContain('silent');
    expect(await found('online=true')).not.toContain('silent');
    expect(await found('online=false')).not.toContain('silent');
  });

  test('last uplink younger than onlineTimeout: ONLINE and true', async () => {
    const device = await world.device({ name: 'talking' });
    await world.capture(device, { a: 1 });
    expect(await state(device)).toEqual({ online: true, onlineState: 'ONLINE' });
    expect(await found('online=true')).toContain('talking');
    expect(await found('state=ONLINE')).toContain('talking');
    expect(await found('state=OFFLINE')).not.toContain('talking');
  });
});

describe('contract 4: by-device-id', () => {
  test('404 when it does not exist', async () => {
    const refused = await world.call('GET', '/v3/devices/by-device-id?deviceId=nobody');
    expectRefusal(refused, 404, '40400_NOT_FOUND', { path: '/v3/devices/by-device-id' });
  });
  test('400 without the parameter', async () => {
    const refused = await world.call('GET', '/v3/devices/by-device-id');
    expectRefusal(refused, 400, '40001_INVALID_REQUEST', { path: '/v3/devices/by-device-id' });
  });
});

describe('contract 4: creating and changing', () => {
  test('contract 0.2: a used deviceId is 409 DEVICE_ID_NOT_UNIQUE and the text names it', async () => {
    const refused = await world.call('POST', '/v3/devices', draft(plain.deviceId));
    expectRefusal(refused, 409, '40900_DEVICE_ID_NOT_UNIQUE', {
      path: '/v3/devices',
      message: expect.stringContaining(plain.deviceId),
    });
    const other = await world.must('POST', '/v3/devices', draft('changes-id'));
    const change = await world.call('PUT', `/v3/devices/${other.id}`, {
      id: other.id,
      deviceId: plain.deviceId,
    });
    expectRefusal(change, 409, '40900_DEVICE_ID_NOT_UNIQUE', { path: `/v3/devices/${other.id}` });
  });

  for (const [missing, wanted] of [
    ['name', 400],
    ['deviceId', 400],
    ['dataFlowId', 400],
    ['workspaceId', 400],
    ['connectivity', 201],
    ['description', 201],
  ] as const)
    test(`without ${missing}: ${wanted}`, async () => {
      const body: Record<string, unknown> = draft(`without-${missing}`);
      delete body[missing];
      expect((await world.call('POST', '/v3/devices', body)).status).toBe(wanted);
    });

  test('optional members can be null, unknown ones are ignored', async () => {
    const nulls = {
      description: null,
      tags: null,
      customFields: null,
      properties: null,
      onlineTimeout: null,
    };
    const { status, body } = await world.call(
      'POST',
      '/v3/devices',
      draft('nulls', {
        ...nulls,
        loraProperties: null,
        loRaProperties: null,
        integrationId: null,
        unheardOf: 1,
      }),
    );
    expect(status).toBe(201);
    expect(body).toEqual(wholeDevice({ deviceId: 'nulls' }));
  });

  test('unknown data flow, tag, and custom field: 400 that names them; unknown workspace: 404', async () => {
    const path = '/v3/devices';
    for (const more of [
      { dataFlowId: '08nowhere' },
      { tags: [{ id: '71nowhere' }] },
      { integrationId: '06nowhere' },
    ]) {
      const refused = await world.call('POST', path, draft('unknown', more));
      expectRefusal(refused, 400, '40010_UNKNOWN_REFERENCE', {
        path,
        message: expect.stringContaining('nowhere'),
      });
    }
    const refused = await world.call('POST', path, draft('unknown', { workspaceId: '29nowhere' }));
    expectRefusal(refused, 404, '40400_NOT_FOUND', { path });
    expect((await world.call('GET', '/v3/devices/by-device-id?deviceId=unknown')).status).toBe(404);
  });

  test('PUT: the path id wins, what is not sent stays, version counts', async () => {
    const made = await world.must(
      'POST',
      '/v3/devices',
      draft('put-1', { description: 'first', tags: [tag] }),
    );
    const sent = {
      id: '02ffffffffffffff',
      name: 'renamed',
      deviceId: 'put-1b',
      onlineTimeout: 60,
      version: 0,
    };
    const { status, body } = await world.call('PUT', `/v3/devices/${made.id}`, sent);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...made,
      name: 'renamed',
      deviceId: 'put-1b',
      onlineTimeout: 60,
      updated: anyTime,
      version: 1,
    });
    expect(await world.must('GET', `/v3/devices/${made.id}`)).toEqual(body);
    const cleared = await world.must('PUT', `/v3/devices/${made.id}`, {
      name: 'renamed',
      description: null,
      tags: [],
    });
    expect(cleared).toMatchObject({ description: null, tags: [], version: 2 });
  });

  test('contract 35: a stale version is 409, without one it passes', async () => {
    const made = await world.must('POST', '/v3/devices', draft('stale'));
    const path = `/v3/devices/${made.id}`;
    await world.must('PUT', path, { name: 'second' });
    const refused = await world.call('PUT', path, { name: 'third', version: 0 });
    expectRefusal(refused, 409, '40901_STALE_VERSION', { path });
    expect(await world.must('GET', path)).toMatchObject({ name: 'second', version: 1 });
  });

  test('contract 0: a GET body sent back as PUT changes nothing but version and updated', async () => {
    const made = await world.must('GET', `/v3/devices/${plain.id}`);
    const { status, body } = await world.call('PUT', `/v3/devices/${plain.id}`, made);
    expect(status).toBe(200);
    expect(body).toEqual({ ...made, updated: anyTime, version: made.version + 1 });
  });

  test('DELETE: 204 with an empty body, then 404', async () => {
    const made = await world.must('POST', '/v3/devices', draft('deleted'));
    const path = `/v3/devices/${made.id}`;
    const { status, body } = await world.call('DELETE', path);
    expect({ status, body }).toEqual({ status: 204, body: '' });
    for (const method of ['GET', 'DELETE']) {
      expectRefusal(await world.call(method, path), 404, '40400_NOT_FOUND', { path });
    }
    expectRefusal(await world.call('PUT', path, { name: 'x' }), 404, '40400_NOT_FOUND', { path });
    await world.must('POST', '/v3/devices', draft('deleted'));
  });
});

describe('contract 4: asset lists need a place', () => {
  for (const [method, path, body] of [
    ['GET', '/v3/assets', undefined],
    ['POST', '/v3/assets/list', {}],
    ['POST', '/v3/assets/list', { workspaceIds: [] }],
  ] as const)
    test(`${method} ${path} ${JSON.stringify(body)} without organization and workspaces: 400`, async () => {
      const refused = await world.call(method, path, body);
      expectRefusal(refused, 400, '40001_INVALID_REQUEST', { path });
    });

  test('type SIM_CARD: an empty page; search finds name, deviceId and id in any case', async () => {
    const found = async (query: string) =>
      (await world.must('GET', `/v3/assets?workspaceId=${world.workspaceId}&${query}`))
        .totalElements;
    expect(await found('type=SIM_CARD')).toBe(0);
    expect(await found(`search=${plain.id.toUpperCase()}`)).toBe(1);
    expect(await found(`search=${plain.deviceId.toUpperCase()}`)).toBe(1);
    expect(await found(`search=${encodeURIComponent('%')}`)).toBe(0);
    expect(await found(`dataFlowId=${plain.dataFlowId}&search=plain`)).toBe(1);
    expect(await found('integrationId=06nowhere')).toBe(0);
  });
});
