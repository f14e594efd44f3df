// Contract 35, LoRaWAN: integrations, and uplinks from webhooks of network servers.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRefusal, anyId, anyTime, anyUuid } from '../world/expectations.ts';
import { type LoraDevice, loraDevice } from '../world/lora-world.ts';
import { startWorld, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const uplink = (device: Pick<LoraDevice, 'deviceEui'>, more: object = {}) => ({
  end_device_ids: {
    device_id: 'thermo-1',
    application_ids: { application_id: 'building' },
    dev_eui: device.deviceEui.toUpperCase(),
    dev_addr: '260B1234',
  },
  received_at: '2026-03-01T09:59:58.200Z',
  uplink_message: {
    session_key_id: 'AYx2',
    f_port: 2,
    f_cnt: 7,
    frm_payload: 'AMg=',
    rx_metadata: [
      {
        gateway_ids: { gateway_id: 'far' },
        rssi: -110,
        snr: -3,
        location: { latitude: 1, longitude: 2 },
      },
      {
        gateway_ids: { gateway_id: 'near' },
        rssi: -60,
        snr: 9.5,
        location: { latitude: 47.1, longitude: 8.5 },
      },
    ],
    settings: {
      data_rate: { lora: { bandwidth: 125000, spreading_factor: 7 } },
      frequency: '868100000',
    },
    received_at: '2026-03-01T09:59:58.000Z',
    ...more,
  },
});

describe('contract 35: integrations', () => {
  test('creating one makes its LORA device connector; secrets are masked, and a mask keeps them', async () => {
    const made = await world.call('POST', '/v3/integrations', {
      name: 'Building',
      type: 'TTN',
      organizationId: world.organizationId,
      properties: {
        baseUrl: 'https://eu1.example.com/',
        apiKey: 'NNSXS.secret',
        applicationId: 'building',
      },
    });
    expect(made.status).toBe(201);
    const properties = {
      baseUrl: 'https://eu1.example.com',
      apiKey: '********',
      applicationId: 'building',
    };
    expect(made.body).toMatchObject({
      id: anyId('06'),
      name: 'Building',
      type: 'TTN',
      global: false,
      deleted: false,
      readOnly: false,
      provider: 'ttn',
      organizationId: world.organizationId,
      workspaceId: world.workspaceId,
      created: anyTime,
      updated: null,
      version: 0,
      properties,
      deviceConnector: {
        id: anyId('07'),
        name: 'Building',
        connectivity: 'LORA',
        carrier: 'TTN',
        provider: 'ttn',
        integrationId: made.body.id,
        integrationDeleted: false,
        authType: 'BASIC',
        decodingType: 'NONE',
        uplinkSecret: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
    });
    const path = `/v3/integrations/${made.body.id}`;
    const changed = await world.must('PUT', path, {
      properties: { ...properties, applicationId: 'other' },
    });
    expect(changed).toMatchObject({
      version: 1,
      properties: { apiKey: '********', applicationId: 'other' },
    });
    expect(await world.must('GET', path)).toEqual(changed);
    expect(
      (await world.must('GET', `/v3/integrations?workspaceId=${world.workspaceId}`)).content,
    ).toContainEqual(changed);
    const connectorPath = `/v3/device-connectors/${made.body.deviceConnector.id}`;
    expect((await world.call('DELETE', connectorPath)).body.errorCode).toBe('40902_IN_USE');
    expect((await world.call('DELETE', path)).status).toBe(204);
    expect((await world.call('GET', connectorPath)).status).toBe(404);
  });

  const refused: [string, object, RegExp][] = [
    ['an unknown type', { type: 'SATELLITE' }, /type/],
    [
      'a base URL that is none',
      { properties: { baseUrl: 'eu1' } },
      /baseUrl: must be an http or https URL/,
    ],
    ['a setting that is no text', { properties: { apiKey: { a: 1 } } }, /apiKey: must be a string/],
    [
      'a literal forbidden address',
      { properties: { baseUrl: 'http://127.0.0.1:9' } },
      /are blocked/,
    ],
  ];
  for (const [what, more, message] of refused) {
    test(`400: ${what}`, async () => {
      const answer = await world.call('POST', '/v3/integrations', {
        name: 'x',
        type: 'TTN',
        ...more,
      });
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(message)]);
    });
  }

  test('one that is used is not deleted, and the refusal names the users', async () => {
    const device = await loraDevice(world);
    const answer = await world.call('DELETE', `/v3/integrations/${device.integrationId}`);
    expect([answer.status, answer.body.message]).toEqual([
      409,
      expect.stringMatching(/data flow lora .*device lora /),
    ]);
  });

  test('its devices are LORA devices that carry it', async () => {
    const device = await loraDevice(world);
    expect(await world.must('GET', `/v3/devices/${device.id}`)).toMatchObject({
      connectivity: 'LORA',
      integrationId: device.integrationId,
      integration: {
        id: device.integrationId,
        type: 'TTN',
        global: false,
        deleted: false,
        readOnly: false,
      },
      registered: null,
    });
    const list = `/v3/assets?workspaceId=${world.workspaceId}&integrationId=${device.integrationId}`;
    expect((await world.must('GET', list)).content.map((one: { id: string }) => one.id)).toEqual([
      device.id,
    ]);
  });
});

describe('contract 35: uplinks by webhook', () => {
  test('decoders get port and payloadHex; radio metadata become uplink metrics, also for the script', async () => {
    const device = await loraDevice(world, {
      uplinkScript:
        'function consume(event) { emit("sample", { data: { ...event.data, metrics: event.uplinkMetrics } }); }',
    });
    const answer = await device.webhook(uplink(device));
    expect([answer.status, answer.body]).toEqual([
      201,
      { id: anyUuid, timestamp: anyTime, message: 'uplink received', stored: 1 },
    ]);
    const metrics = {
      uplinkSize: 2,
      port: 2,
      frameCountUp: 7,
      rssi: -60,
      snr: 9.5,
      sf: 7,
      numberOfGateways: 2,
      latitude: 47.1,
      longitude: 8.5,
      esp: -60.46,
    };
    const [sample] = await world.must('POST', `/v3/devices/${device.id}/query`, {
      topic: 'default',
    });
    expect(sample).toMatchObject({
      timestamp: '2026-03-01T09:59:58.000Z',
      data: { port: 2, payloadHex: '00c8', metrics },
    });
    expect((await world.must('GET', `/v3/devices/${device.id}`)).uplinkMetrics).toMatchObject(
      metrics,
    );
  });

  test('a frame that is sent again is stored once; the next counter is another frame', async () => {
    const device = await loraDevice(world);
    for (const f_cnt of [7, 7, 8]) {
      const message = { f_cnt, received_at: undefined };
      expect(
        (await device.webhook({ ...uplink(device, message), received_at: undefined })).status,
      ).toBe(201);
    }
    expect(await world.must('POST', `/v3/devices/${device.id}/query`, { topic: '*' })).toHaveLength(
      2,
    );
  });

  test('contract 27: the last uplinks and downlinks are its events, newest first', async () => {
    const device = await loraDevice(world);
    await device.webhook(uplink(device));
    await device.downlink({ raw: true, loraDownlink: { port: 9, payloadHex: '01' } });
    expect(await world.must('GET', `/v3/devices/${device.id}/events`)).toEqual([
      {
        id: anyId('72'),
        type: 'DOWNLINK',
        timestamp: anyTime,
        correlationId: anyUuid,
        payload: expect.objectContaining({ state: 'QUEUED', port: 9, payloadHex: '01' }),
      },
      {
        id: anyUuid,
        type: 'UPLINK',
        timestamp: anyTime,
        correlationId: anyUuid,
        payload: { port: 2, payloadHex: '00c8' },
      },
    ]);
  });

  test('joins are noted; frames without payload are noted; both store nothing', async () => {
    const device = await loraDevice(world);
    const { end_device_ids } = uplink(device);
    expect(
      (await device.webhook({ end_device_ids, join_accept: { session_key_id: 'a' } })).status,
    ).toBe(201);
    expect(
      (await device.webhook(uplink(device, { f_port: undefined, frm_payload: undefined }))).status,
    ).toBe(201);
    await expect
      .poll(() => device.notes())
      .toEqual([
        'The device joined the network',
        'Received a frame without an application payload',
      ]);
    expect(await world.must('POST', `/v3/devices/${device.id}/query`, { topic: '*' })).toEqual([]);
  });

  test('behaviour 15: MAC traffic is a sign of life, with its metrics, and is not decoded', async () => {
    const device = await loraDevice(world);
    const path = `/v3/devices/${device.id}`;
    expect(await world.must('GET', path)).toMatchObject({ registered: null, online: null });
    const registered = async () => {
      const filter = '&registered=true';
      const list = `/v3/assets?workspaceId=${world.workspaceId}&integrationId=${device.integrationId}`;
      return (await world.must('GET', list + filter)).content.length;
    };
    for (const frame of [{ f_port: 0 }, { f_port: undefined, f_cnt: 8 }, { f_port: 0, f_cnt: 8 }])
      expect((await device.webhook(uplink(device, frame))).status).toBe(201);
    expect(await world.must('GET', path)).toMatchObject({
      registered: true,
      online: true,
      onlineState: 'ONLINE',
      uplinkMetrics: { rssi: -60, snr: 9.5, sf: 7, frameCountUp: 8, numberOfGateways: 2 },
    });
    expect(await registered()).toBe(1);
    await expect
      .poll(() => device.notes())
      .toEqual([
        'A frame on port 0 was received: MAC traffic, not decoded',
        'A frame without a port was received: MAC traffic, not decoded',
      ]);
    expect(await world.must('POST', `${path}/query`, { topic: '*' })).toEqual([]);
  });

  test('behaviour 15: a frame with a port and without payload runs the decoder with empty bytes', async () => {
    const device = await loraDevice(world, {
      uplinkScript:
        'function decodeUplink(i) { return { data: { port: i.fPort, length: i.bytes.length } }; }',
    });
    const frame = { f_port: 3, frm_payload: undefined };
    expect((await device.webhook(uplink(device, frame))).status).toBe(201);
    const [sample] = await world.must('POST', `/v3/devices/${device.id}/query`, { topic: '*' });
    expect(sample.data).toEqual({ port: 3, length: 0 });
  });

  test('a foreign secret is a 403, a wrong one a 401, none a 401, an unknown device a 404, a device elsewhere a 403', async () => {
    const device = await loraDevice(world);
    const other = await loraDevice(world);
    const path = `/v3/capture/lora/${device.integrationId}`;
    const statusOf = async (tail: string, body: unknown) =>
      (await world.call('POST', path + tail, body)).status;
    expect(await statusOf(`?secret=${other.secret}`, uplink(device))).toBe(403);
    expect(await statusOf('?secret=wrong', uplink(device))).toBe(401);
    expect(await statusOf('', uplink(device))).toBe(401);
    expect((await device.webhook(uplink({ deviceEui: 'ffffffffffffffff' }))).status).toBe(404);
    expect((await device.webhook(uplink(other))).status).toBe(403);
  });

  const broken: [string, unknown, string][] = [
    [
      'no device',
      { uplink_message: {} },
      'body end_device_ids.dev_eui: is required to identify the device',
    ],
    [
      'no EUI',
      { end_device_ids: { dev_eui: 'zz' } },
      'body end_device_ids.dev_eui: must be an EUI (16 hexadecimal digits)',
    ],
  ];
  for (const [what, body, message] of broken) {
    test(`400 naming the field: ${what}`, async () => {
      const device = await loraDevice(world);
      const answer = await device.webhook(body);
      expectRefusal(answer, 400, '40070_WEBHOOK_INVALID', {
        path: `/v3/capture/lora/${device.integrationId}`,
        message,
      });
    });
  }
});

describe('contract 35 (a): HTTP connectors with a decoding type', () => {
  test('take the native webhook at /v3/capture, the device found by the EUI inside in any case', async () => {
    const connector = await world.must('POST', '/v3/device-connectors', {
      name: 'Stack',
      workspaceId: world.workspaceId,
      connectivity: 'HTTP',
      decodingType: 'CHIRP_STACK',
    });
    const flow = await world.must('POST', '/v3/data-flows', {
      name: 'Stack',
      workspaceId: world.workspaceId,
      deviceConnector: { id: connector.id },
      outputConnectors: [{ id: '0900000000000000', topic: '*' }],
    });
    const { id } = await world.must('POST', '/v3/devices', {
      name: 'Meter',
      deviceId: '0101010101ABCDEF',
      workspaceId: world.workspaceId,
      dataFlowId: flow.id,
    });
    const body = {
      deviceInfo: { devEui: '0101010101abcdef' },
      devAddr: '00189440',
      fCnt: 4,
      fPort: 88,
      data: 'AQI=',
    };
    const answer = await world.call(
      'POST',
      `/v3/capture?secret=${connector.uplinkSecret}&event=up`,
      body,
    );
    expect(answer.status).toBe(201);
    const [sample] = await world.must('POST', `/v3/devices/${id}/query`, { topic: 'default' });
    expect(sample.data).toEqual({ port: 88, payloadHex: '0102' });
  });
});
