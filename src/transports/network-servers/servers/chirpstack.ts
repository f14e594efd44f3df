// ChirpStack v4 (and the uplinks of v3): webhooks of its HTTP integration, and its REST interface for queue and devices.
import type { JsonObject } from '../../../model/json.ts';
import { problem } from '../../../model/problem.ts';
import {
  batteryPercentOf,
  frameEvent,
  joinEvent,
  known,
  receivedBy,
  type Reception,
  spreadingFactorOf,
} from '../lora-frame.ts';
import type {
  DownlinkApi,
  NetworkServer,
  RegistrationApi,
  ServerDownlinkReport,
  ServerEvent,
  ServerProperties,
  WebhookQuery,
} from '../network-server.ts';
import {
  base64At,
  countAt,
  euiAt,
  flagAt,
  measureAt,
  nonEmpty,
  objectsAt,
  percentAt,
  refuse,
  textAt,
  timeAt,
  valueAt,
} from '../webhook-fields.ts';

const kinds = [
  ...(['up', 'join', 'ack', 'txack', 'log', 'error', 'status', 'location'] as const),
  'integration',
] as const;
type Kind = (typeof kinds)[number];

const euiPaths = ['deviceInfo.devEui', 'devEui', 'devEUI'] as const;

function read(body: JsonObject, query: WebhookQuery): readonly ServerEvent[] {
  const deviceEui = euiAt(body, ...euiPaths);
  switch (kindOf(body, query)) {
    case 'up':
      return [uplink(body, deviceEui)];
    case 'join':
      return [joinEvent(deviceEui, textAt(body, 'devAddr'))];
    case 'ack': {
      if (flagAt(body, 'acknowledged')) return [report(body, deviceEui, 'ACKNOWLEDGED')];
      const reason = 'the device did not acknowledge it';
      return [{ ...report(body, deviceEui, 'FAILED'), reason }];
    }
    case 'txack':
      return [report(body, deviceEui, 'SENT')];
    case 'log':
      return logged(body, deviceEui);
    case 'error':
      return [errorOfVersion3(body, deviceEui)];
    case 'status':
      return status(body, deviceEui);
    default:
      return [];
  }
}

/** The server names the kind in the query. A relay between may have removed it. */
function kindOf(body: JsonObject, query: WebhookQuery): Kind {
  const named = kinds.find((kind) => kind === query['event']);
  if (named !== undefined) return named;
  if (valueAt(body, 'acknowledged') !== undefined) return 'ack';
  if (valueAt(body, 'downlinkId') !== undefined) return 'txack';
  if (valueAt(body, 'level') !== undefined && valueAt(body, 'code') !== undefined) return 'log';
  if (valueAt(body, 'error') !== undefined) return 'error';
  if (valueAt(body, 'margin') !== undefined) return 'status';
  if (valueAt(body, 'location') !== undefined) return 'location';
  if (valueAt(body, 'fCnt') !== undefined || valueAt(body, 'rxInfo') !== undefined) return 'up';
  if (valueAt(body, 'devAddr') !== undefined) return 'join';
  return refuse('fCnt', 'is required: the body is not a known ChirpStack event');
}

function uplink(body: JsonObject, deviceEui: string): ServerEvent {
  const sf =
    measureAt(body, 'txInfo.modulation.lora.spreadingFactor') ??
    measureAt(body, 'txInfo.loRaModulationInfo.spreadingFactor') ??
    spreadingFactorOf(valueAt(body, 'txInfo.dataRate'));
  return frameEvent({
    deviceEui,
    port: countAt(body, 'fPort', 255),
    payloadHex: base64At(body, 'data'),
    frameCountUp: countAt(body, 'fCnt') ?? 0,
    session: textAt(body, 'devAddr'),
    metrics: { ...receivedBy(objectsAt(body, 'rxInfo').map(reception)), ...known({ sf }) },
    time: timeAt(body, 'time'),
  });
}

/** The battery in percent, unless the device has an external supply or does not know. */
function status(body: JsonObject, deviceEui: string): readonly ServerEvent[] {
  const isUnknown = flagAt(body, 'batteryLevelUnavailable') || flagAt(body, 'externalPowerSource');
  const batteryLevel = isUnknown
    ? undefined
    : (percentAt(body, 'batteryLevel') ?? batteryPercentOf(measureAt(body, 'battery')));
  const metrics = known({ uplinkSize: 0, batteryLevel });
  const message = 'The device told the network server its status';
  return [{ kind: 'frame', deviceEui, metrics, level: 'INFO', message }];
}

function errorOfVersion3(body: JsonObject, deviceEui: string): ServerEvent {
  const told = `${textAt(body, 'type') ?? ''} ${textAt(body, 'error') ?? ''}`.trim();
  return { kind: 'note', deviceEui, level: 'ERROR', message: `Network server message: ${told}` };
}

function reception(gateway: JsonObject): Reception {
  return {
    rssi: measureAt(gateway, 'rssi'),
    snr: measureAt(gateway, 'snr') ?? measureAt(gateway, 'loRaSNR'),
    latitude: measureAt(gateway, 'location.latitude'),
    longitude: measureAt(gateway, 'location.longitude'),
  };
}

function report(
  body: JsonObject,
  deviceEui: string,
  state: 'SENT' | 'ACKNOWLEDGED' | 'FAILED',
): ServerDownlinkReport {
  const serverReference = textAt(body, 'queueItemId');
  return {
    kind: 'downlink',
    deviceEui,
    state,
    ...(serverReference && { serverReference }),
  };
}

const levels = { INFO: 'INFO', WARNING: 'WARN', ERROR: 'ERROR' } as const;
const downlinkCodes = new Set([
  'DOWNLINK_PAYLOAD_SIZE',
  'DOWNLINK_GATEWAY',
  'DOWNLINK_CODEC',
  'F_CNT_DOWN',
  'EXPIRED',
]);

function logged(body: JsonObject, deviceEui: string): readonly ServerEvent[] {
  const code = textAt(body, 'code') ?? 'UNKNOWN';
  const description = textAt(body, 'description') ?? '';
  const level = levels[textAt(body, 'level') as keyof typeof levels] ?? 'WARN';
  const queueItemId = textAt(body, 'context.queue_item_id');
  if (downlinkCodes.has(code) && queueItemId !== undefined) {
    return [
      {
        kind: 'downlink',
        deviceEui,
        state: 'FAILED',
        serverReference: queueItemId,
        reason: `${code} ${description}`,
      },
    ];
  }
  return [
    {
      kind: 'note',
      deviceEui,
      level,
      message: `Network server message: ${code} ${description}`.trim(),
    },
  ];
}

function authorized({ apiKey }: ServerProperties) {
  return { 'grpc-metadata-authorization': `Bearer ${apiKey}` };
}

const downlinks: DownlinkApi = {
  needs: ['baseUrl', 'apiKey'],
  calls(downlink, { deviceEui }, properties) {
    const url = `${properties['baseUrl']}/api/devices/${deviceEui}/queue`;
    const headers = authorized(properties);
    const data = Buffer.from(downlink.payloadHex, 'hex').toString('base64');
    const queueItem = { confirmed: downlink.confirmed, data, fPort: downlink.port };
    const enqueue = { method: 'POST', url, headers, body: { queueItem } } as const;
    if (!downlink.replaces) return [enqueue];
    return [{ method: 'DELETE', url, headers }, enqueue];
  },
  referenceOf: ({ id }) => nonEmpty(id),
};

const registration: RegistrationApi = {
  needs: ['baseUrl', 'apiKey', 'applicationId', 'deviceProfileId'],
  register(device, properties) {
    const { deviceEui, name, loraProperties } = device;
    const { baseUrl, applicationId = '', deviceProfileId = '' } = properties;
    const appKey = textAt(loraProperties, 'applicationKey');
    if (!appKey) throw problem('registrationIncomplete', { deviceEui, missing: 'applicationKey' });
    const joinEui =
      textAt(loraProperties, 'joinEui') ??
      textAt(loraProperties, 'applicationEui') ??
      '0000000000000000';
    const headers = authorized(properties);
    const keysUrl = `${baseUrl}/api/devices/${deviceEui}/keys`;
    // The root key of LoRaWAN 1.0 is in the place of the network key of 1.1.
    const deviceKeys = { nwkKey: appKey };
    return [
      {
        method: 'POST',
        url: `${baseUrl}/api/devices`,
        headers,
        body: {
          device: {
            applicationId,
            deviceProfileId,
            devEui: deviceEui,
            joinEui,
            name,
            isDisabled: false,
          },
        },
        alsoAccepted: [409],
      },
      { method: 'POST', url: keysUrl, headers, body: { deviceKeys }, alsoAccepted: [409] },
    ];
  },
  deregister: ({ deviceEui }, properties) => [
    {
      method: 'DELETE',
      url: `${properties['baseUrl']}/api/devices/${deviceEui}`,
      headers: authorized(properties),
      alsoAccepted: [404],
    },
  ],
};

export const chirpstack: NetworkServer = { read, downlinks, registration };
