// Disruptive Technologies: events of its data connectors.
import type { JsonObject } from '../../model/json.ts';
import type { NetworkServer, ServerEvent } from '../network-server.ts';
import { known } from '../radio.ts';
import { measureAt, objectAt, refuse, textAt, timeAt, valueAt } from '../webhook-fields.ts';

const deviceIdMax = 100;

function read(body: JsonObject): readonly ServerEvent[] {
  const event = objectAt(body, 'event') ?? refuse('event', 'is needed');
  const target =
    textAt(body, 'event.targetName') ??
    refuse('event.targetName', 'is needed: it tells which device sent');
  const deviceId = target.split('/').at(-1) ?? '';
  if (deviceId === '' || deviceId.length > deviceIdMax) {
    refuse(
      'event.targetName',
      'must end in the id of a device, as in projects/<project>/devices/<device>',
    );
  }
  const eventType = textAt(body, 'event.eventType') ?? refuse('event.eventType', 'is needed');
  const data = objectAt(body, 'event.data') ?? refuse('event.data', 'is needed');
  const eventId = textAt(body, 'event.eventId');
  const battery = measureAt(data, 'batteryStatus.percentage');
  const clouds = valueAt(data, 'networkStatus.cloudConnectors');
  return [
    {
      kind: 'uplink',
      deviceEui: deviceId.toLowerCase(),
      // Decoders are given the event's own data, which repeats its type.
      body: { ...data, eventType },
      metrics: known({
        rssi: measureAt(data, 'networkStatus.rssi'),
        batteryLevel: battery !== undefined && battery >= 0 && battery <= 100 ? battery : undefined,
        numberOfGateways: Array.isArray(clouds) && clouds.length > 0 ? clouds.length : undefined,
      }),
      time: timeAt(event, 'timestamp'),
      ...(eventId === undefined ? {} : { duplicateKey: eventId }),
    },
  ];
}

export const disruptiveTechnologies: NetworkServer = { read };
