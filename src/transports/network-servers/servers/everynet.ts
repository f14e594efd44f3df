// Everynet: messages of its data interface over HTTP.
import type { JsonObject } from '../../../model/json.ts';
import {
  batteryPercentOf,
  frameEvent,
  joinEvent,
  known,
  receivedBy,
  spreadingFactorOf,
} from '../lora-frame.ts';
import type { NetworkServer, ServerEvent } from '../network-server.ts';
import {
  base64At,
  countAt,
  epochAt,
  euiAt,
  flagAt,
  measureAt,
  objectAt,
  refuse,
  textAt,
  valueAt,
} from '../webhook-fields.ts';

function read(body: JsonObject): readonly ServerEvent[] {
  const type = textAt(body, 'type') ?? refuse('type', 'is required to identify the message type');
  const deviceEui = euiAt(body, 'meta.device');
  switch (type) {
    case 'uplink':
      return uplinkEvents(body, deviceEui);
    case 'join_response':
      return [joinEvent(deviceEui, textAt(body, 'meta.device_addr'))];
    case 'downlink':
      return [{ kind: 'downlink', deviceEui, state: 'SENT' }];
    case 'error':
    case 'warning': {
      const told = textAt(body, 'params.message') ?? textAt(body, 'params.code') ?? 'unknown';
      const level = type === 'error' ? 'ERROR' : 'WARN';
      return [{ kind: 'note', deviceEui, level, message: `Network server message: ${told}` }];
    }
    default:
      return [];
  }
}

function uplinkEvents(body: JsonObject, deviceEui: string): readonly ServerEvent[] {
  const params = objectAt(body, 'params') ?? refuse('params', 'is required');
  // Copies of other gateways come marked as such, when the connection asks for them.
  if (flagAt(params, 'duplicate')) return [];
  const hardware = 'radio.hardware';
  const reception = {
    rssi: measureAt(params, `${hardware}.rssi`),
    snr: measureAt(params, `${hardware}.snr`),
    latitude: measureAt(params, `${hardware}.gps.lat`),
    longitude: measureAt(params, `${hardware}.gps.lng`),
  };
  const sf =
    measureAt(params, 'radio.modulation.spreading') ??
    spreadingFactorOf(valueAt(params, 'radio.modulation.datarate'));
  return [
    frameEvent({
      deviceEui,
      port: countAt(params, 'port', 255),
      payloadHex: base64At(params, 'payload'),
      frameCountUp: countAt(params, 'counter_up'),
      session: textAt(body, 'meta.device_addr'),
      metrics: {
        ...(reception.rssi === undefined ? {} : receivedBy([reception])),
        ...known({ sf, batteryLevel: batteryPercentOf(measureAt(params, 'battery')) }),
      },
      time: epochAt(params, 'rx_time') ?? epochAt(body, 'meta.time'),
    }),
  ];
}

export const everynet: NetworkServer = { read };
