// Messages of The Things Stack and ChirpStack as their documentation shows them, written for this project.
import { eui, time, type WebhookFixture } from './webhook-fixture.ts';

const ids = {
  device_id: 'meter-7',
  application_ids: { application_id: 'water' },
  dev_eui: '0004A30B001C0530',
  join_eui: '800000000000000C',
  dev_addr: '00BCB929',
};
const deviceInfo = {
  tenantName: 'House',
  applicationName: 'Water',
  deviceName: 'Meter 7',
  devEui: eui,
  tags: {},
};

const theThingsStack: readonly WebhookFixture[] = [
  {
    server: 'TTN',
    what: 'an uplink: best gateway, the place that the device says, battery, members of value zero left out',
    body: {
      end_device_ids: ids,
      correlation_ids: ['as:up:01'],
      received_at: '2026-02-12T15:15:01Z',
      uplink_message: {
        session_key_id: 'AXBSH1Pk6Z0G166',
        f_port: 15,
        frm_payload: 'AQID/w==',
        decoded_payload: { ignored: true },
        rx_metadata: [
          {
            gateway_ids: { gateway_id: 'roof', eui: '9C5C8E00001A05C4' },
            rssi: -35,
            channel_rssi: -35,
            snr: 5.2,
          },
          { gateway_ids: { gateway_id: 'cellar' }, channel_rssi: -101, snr: -7 },
        ],
        settings: {
          data_rate: { lora: { bandwidth: 125000, spreading_factor: 9 } },
          frequency: '868300000',
        },
        received_at: '2026-02-12T15:15:00.123456789Z',
        last_battery_percentage: { value: 88.5 },
        locations: {
          'frm-payload': { latitude: 47.4, longitude: 8.5, accuracy: 12, source: 'SOURCE_GPS' },
        },
      },
    },
    events: [
      {
        kind: 'uplink',
        deviceEui: eui,
        body: { port: 15, payloadHex: '010203ff' },
        metrics: {
          rssi: -35,
          snr: 5.2,
          esp: -36.15,
          numberOfGateways: 2,
          latitude: 47.4,
          longitude: 8.5,
          locationRadius: 12,
          sf: 9,
          batteryLevel: 88.5,
          uplinkSize: 4,
          port: 15,
          frameCountUp: 0,
        },
        time,
        duplicateKey: 'AXBSH1Pk6Z0G166:0',
        serverDeviceId: 'meter-7',
      },
    ],
  },
  {
    server: 'TTN',
    what: 'a join',
    body: { end_device_ids: ids, join_accept: { session_key_id: 'AXBSH1Pk6Z0G166' } },
    events: [
      {
        kind: 'note',
        deviceEui: eui,
        level: 'INFO',
        message: 'The device joined the network',
        details: { deviceAddress: '00BCB929' },
      },
    ],
  },
  {
    server: 'TTN',
    what: 'a downlink that failed',
    body: {
      end_device_ids: ids,
      downlink_failed: {
        downlink: { f_port: 15, correlation_ids: ['x', 'heliograph:downlink:72ab'] },
        error: {
          namespace: 'pkg/networkserver',
          name: 'no_dev_addr',
          message_format: 'no DevAddr assigned',
        },
      },
    },
    events: [
      {
        kind: 'downlink',
        deviceEui: eui,
        state: 'FAILED',
        downlinkId: '72ab',
        reason: 'no DevAddr assigned',
      },
    ],
  },
];

const chirpstack: readonly WebhookFixture[] = [
  {
    server: 'CHIRP_STACK',
    what: 'an uplink',
    query: { event: 'up' },
    body: {
      deduplicationId: '3ac7e3c4-4401-4b8d-9386-a5c902f9202d',
      time: '2026-02-12T15:15:00.123+00:00',
      deviceInfo,
      devAddr: '00189440',
      dr: 1,
      fCnt: 4,
      fPort: 88,
      confirmed: false,
      data: 'Fv8=',
      rxInfo: [
        {
          gatewayId: '0016c001f153a14c',
          rssi: -36,
          snr: 10.5,
          location: { latitude: 46.9, longitude: 7.4 },
        },
      ],
      txInfo: {
        frequency: 868100000,
        modulation: { lora: { bandwidth: 125000, spreadingFactor: 11 } },
      },
    },
    events: [
      {
        kind: 'uplink',
        deviceEui: eui,
        body: { port: 88, payloadHex: '16ff' },
        metrics: {
          rssi: -36,
          snr: 10.5,
          esp: -36.37,
          numberOfGateways: 1,
          latitude: 46.9,
          longitude: 7.4,
          sf: 11,
          uplinkSize: 2,
          port: 88,
          frameCountUp: 4,
        },
        time,
        duplicateKey: '00189440:4',
      },
    ],
  },
  {
    server: 'CHIRP_STACK',
    what: 'an acknowledgement that did not come',
    query: { event: 'ack' },
    body: { deviceInfo, queueItemId: '5d7b', acknowledged: false, fCntDown: 3 },
    events: [
      {
        kind: 'downlink',
        deviceEui: eui,
        state: 'FAILED',
        serverReference: '5d7b',
        reason: 'the device did not acknowledge it',
      },
    ],
  },
  {
    server: 'CHIRP_STACK',
    what: 'a transmission, told apart without the query',
    body: { downlinkId: 12, deviceInfo, queueItemId: '5d7b', gatewayId: '0016c001f153a14c' },
    events: [{ kind: 'downlink', deviceEui: eui, state: 'SENT', serverReference: '5d7b' }],
  },
  {
    server: 'CHIRP_STACK',
    what: 'a log entry',
    query: { event: 'log' },
    body: { deviceInfo, level: 'ERROR', code: 'UPLINK_MIC', description: 'Invalid MIC' },
    events: [
      {
        kind: 'note',
        deviceEui: eui,
        level: 'ERROR',
        message: 'Network server message: UPLINK_MIC Invalid MIC',
      },
    ],
  },
];

export const stackWebhooks: readonly WebhookFixture[] = [...theThingsStack, ...chirpstack];
