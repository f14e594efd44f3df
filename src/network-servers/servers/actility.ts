// Actility ThingPark: reports of its application server interface, and its downlink request with a signature.
import { createHash } from 'node:crypto';
import { formatInstant } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import { frameEvent, joinEvent } from '../lora-frame.ts';
import type { DownlinkApi, NetworkServer, ServerEvent } from '../network-server.ts';
import { batteryPercentOf, espOf, known, placeAt } from '../radio.ts';
import {
  countAt,
  euiAt,
  flagAt,
  hexAt,
  measureAt,
  nameAt,
  objectAt,
  refuse,
  textAt,
  timeAt,
} from '../webhook-fields.ts';

function read(body: JsonObject): readonly ServerEvent[] {
  const sent = objectAt(body, 'DevEUI_downlink_Sent');
  if (sent !== undefined) return [downlinkSent(sent, euiAt(body, 'DevEUI_downlink_Sent.DevEUI'))];
  const rejected = objectAt(body, 'DevEUI_downlink_Rejected');
  if (rejected !== undefined) {
    const deviceEui = euiAt(body, 'DevEUI_downlink_Rejected.DevEUI');
    const reason = nameAt(rejected, 'DownlinkRejectionCause') ?? 'the network server rejected it';
    return [{ kind: 'downlink', deviceEui, state: 'FAILED', ...ownId(rejected), reason }];
  }
  const notification = objectAt(body, 'DevEUI_notification');
  if (notification !== undefined)
    return notified(notification, euiAt(body, 'DevEUI_notification.DevEUI'));
  if (objectAt(body, 'DevEUI_location') !== undefined) return [];
  const uplink = objectAt(body, 'DevEUI_uplink');
  if (uplink === undefined)
    return refuse('DevEUI_uplink', 'is needed, or another report of ThingPark');
  return uplinkEvents(uplink, euiAt(body, 'DevEUI_uplink.DevEUI'));
}

function uplinkEvents(uplink: JsonObject, deviceEui: string): readonly ServerEvent[] {
  const rssi = measureAt(uplink, 'LrrRSSI');
  const snr = measureAt(uplink, 'LrrSNR');
  const own = placeAt(uplink, 'DevLAT', 'DevLON', 'DevLocRadius');
  const frame = frameEvent({
    deviceEui,
    port: countAt(uplink, 'FPort', 255),
    payloadHex: hexAt(uplink, 'payload_hex'),
    frameCountUp: countAt(uplink, 'FCntUp'),
    session: nameAt(uplink, 'DevAddr'),
    metrics: {
      ...(own.latitude === undefined ? placeAt(uplink, 'LrrLAT', 'LrrLON') : own),
      ...known({
        rssi,
        snr,
        esp: measureAt(uplink, 'LrrESP') ?? espOf(rssi, snr),
        sf: measureAt(uplink, 'SpFact'),
        txPower: measureAt(uplink, 'TxPower'),
        frameCountDown: measureAt(uplink, 'FCntDn'),
        numberOfGateways: measureAt(uplink, 'DevLrrCnt'),
        batteryLevel: batteryPercentOf(measureAt(uplink, 'BatteryLevel')),
      }),
    },
    time: timeAt(uplink, 'Time'),
  });
  return flagAt(uplink, 'ACKbit')
    ? [frame, { kind: 'downlink', deviceEui, state: 'ACKNOWLEDGED' }]
    : [frame];
}

function ownId(report: JsonObject): { readonly downlinkId?: string } {
  const id = nameAt(report, 'CorrelationID');
  return id === undefined || id === '' ? {} : { downlinkId: id.toLowerCase() };
}

function downlinkSent(report: JsonObject, deviceEui: string): ServerEvent {
  const isDelivered = flagAt(report, 'DeliveryStatus');
  const cause = ['DeliveryFailedCause1', 'DeliveryFailedCause2', 'DeliveryFailedCause3']
    .map((name) => nameAt(report, name))
    .find((text) => text !== undefined && text !== '00' && text !== '');
  const failed = { state: 'FAILED', reason: `not delivered, cause ${cause ?? 'unknown'}` } as const;
  return {
    kind: 'downlink',
    deviceEui,
    ...ownId(report),
    ...(isDelivered ? { state: 'SENT' } : failed),
  };
}

function notified(notification: JsonObject, deviceEui: string): readonly ServerEvent[] {
  const type = textAt(notification, 'Type') ?? 'unknown';
  if (type.toLowerCase() === 'join') return [joinEvent(deviceEui, nameAt(notification, 'DevAddr'))];
  return [
    { kind: 'note', deviceEui, level: 'INFO', message: `The network server notifies: ${type}` },
  ];
}

const downlinks: DownlinkApi = {
  needs: ['baseUrl', 'asId', 'asKey'],
  calls(downlink, { deviceEui }, properties, now) {
    const { baseUrl, asId = '', asKey = '' } = properties;
    const parameters: [string, string][] = [
      ['DevEUI', deviceEui.toUpperCase()],
      ['FPort', String(downlink.port)],
      ['Payload', downlink.payloadHex],
      ...(downlink.confirmed ? [['Confirmed', '1'] as [string, string]] : []),
      ...(downlink.replaces ? [['FlushDownlinkQueue', '1'] as [string, string]] : []),
      ['CorrelationID', downlink.id.toUpperCase()],
      ['AS_ID', asId],
      ['Time', formatInstant(now).replace('Z', '+00:00')],
    ];
    // The signature is over the parameters as they were before their encoding, in this order, and the key behind them.
    const plain = parameters.map(([name, value]) => `${name}=${value}`).join('&');
    const token = createHash('sha256')
      .update(plain + asKey.toLowerCase())
      .digest('hex');
    const query = [...parameters, ['Token', token]].map(
      ([name, value]) => `${name}=${encodeURIComponent(value!)}`,
    );
    return [{ method: 'POST', url: `${baseUrl}/thingpark/lrc/rest/downlink?${query.join('&')}` }];
  },
};

/** Of Swisscom too, whose network is run with it. */
export const actility: NetworkServer = { read, downlinks };
