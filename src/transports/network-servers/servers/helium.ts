// Helium: uplinks of its console's HTTP integration; its newer consoles are ChirpStack and send that server's webhooks.
import type { JsonObject } from '../../../model/json.ts';
import {
  frameEvent,
  joinEvent,
  known,
  receivedBy,
  type Reception,
  spreadingFactorOf,
} from '../lora-frame.ts';
import type { NetworkServer, ServerEvent, WebhookQuery } from '../network-server.ts';
import {
  base64At,
  countAt,
  epochAt,
  euiAt,
  measureAt,
  objectsAt,
  textAt,
  valueAt,
} from '../webhook-fields.ts';
import { chirpstack } from './chirpstack.ts';

function read(body: JsonObject, query: WebhookQuery): readonly ServerEvent[] {
  if (valueAt(body, 'deviceInfo') !== undefined) return chirpstack.read(body, query);
  const deviceEui = euiAt(body, 'dev_eui');
  if (textAt(body, 'type') === 'join') return [joinEvent(deviceEui, textAt(body, 'devaddr'))];
  const hotspots = objectsAt(body, 'hotspots');
  return [
    frameEvent({
      deviceEui,
      port: countAt(body, 'port', 255),
      payloadHex: base64At(body, 'payload'),
      frameCountUp: countAt(body, 'fcnt'),
      session: textAt(body, 'devaddr'),
      metrics: {
        ...receivedBy(hotspots.map(reception)),
        ...known({ sf: spreadingFactorOf(hotspots[0]?.['spreading']) }),
      },
      time: epochAt(body, 'reported_at'),
    }),
  ];
}

function reception(hotspot: JsonObject): Reception {
  return {
    rssi: measureAt(hotspot, 'rssi'),
    snr: measureAt(hotspot, 'snr'),
    latitude: measureAt(hotspot, 'lat'),
    longitude: measureAt(hotspot, 'long'),
  };
}

export const helium: NetworkServer = {
  read,
  ...(chirpstack.downlinks !== undefined && { downlinks: chirpstack.downlinks }),
  ...(chirpstack.registration !== undefined && { registration: chirpstack.registration }),
};
