// Sigfox: the data callbacks of its backend, whose bodies operators build from given variables.
import type { JsonObject } from '../../../model/json.ts';
import type { NetworkServer, ServerEvent } from '../network-server.ts';
import { known, payloadBytes, placeAt } from '../lora-frame.ts';
import {
  epochAt,
  hexAt,
  itemCountAt,
  measureAt,
  nameAt,
  refuse,
  valueAt,
} from '../webhook-fields.ts';

const devicePattern = /^[0-9a-f]{1,8}$/i;
const signalQualities: Readonly<Record<string, 1 | 2 | 3>> = {
  LIMIT: 1,
  AVERAGE: 2,
  GOOD: 3,
  EXCELLENT: 3,
};

function read(body: JsonObject): readonly ServerEvent[] {
  const member = valueAt(body, 'device') === undefined ? 'deviceId' : 'device';
  const device = nameAt(body, member) ?? refuse('device', 'is required to identify the device');
  if (!devicePattern.test(device))
    refuse(member, 'must be a device id of at most 8 hexadecimal digits');
  const deviceEui = device.toLowerCase();
  const payloadHex = hexAt(body, 'data');
  if (payloadHex === undefined) {
    const isService = valueAt(body, 'batt') !== undefined || valueAt(body, 'temp') !== undefined;
    // Service callbacks report voltage and temperature of the radio. Acknowledgements and locations
    // also arrive alone.
    if (
      !isService &&
      valueAt(body, 'computedLocation') === undefined &&
      valueAt(body, 'infoCode') === undefined
    ) {
      refuse('data', 'is required');
    }
    return [
      {
        kind: 'note',
        deviceEui,
        level: 'INFO',
        message: 'A callback without payload was received',
        details: body,
      },
    ];
  }
  const counter = nameAt(body, 'seqNumber');
  return [
    {
      kind: 'uplink',
      deviceEui,
      // Decoders get the operator's callback, and the payload under the name that LoRaWAN devices
      // use.
      body: { ...body, payloadHex },
      metrics: {
        ...placeAt(body, 'computedLocation.lat', 'computedLocation.lng', 'computedLocation.radius'),
        ...known({
          uplinkSize: payloadBytes(payloadHex),
          frameCountUp: measureAt(body, 'seqNumber'),
          rssi: measureAt(body, 'rssi'),
          snr: measureAt(body, 'snr'),
          numberOfGateways: itemCountAt(body, 'duplicates'),
          sqi: signalQualityOf(valueAt(body, 'lqi')),
        }),
      },
      time: epochAt(body, 'time'),
      ...(counter !== undefined && {
        duplicateKey: `${payloadHex}:${counter}:${nameAt(body, 'time') ?? ''}`,
      }),
    },
  ];
}

/** Undefined for a value that is not one of the names. */
function signalQualityOf(name: unknown): number | undefined {
  return typeof name === 'string' ? signalQualities[name.toUpperCase()] : undefined;
}

export const sigfox: NetworkServer = { read };
