// Loriot: messages of its application output, its downlink command and its device list.
import type { JsonObject } from '../../../model/json.ts';
import { problem } from '../../../model/problem.ts';
import {
  batteryPercentOf,
  frameEvent,
  frameWithoutData,
  joinEvent,
  known,
  type LoraFrame,
  receivedBy,
  type Reception,
  spreadingFactorOf,
  withAcknowledgement,
} from '../lora-frame.ts';
import type {
  DownlinkApi,
  NetworkServer,
  RegistrationApi,
  ServerEvent,
  ServerProperties,
} from '../network-server.ts';
import {
  countAt,
  epochAt,
  euiAt,
  flagAt,
  hexAt,
  measureAt,
  nameAt,
  nonEmpty,
  objectsAt,
  refuse,
  textAt,
  valueAt,
} from '../webhook-fields.ts';

function read(body: JsonObject): readonly ServerEvent[] {
  const command = textAt(body, 'cmd') ?? refuse('cmd', 'is required to identify the message type');
  const deviceEui = euiAt(body, 'EUI');
  if (command === 'rx' || command === 'gw') return received(body, deviceEui);
  if (command === 'txd') {
    const seqdn = nameAt(body, 'seqdn');
    return [
      {
        kind: 'downlink',
        deviceEui,
        state: 'SENT',
        ...(seqdn !== undefined && { serverReference: seqdn }),
      },
    ];
  }
  if (command === 'join') return [joinEvent(deviceEui, textAt(body, 'devaddr'))];
  // Further messages of the protocol have no data of a device.
  return [];
}

function received(body: JsonObject, deviceEui: string): readonly ServerEvent[] {
  const isEncrypted = valueAt(body, 'data') === undefined && valueAt(body, 'encdata') !== undefined;
  const frame = loraFrame(body, deviceEui);
  const event = isEncrypted ? frameWithoutData(frame, encrypted) : frameEvent(frame);
  return withAcknowledgement(event, flagAt(body, 'ack'));
}

const encrypted = {
  level: 'ERROR',
  message:
    "The payload is encrypted. Configure the device's application session key on the network server.",
} as const;

function loraFrame(body: JsonObject, deviceEui: string): LoraFrame {
  return {
    deviceEui,
    port: countAt(body, 'port', 255),
    payloadHex: hexAt(body, 'data'),
    frameCountUp: countAt(body, 'fcnt') ?? countAt(body, 'seqno'),
    session: textAt(body, 'devaddr'),
    metrics: {
      ...receivedBy(receptions(body)),
      ...known({
        sf: spreadingFactorOf(valueAt(body, 'dr')),
        batteryLevel: batteryPercentOf(measureAt(body, 'bat')),
      }),
    },
    time: epochAt(body, 'ts'),
  };
}

function reception(gateway: JsonObject): Reception {
  return {
    rssi: measureAt(gateway, 'rssi'),
    snr: measureAt(gateway, 'snr'),
    latitude: measureAt(gateway, 'lat'),
    longitude: measureAt(gateway, 'lon'),
  };
}

/** Messages of less detail have only the signal of the best gateway. */
function receptions(body: JsonObject): readonly Reception[] {
  const gateways = objectsAt(body, 'gws');
  if (gateways.length > 0) return gateways.map(reception);
  return [reception(body)].filter(({ rssi }) => rssi !== undefined);
}

function authorized({ apiKey }: ServerProperties) {
  return { authorization: `Bearer ${apiKey}` };
}

const downlinks: DownlinkApi = {
  needs: ['baseUrl', 'apiKey', 'applicationId'],
  calls(downlink, { deviceEui }, properties) {
    const { baseUrl, applicationId = '' } = properties;
    const { port, confirmed, payloadHex } = downlink;
    const EUI = deviceEui.toUpperCase();
    const body = { cmd: 'tx', EUI, appid: applicationId, port, confirmed, data: payloadHex };
    return [{ method: 'POST', url: `${baseUrl}/1/rest`, headers: authorized(properties), body }];
  },
  referenceOf: ({ seqdn }) => (typeof seqdn === 'number' ? String(seqdn) : undefined),
  refusalOf: ({ error }) => nonEmpty(error),
};

const registration: RegistrationApi = {
  needs: ['baseUrl', 'apiKey', 'applicationId'],
  register(device, properties) {
    const { deviceEui, name, loraProperties } = device;
    const appkey = textAt(loraProperties, 'applicationKey');
    const appeui = textAt(loraProperties, 'joinEui') ?? textAt(loraProperties, 'applicationEui');
    if (!appkey || !appeui) {
      throw problem('registrationIncomplete', { deviceEui, missing: 'joinEui and applicationKey' });
    }
    const url = `${properties['baseUrl']}/1/nwk/app/${encodeURIComponent(properties['applicationId'] ?? '')}/devices/otaa`;
    const body = { deveui: deviceEui.toUpperCase(), appeui, appkey, title: name };
    return [{ method: 'POST', url, headers: authorized(properties), body, alsoAccepted: [409] }];
  },
  deregister({ deviceEui }, properties) {
    const { baseUrl, applicationId = '' } = properties;
    const url = `${baseUrl}/1/nwk/app/${encodeURIComponent(applicationId)}/device/${deviceEui.toUpperCase()}`;
    return [{ method: 'DELETE', url, headers: authorized(properties), alsoAccepted: [404] }];
  },
};

export const loriot: NetworkServer = { read, downlinks, registration };
