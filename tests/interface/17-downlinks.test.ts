// Contract 17 and 35: downlinks, from the command through encoder, queue and network server to the acknowledgement.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { anyId, anyTime, expectRefusal, pageEnvelope } from '../world/expectations.ts';
import { loraDevice, type LoraOptions } from '../world/lora-world.ts';
import { startNetworkServer, type TestNetworkServer } from '../world/network-server.ts';
import { startWorld, type World } from '../world/world.ts';

let world: World;
let server: TestNetworkServer;
beforeAll(async () => {
  world = await startWorld({ environment: { EGRESS_ALLOW: '127.0.0.0/8' } });
});
afterAll(() => world.close());
beforeEach(async () => {
  server = await startNetworkServer();
});
afterEach(() => server.close());

const account = () => ({ baseUrl: server.url, apiKey: 'key', applicationId: 'app' });
const onTtn = (more: LoraOptions = {}) =>
  loraDevice(world, { type: 'TTN', properties: account(), ...more });
const raw = (payloadHex: string, more: object = {}) => ({
  raw: true,
  loraDownlink: { port: 3, payloadHex, ...more },
});
const states = (list: { state: string }[]) => list.map(({ state }) => state);

/** Once the queue has done what it could: what a webhook reports comes behind it. */
async function until<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('contract 17: the command', () => {
  test('a raw LoRa downlink is answered 204 and handed to the network server; it is listed', async () => {
    const device = await onTtn();
    const answer = await device.downlink(raw('0A0b', { confirmed: true }));
    expect([answer.status, answer.body]).toEqual([204, '']);
    await server.askedTimes(1);
    const [downlink] = await until(device.downlinks, ([one]) => one.state === 'SENT');
    expect(downlink).toEqual({
      id: anyId('72'),
      created: anyTime,
      updated: anyTime,
      state: 'SENT',
      port: 3,
      confirmed: true,
      payloadHex: '0A0b',
      topic: null,
      payload: null,
      error: null,
    });
    expect(server.asked).toEqual([
      expect.objectContaining({
        method: 'POST',
        path: `/api/v3/as/applications/app/devices/eui-${device.deviceEui}/down/push`,
        headers: expect.objectContaining({ authorization: 'Bearer key' }),
        body: {
          downlinks: [
            {
              frm_payload: 'Cgs=',
              f_port: 3,
              confirmed: true,
              priority: 'NORMAL',
              correlation_ids: [`heliograph:downlink:${downlink.id}`],
            },
          ],
        },
      }),
    ]);
    const notes = await until(device.notes, (list) => list.length === 2);
    expect(notes).toEqual([
      `Downlink ${downlink.id} is queued`,
      `Downlink ${downlink.id} was sent`,
    ]);
    const page = await world.must('GET', `/v3/devices/${device.id}/downlinks`);
    expect(page).toEqual(pageEnvelope({ content: [downlink], on: 1, total: 1, sorted: false }));
  });

  test('not raw: the encoder of the device type makes the downlinks, several of one command in their order', async () => {
    const downlinkScript = `function consume(event) {
      emit('downlink', { payloadHex: event.payload.on ? '01' : '00', port: 10 });
      emit('downlink', { payloadHex: 'ff', confirmed: true });
    }`;
    const device = await onTtn({ downlinkScript });
    expect(
      (await device.downlink({ loraDownlink: { port: 7, payload: { on: true } } })).status,
    ).toBe(204);
    await server.askedTimes(2);
    const sent = server.asked.map(({ body }) => [
      body.downlinks[0].f_port,
      body.downlinks[0].frm_payload,
      body.downlinks[0].confirmed,
    ]);
    expect(sent).toEqual([
      [10, 'AQ==', false],
      [7, '/w==', true],
    ]);
  });

  test('review behaviour 8: an encoder gets only the fields of the caller; defaults are applied after it', async () => {
    const downlinkScript = `function consume(event) {
      emit('downlink', { payloadHex: '0' + ['port', 'confirmed'].filter((name) => name in event).length, port: event.port || 42 });
      emit('downlink', { payloadHex: 'ff' });
    }`;
    const device = await onTtn({ downlinkScript });
    await device.downlink({ loraDownlink: { payload: {} } });
    await device.downlink({ loraDownlink: { payload: {}, port: 9, confirmed: true } });
    await server.askedTimes(4);
    const sent = server.asked.map(({ body }) => body.downlinks[0]);
    expect(
      sent.map(({ f_port, confirmed, frm_payload }) => [f_port, confirmed, frm_payload]),
    ).toEqual([
      [42, false, 'AA=='],
      [1, false, '/w=='],
      [9, true, 'Ag=='],
      [9, true, '/w=='],
    ]);
  });

  test('review behaviour 32: downlinks learn from uplinks what The Things Stack names the device', async () => {
    const device = await onTtn();
    const uplink = {
      end_device_ids: { device_id: 'cellar-7', dev_eui: device.deviceEui },
      uplink_message: { f_port: 1, f_cnt: 1, frm_payload: 'AQ==', session_key_id: 's' },
    };
    // At the webhook's own path, and where The Things Stack's console puts the secret (review
    // behaviour 16).
    expect((await device.webhook(uplink)).status).toBe(201);
    const again = { ...uplink, uplink_message: { ...uplink.uplink_message, f_cnt: 2 } };
    expect((await world.call('POST', `/v3/capture?secret=${device.secret}`, again)).status).toBe(
      201,
    );
    expect(await world.must('POST', `/v3/devices/${device.id}/query`, {})).toHaveLength(2);
    await device.downlink({ loraDownlink: { payloadHex: '01' } });
    await server.askedTimes(1);
    expect(server.asked[0]!.path ?? server.asked[0]!).toEqual(
      expect.stringContaining('/devices/cellar-7/down/push'),
    );
  });

  test('not raw without an encoder: payloadHex is sent as it is, port 1, unconfirmed', async () => {
    const device = await onTtn();
    await device.downlink({ loraDownlink: { payloadHex: 'c0ffee' } });
    await server.askedTimes(1);
    expect(server.asked[0]!.body.downlinks[0]).toMatchObject({
      f_port: 1,
      confirmed: false,
      frm_payload: 'wP/u',
    });
  });

  const refused: [string, object, RegExp][] = [
    ['neither kind of downlink', {}, /^body loraDownlink: is required/],
    [
      'that of another transport',
      { mqttDownlink: { topic: 'a', payload: {} } },
      /^body loraDownlink: is required/,
    ],
    ['no payload', { loraDownlink: { port: 1 } }, /payloadHex: is required unless payload is set/],
    [
      'a payload object without encoder',
      { loraDownlink: { payload: { a: 1 } } },
      /has no downlink encoder/,
    ],
    [
      'a payload object sent raw',
      { raw: true, loraDownlink: { payload: { a: 1 } } },
      /is required when raw/,
    ],
    ['odd digits', raw('abc'), /must be hexadecimal/],
    ['too many bytes', raw('00'.repeat(243)), /at most 242 bytes/],
    ['port 0', raw('00', { port: 0 }), /from 1 to 223/],
    ['port 224', raw('00', { port: 224 }), /from 1 to 223/],
  ];
  for (const [what, body, message] of refused) {
    test(`400: ${what}`, async () => {
      const device = await onTtn();
      const answer = await device.downlink(body);
      expectRefusal(answer, 400, '40072_DOWNLINK_INVALID', {
        path: `/v3/devices/${device.id}/downlink`,
        message: expect.stringMatching(message),
      });
      expect(await device.downlinks()).toEqual([]);
    });
  }

  test('an encoder that fails: 400 with its message, and nothing is queued', async () => {
    const device = await onTtn({
      downlinkScript: 'function consume() { throw new Error("no such mode"); }',
    });
    const answer = await device.downlink({ loraDownlink: { payload: { mode: 9 } } });
    expect([answer.status, answer.body.errorCode]).toEqual([400, '40073_DOWNLINK_NOT_ENCODED']);
    expect(answer.body.message).toMatch(/no such mode/);
    expect(await device.downlinks()).toEqual([]);
  });

  test('HTTP devices take none: 400', async () => {
    const { id } = await world.device();
    const answer = await world.call('POST', `/v3/devices/${id}/downlink`, raw('00'));
    expectRefusal(answer, 400, '40071_DOWNLINK_NOT_SUPPORTED', {
      path: `/v3/devices/${id}/downlink`,
    });
  });

  test('the same Idempotency-Key queues it once; with another body it is a 422', async () => {
    const device = await onTtn();
    const send = (hex: string) => {
      const path = `/v3/devices/${device.id}/downlink`;
      return world.call('POST', path, raw(hex), { 'idempotency-key': device.id });
    };
    expect([
      (await send('01')).status,
      (await send('01')).status,
      (await send('02')).status,
    ]).toEqual([204, 204, 422]);
    expect(await device.downlinks()).toHaveLength(1);
  });
});

describe('contract 35: the queue', () => {
  test('without a reachable network server downlinks stay QUEUED and say why; an account lets them go, in order', async () => {
    const device = await loraDevice(world, { type: 'TTN' });
    for (const hex of ['01', '02', '03']) await device.downlink(raw(hex));
    const waiting = await until(device.downlinks, ([one]) => one.error !== null);
    expect(states(waiting)).toEqual(['QUEUED', 'QUEUED', 'QUEUED']);
    expect(waiting[0].error).toMatch(/is missing baseUrl and apiKey and applicationId/);
    await world.must('PUT', `/v3/integrations/${device.integrationId}`, { properties: account() });
    await until(device.downlinks, (list) =>
      list.every(({ state }: { state: string }) => state === 'SENT'),
    );
    expect(server.asked.map(({ body }) => body.downlinks[0].frm_payload)).toEqual([
      'AQ==',
      'Ag==',
      'Aw==',
    ]);
  });

  test('clearQueue takes the place of what waits, here and at the server', async () => {
    const device = await loraDevice(world, { type: 'TTN' });
    await device.downlink(raw('01'));
    await device.downlink(raw('02', { clearQueue: true }));
    expect(await device.downlinks()).toMatchObject([
      { state: 'FAILED', error: 'superseded by a later downlink' },
      { state: 'QUEUED', payloadHex: '02' },
    ]);
    await world.must('PUT', `/v3/integrations/${device.integrationId}`, { properties: account() });
    await server.askedTimes(1);
    const first = server.asked[0]!;
    expect([first.path, first.body.downlinks[0].frm_payload]).toEqual([
      expect.stringMatching(/down\/replace$/),
      'Ag==',
    ]);
  });

  test('one more than may wait: 409', async () => {
    const device = await loraDevice(world, { type: 'TTN' });
    for (let i = 0; i < 100; i++) expect((await device.downlink(raw('00'))).status).toBe(204);
    expect((await device.downlink(raw('00'))).body.errorCode).toBe('40970_DOWNLINK_QUEUE_FULL');
    expect((await device.downlink(raw('01', { clearQueue: true }))).status).toBe(204);
  });

  const answers: [string, { status: number; body?: unknown }, string, RegExp][] = [
    [
      '401',
      { status: 401, body: { message: 'invalid token' } },
      'FAILED',
      /returned 401 .*invalid token/,
    ],
    ['404', { status: 404 }, 'FAILED', /returned 404/],
    ['redirect', { status: 302 }, 'FAILED', /returned 302/],
    ['500', { status: 500 }, 'QUEUED', /returned 500/],
    ['429', { status: 429 }, 'QUEUED', /returned 429/],
  ];
  for (const [what, answer, state, error] of answers) {
    test(`a network server that answers ${what}: ${state}`, async () => {
      const device = await onTtn();
      server.answer(answer);
      await device.downlink(raw('01'));
      const [downlink] = await until(device.downlinks, ([one]) => one.error !== null);
      expect(downlink).toMatchObject({ state, error: expect.stringMatching(error) });
    });
  }

  test('a server that fails first is tried again, and the order is kept', async () => {
    const device = await onTtn();
    let failures = 1;
    server.answer(() => ({
      status: failures-- > 0 ? 503 : 200,
      body: {},
      headers: { 'retry-after': '0' },
    }));
    await device.downlink(raw('01'));
    await device.downlink(raw('02'));
    await until(device.downlinks, (list) =>
      list.every(({ state }: { state: string }) => state === 'SENT'),
    );
    expect(server.asked.map(({ body }) => body.downlinks[0].frm_payload)).toEqual([
      'AQ==',
      'AQ==',
      'Ag==',
    ]);
  });

  test('without a listener: QUEUED, and the reason contains no key', async () => {
    const device = await onTtn();
    await server.close();
    await device.downlink(raw('01'));
    const [downlink] = await until(device.downlinks, ([one]) => one.error !== null);
    expect(downlink).toMatchObject({
      state: 'QUEUED',
      error: expect.stringMatching(/is unreachable/),
    });
    expect(JSON.stringify(await device.notes())).not.toContain('"key"');
    server = await startNetworkServer();
  });
});

describe('contract 35: reports of the network server', () => {
  const report = (device: { deviceEui: string }, member: string, id: string) => ({
    end_device_ids: { device_id: 'a', dev_eui: device.deviceEui },
    [member]: { f_port: 3, correlation_ids: [`heliograph:downlink:${id}`] },
  });

  for (const [member, state] of [
    ['downlink_ack', 'ACKNOWLEDGED'],
    ['downlink_nack', 'FAILED'],
    ['downlink_sent', 'SENT'],
  ] as const) {
    test(`${member}: ${state}`, async () => {
      const device = await onTtn();
      await device.downlink(raw('01', { confirmed: true }));
      const [{ id }] = await until(device.downlinks, ([one]) => one.state === 'SENT');
      expect((await device.webhook(report(device, member, id))).status).toBe(201);
      expect(states(await device.downlinks())).toEqual([state]);
      await until(device.notes, (list) => list.length === 3);
    });
  }

  test('what has ended stays as it ended', async () => {
    const device = await onTtn();
    await device.downlink(raw('01', { confirmed: true }));
    const [{ id }] = await until(device.downlinks, ([one]) => one.state === 'SENT');
    for (const member of ['downlink_ack', 'downlink_nack'])
      await device.webhook(report(device, member, id));
    expect(states(await device.downlinks())).toEqual(['ACKNOWLEDGED']);
  });

  test('another server names its own id: ChirpStack acknowledges by queue item', async () => {
    const device = await loraDevice(world, { type: 'CHIRP_STACK', properties: account() });
    server.answer({ status: 200, body: { id: 'item-1' } });
    await device.downlink(raw('01', { confirmed: true }));
    await until(device.downlinks, ([one]) => one.state === 'SENT');
    const body = {
      deviceInfo: { devEui: device.deviceEui },
      queueItemId: 'item-1',
      acknowledged: true,
      fCntDown: 3,
    };
    expect((await device.webhook(body, { event: 'ack' })).status).toBe(201);
    expect(states(await device.downlinks())).toEqual(['ACKNOWLEDGED']);
  });
});

test('review behaviour 13: LoRa properties are complete for every LoRa device', async () => {
  const device = await onTtn();
  const { loraProperties } = await world.must('GET', `/v3/devices/${device.id}`);
  expect(loraProperties).toMatchObject({
    carrier: 'TTN',
    deviceEui: device.deviceEui.toUpperCase(),
    loraVersion: '1.0.2',
    actilityProperties: null,
    ttnProperties: {
      deviceId: '',
      frequencyPlan: '',
      multicast: false,
      support32BitFrameCount: false,
    },
  });
  const actility = await loraDevice(world, {
    type: 'GENERIC_ACTILITY',
    loraProperties: {
      deviceClass: 'C',
      actilityProperties: { actilityId: null, connectivityPlanId: 'p' },
    },
  });
  expect((await world.must('GET', `/v3/devices/${actility.id}`)).loraProperties).toMatchObject({
    carrier: 'GENERIC_ACTILITY',
    deviceClass: 'C',
    actilityProperties: { actilityId: '', connectivityPlanId: 'p', motionIndicator: 'NEAR_STATIC' },
    ttnProperties: null,
  });
});
