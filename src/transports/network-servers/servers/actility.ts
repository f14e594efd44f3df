// Actility ThingPark: reports of its application server interface, and its downlink request with a signature.
import { createHash } from 'node:crypto';
import { formatInstant } from '../../../model/instant.ts';
import type { JsonObject } from '../../../model/json.ts';
import {
  batteryPercentOf,
  espOf,
  frameEvent,
  joinEvent,
  known,
  placeAt,
  withAcknowledgement,
} from '../lora-frame.ts';
import type { DownlinkApi, NetworkServer, ServerEvent } from '../network-server.ts';
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
    return refuse('DevEUI_uplink', 'is required, or another ThingPark report');
  return uplinkEvents(uplink, euiAt(body, 'DevEUI_uplink.DevEUI'));
}

function uplinkEvents(uplink: JsonObject, deviceEui: string): readonly ServerEvent[] {
  const rssi = measureAt(uplink, 'LrrRSSI');
  const snr = measureAt(uplink, 'LrrSNR');
  const frame = frameEvent({
    deviceEui,
    port: countAt(uplink, 'FPort', 255),
    payloadHex: hexAt(uplink, 'payload_hex'),
    frameCountUp: countAt(uplink, 'FCntUp'),
    session: nameAt(uplink, 'DevAddr'),
    metrics: {
      ...placeAt(uplink, 'LrrLAT', 'LrrLON'),
      ...placeAt(uplink, 'DevLAT', 'DevLON', 'DevLocRadius'),
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
  return withAcknowledgement(frame, flagAt(uplink, 'ACKbit'));
}

function ownId(report: JsonObject): { readonly downlinkId?: string } {
  const id = nameAt(report, 'CorrelationID');
  return { ...(id && { downlinkId: id.toLowerCase() }) };
}

function downlinkSent(report: JsonObject, deviceEui: string): ServerEvent {
  const ids = { kind: 'downlink', deviceEui, ...ownId(report) } as const;
  if (flagAt(report, 'DeliveryStatus')) return { ...ids, state: 'SENT' };
  const cause = ['DeliveryFailedCause1', 'DeliveryFailedCause2', 'DeliveryFailedCause3']
    .map((name) => nameAt(report, name))
    .find((text) => text !== undefined && text !== '00' && text !== '');
  return { ...ids, state: 'FAILED', reason: `not delivered, cause ${cause ?? 'unknown'}` };
}

function notified(notification: JsonObject, deviceEui: string): readonly ServerEvent[] {
  const type = textAt(notification, 'Type') ?? 'unknown';
  if (type.toLowerCase() === 'join') return [joinEvent(deviceEui, nameAt(notification, 'DevAddr'))];
  return [
    { kind: 'note', deviceEui, level: 'INFO', message: `Network server notification: ${type}` },
  ];
}

const downlinks: DownlinkApi = {
  needs: ['baseUrl', 'asId', 'asKey'],
  calls(downlink, { deviceEui }, properties, now) {
    const { baseUrl, asId = '', asKey = '' } = properties;
    const parameters = Object.entries({
      DevEUI: deviceEui.toUpperCase(),
      FPort: String(downlink.port),
      Payload: downlink.payloadHex,
      ...(downlink.confirmed && { Confirmed: '1' }),
      ...(downlink.replaces && { FlushDownlinkQueue: '1' }),
      CorrelationID: downlink.id.toUpperCase(),
      AS_ID: asId,
      Time: formatInstant(now).replace('Z', '+00:00'),
    });
    // The signature covers the parameters before their encoding, in this order, followed by the
    // key.
    const plain = parameters.map(([name, value]) => `${name}=${value}`).join('&');
    const token = createHash('sha256')
      .update(plain + asKey.toLowerCase())
      .digest('hex');
    const query = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}&`);
    const url = `${baseUrl}/thingpark/lrc/rest/downlink?${query.join('')}Token=${token}`;
    return [{ method: 'POST', url }];
  },
};

/** Of Swisscom too, whose network is run with it. */
export const actility: NetworkServer = { read, downlinks };
