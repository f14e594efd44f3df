// Disruptive Technologies: events of its data connectors.
import { withMembers } from '../../../model/json-keys.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { NetworkServer, ServerEvent } from '../network-server.ts';
import { known } from '../lora-frame.ts';
import {
  itemCountAt,
  measureAt,
  objectAt,
  percentAt,
  refuse,
  textAt,
  timeAt,
} from '../webhook-fields.ts';

const deviceIdMax = 100;

function read(body: JsonObject): readonly ServerEvent[] {
  const event = objectAt(body, 'event') ?? refuse('event', 'is required');
  const target =
    textAt(body, 'event.targetName') ??
    refuse('event.targetName', 'is required to identify the device');
  const deviceId = target.split('/').at(-1) ?? '';
  if (deviceId === '' || deviceId.length > deviceIdMax) {
    refuse('event.targetName', 'must end with a device ID, as in projects/PROJECT/devices/DEVICE');
  }
  const eventType = textAt(body, 'event.eventType') ?? refuse('event.eventType', 'is required');
  const data = objectAt(body, 'event.data') ?? refuse('event.data', 'is required');
  const eventId = textAt(body, 'event.eventId');
  return [
    {
      kind: 'uplink',
      deviceEui: deviceId.toLowerCase(),
      // Decoders get the event's data and its type.
      body: withMembers(data, { eventType }),
      metrics: known({
        rssi: measureAt(data, 'networkStatus.rssi'),
        batteryLevel: percentAt(data, 'batteryStatus.percentage'),
        numberOfGateways: itemCountAt(data, 'networkStatus.cloudConnectors'),
      }),
      time: timeAt(event, 'timestamp'),
      ...(eventId !== undefined && { duplicateKey: eventId }),
    },
  ];
}

export const disruptiveTechnologies: NetworkServer = { read };
