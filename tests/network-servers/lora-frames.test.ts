// Frames of every LoRaWAN server: MAC traffic, frames without payload, and what else is a sign of life (contract 42).
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { serverOfIntegration } from '../../src/transports/network-servers/network-server-table.ts';
import { eui } from './webhook-fixture.ts';

interface Sent {
  readonly port?: number | undefined;
  /** Hexadecimal. */
  readonly payload?: string | undefined;
}

const base64 = (hex: string | undefined) =>
  hex === undefined ? undefined : Buffer.from(hex, 'hex').toString('base64');
const without = (body: object) => JSON.parse(JSON.stringify(body)) as JsonObject;

const frames: Record<string, (sent: Sent) => object> = {
  TTN: ({ port, payload }) => ({
    end_device_ids: { dev_eui: eui, dev_addr: '01020304' },
    uplink_message: {
      f_port: port,
      f_cnt: 7,
      frm_payload: base64(payload),
      rx_metadata: [{ rssi: -60, snr: 9 }],
    },
  }),
  CHIRP_STACK: ({ port, payload }) => ({
    deviceInfo: { devEui: eui },
    devAddr: '01020304',
    fCnt: 7,
    fPort: port,
    data: base64(payload),
    rxInfo: [{ rssi: -60, snr: 9 }],
  }),
  HELIUM: ({ port, payload }) => ({
    dev_eui: eui,
    devaddr: '01020304',
    fcnt: 7,
    port,
    payload: base64(payload),
    hotspots: [{ rssi: -60, snr: 9 }],
  }),
  EVERYNET: ({ port, payload }) => ({
    type: 'uplink',
    meta: { device: eui, device_addr: '01020304' },
    params: {
      port,
      payload: base64(payload),
      counter_up: 7,
      radio: { hardware: { rssi: -60, snr: 9 } },
    },
  }),
  LORIOT: ({ port, payload }) => ({
    cmd: 'rx',
    EUI: eui,
    devaddr: '01020304',
    fcnt: 7,
    port,
    data: payload,
    rssi: -60,
    snr: 9,
  }),
  GENERIC_ACTILITY: ({ port, payload }) => ({
    DevEUI_uplink: {
      DevEUI: eui,
      DevAddr: '01020304',
      FCntUp: 7,
      FPort: port,
      payload_hex: payload,
      LrrRSSI: -60,
      LrrSNR: 9,
    },
  }),
  GENERIC: ({ port, payload }) => ({
    deviceEui: eui,
    deviceAddress: '01020304',
    frameCountUp: 7,
    port,
    payloadHex: payload,
    rssi: -60,
    snr: 9,
  }),
};

const noPayload = 'Received a frame without an application payload';
const onPortZero = 'A frame on port 0 was received: MAC traffic, not decoded';
const withoutPort = 'A frame without a port was received: MAC traffic, not decoded';

const cases: readonly [string, Sent, string | object][] = [
  ['port 0 with payload', { port: 0, payload: '0203' }, onPortZero],
  ['port 0 without payload', { port: 0 }, noPayload],
  ['port 0 with an empty payload', { port: 0, payload: '' }, noPayload],
  ['neither port nor payload', {}, noPayload],
  ['payload without port', { payload: '0203' }, withoutPort],
  ['a port without payload', { port: 5 }, { port: 5, payloadHex: '' }],
  ['a port and an empty payload', { port: 5, payload: '' }, { port: 5, payloadHex: '' }],
  ['a port and payload', { port: 5, payload: '0203' }, { port: 5, payloadHex: '0203' }],
];

for (const [server, body] of Object.entries(frames)) {
  for (const [what, sent, wanted] of cases) {
    // The form of our own decodes port 0 and asks for a port (contract 36).
    const isOwn = server === 'GENERIC' && sent.payload !== undefined && sent.payload !== '';
    if (isOwn && !sent.port) continue;
    test(`behaviour 15: ${server}: ${what}`, () => {
      const { read } = serverOfIntegration[server as keyof typeof serverOfIntegration];
      const [event] = read(without(body(sent)), {});
      const metrics = {
        rssi: -60,
        snr: 9,
        frameCountUp: 7,
        ...(sent.port !== undefined && { port: sent.port }),
      };
      expect(event).toMatchObject({ deviceEui: eui, metrics, duplicateKey: '01020304:7' });
      if (typeof wanted === 'string')
        expect(event).toMatchObject({ kind: 'frame', level: 'INFO', message: wanted });
      else expect(event).toMatchObject({ kind: 'uplink', body: wanted });
    });
  }
}

test('behaviour 15: the plain form decodes port 0, and asks for the port of a payload', () => {
  const { read } = serverOfIntegration.GENERIC;
  expect(read({ deviceEui: eui, port: 0, payloadHex: '0203' }, {})).toMatchObject([
    { kind: 'uplink', body: { port: 0, payloadHex: '0203' } },
  ]);
  expect(() => read({ deviceEui: eui, payloadHex: '0203' }, {})).toThrow(/port: is required/);
});

test('behaviour 15: ChirpStack 3 has EUIs in base64, with the events of that version', () => {
  const { read } = serverOfIntegration.CHIRP_STACK;
  const devEUI = Buffer.from(eui, 'hex').toString('base64');
  const version3 = { applicationID: '1', devEUI, devAddr: 'AFE5Qg==', fCnt: 10, fPort: 5 };
  expect(
    read({ ...version3, data: 'AgM=', rxInfo: [{ rssi: -60, loRaSNR: 9 }] }, {}),
  ).toMatchObject([{ kind: 'uplink', deviceEui: eui, body: { port: 5, payloadHex: '0203' } }]);
  expect(read({ devEUI, type: 'UPLINK_CODEC', error: 'no function', fCnt: 10 }, {})).toEqual([
    {
      kind: 'note',
      deviceEui: eui,
      level: 'ERROR',
      message: 'Network server message: UPLINK_CODEC no function',
    },
  ]);
  expect(() => read({ ...version3, devEUI: 'AgMEBQ==' }, {})).toThrow(/must be an EUI/);
});

const statuses: [string, JsonObject, number | undefined][] = [
  ['percent', { margin: 12, batteryLevel: 75.59, batteryLevelUnavailable: false }, 75.59],
  ['the byte of old versions', { margin: 12, battery: 127 }, 50],
  ['unknown', { margin: 12, batteryLevel: 0, batteryLevelUnavailable: true }, undefined],
  ['an external supply', { margin: 12, externalPowerSource: true, batteryLevel: 0 }, undefined],
];
for (const [what, told, batteryLevel] of statuses) {
  test(`behaviour 15: the status of ChirpStack tells the battery: ${what}`, () => {
    const [event] = serverOfIntegration.CHIRP_STACK.read(
      { deviceInfo: { devEui: eui }, ...told },
      { event: 'status' },
    );
    expect(event).toMatchObject({ kind: 'frame', deviceEui: eui });
    expect(event).toHaveProperty('metrics', {
      uplinkSize: 0,
      ...(batteryLevel !== undefined && { batteryLevel }),
    });
  });
}

test('behaviour 15: a normalized payload of The Things Stack is noted', () => {
  const body = {
    end_device_ids: { dev_eui: eui },
    uplink_normalized: { f_port: 1, frm_payload: 'AgM=', normalized_payload: { air: {} } },
  };
  expect(serverOfIntegration.TTN.read(body, {})).toEqual([
    {
      kind: 'note',
      deviceEui: eui,
      level: 'INFO',
      message:
        'A normalized payload was received and is not decoded: let the network server send uplink messages',
    },
  ]);
});
