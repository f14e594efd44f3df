// Kinds of device connectors and network servers: their names, settings and examples, and the command with which a device reaches one.
import { firstReading } from '../device/overview/first-reading.ts';
import type { Connector } from './flow-requests.ts';
import type { connectorWords } from './connector-words.ts';
import {
  type DecodingType,
  integrationSecrets,
  type IntegrationType,
} from '../../../../src/model/connector.ts';
import type { integrationWords } from './flows-words.ts';

type Words = typeof connectorWords.en;
type Kind = Pick<Connector, 'connectivity' | 'decodingType'> &
  Partial<Pick<Connector, 'lineProtocol' | 'sparkplug'>>;

/** Such as `MQTT`, or `HTTP, webhook of ChirpStack`. */
export function kindOf(connector: Kind, words: Words): string {
  const { connectivity, decodingType, lineProtocol, sparkplug } = connector;
  if (connectivity === 'LORA') return words.lora;
  const kind = words.kinds[connectivity];
  if (lineProtocol) return `${kind}, ${words.lineProtocolShort}`;
  if (sparkplug) return `${kind}, Sparkplug B`;
  if (decodingType === 'NONE') return kind;
  return `${kind}, ${words.webhookOf(serverNames[decodingType])}`;
}

/** Where a payload for the connector is sent to over HTTP, without its secret. */
export function webhookPath({
  integrationId,
  lineProtocol,
}: Pick<Connector, 'integrationId' | 'lineProtocol'>): string {
  if (lineProtocol !== null) return '/api/v2/write';
  return integrationId === null ? '/v3/capture' : `/v3/capture/lora/${integrationId}`;
}

interface Command {
  readonly connector: Connector;
  /** Physical id. */
  readonly deviceId: string;
  /** The server that speaks for the device; undefined for devices that send themselves. */
  readonly server: ServerKind | undefined;
  /** Undefined where the reader cannot see it. */
  readonly secret: string | undefined;
  readonly nowMs: number;
}

/** A command of a terminal that sends one payload through the connector. */
export function commandFor(command: Command): string {
  const { connector, deviceId, server, secret, nowMs } = command;
  const sender = { deviceId, dataFlow: { deviceConnector: { id: connector.id } } };
  if (server === undefined && connector.lineProtocol !== null)
    return pointCommand(connector.lineProtocol.device[0] ?? '', deviceId, secret);
  if (server === undefined && connector.sparkplug !== null)
    return birthCommand(connector.id, secret);
  if (server === undefined) {
    const { connectivity } = connector;
    return firstReading({ ...sender, connectivity }, secret, location);
  }
  const body = JSON.stringify(serverMessage(server, deviceId, nowMs));
  const address = `${location.origin}${webhookPath(connector)}?secret=${secret ?? '$SECRET'}`;
  return `curl -sS "${address}" -H 'content-type: application/json' -d '${body}'`;
}

/** One point with the tags of the template. */
function pointCommand(template: string, deviceId: string, secret = '$SECRET'): string {
  const tags = Array.from(
    template.matchAll(/\{([^{}]+)\}/g),
    ([, tag = '']) => `,${tag}=${deviceId}`,
  );
  const authorization = `Authorization: Token ${secret}`;
  const address = `${location.origin}/api/v2/write`;
  return `curl -sS "${address}" -H "${authorization}" -d 'room${tags.join('')} temperature=21.5'`;
}

/** The birth of an edge node with one metric: `temperature` 21.5, number 0. */
const birthBytes =
  '\\022\\030\\012\\013temperature\\040\\012\\151' +
  '\\000\\000\\000\\000\\000\\200\\065\\100\\030\\000';

function birthCommand(user: string, secret = '$SECRET'): string {
  const login = `-h ${location.hostname} -u ${user} -P "${secret}"`;
  return `printf '${birthBytes}' | mosquitto_pub ${login} -t spBv1.0/GROUP/NBIRTH/EDGE -s`;
}

// Network servers: name, an example message, and settings of each.

interface Frame {
  readonly deviceId: string;
  /** ISO-8601. */
  readonly time: string;
  /** Differs between tries, so that none is taken for a repetition. */
  readonly counter: number;
}

const payloadHex = '0167010e';
const payloadBase64 = 'AWcBDg==';
const port = 1;
const spacedSeconds = 1_000;

type Message = (frame: Frame) => object;

const thingPark: Message = ({ deviceId, time, counter }) => ({
  DevEUI_uplink: {
    DevEUI: deviceId.toUpperCase(),
    FPort: port,
    FCntUp: counter,
    payload_hex: payloadHex,
    Time: time,
  },
});

const messages: Readonly<Record<ServerKind, Message>> = {
  TTN: ({ deviceId, time, counter }) => ({
    end_device_ids: { dev_eui: deviceId },
    uplink_message: { f_port: port, f_cnt: counter, frm_payload: payloadBase64, received_at: time },
  }),
  CHIRP_STACK: ({ deviceId, time, counter }) => ({
    deviceInfo: { devEui: deviceId },
    fPort: port,
    fCnt: counter,
    data: payloadBase64,
    time,
  }),
  LORIOT: ({ deviceId, time, counter }) => ({
    cmd: 'rx',
    EUI: deviceId.toUpperCase(),
    port,
    fcnt: counter,
    data: payloadHex,
    ts: Date.parse(time),
  }),
  GENERIC_ACTILITY: thingPark,
  SWISSCOM_ACTILITY: thingPark,
  SWISSCOM_CMP: thingPark,
  EVERYNET: ({ deviceId, time, counter }) => ({
    type: 'uplink',
    meta: { device: deviceId },
    params: {
      port,
      counter_up: counter,
      payload: payloadBase64,
      rx_time: Date.parse(time) / spacedSeconds,
    },
  }),
  HELIUM: ({ deviceId, time, counter }) => ({
    dev_eui: deviceId,
    port,
    fcnt: counter,
    payload: payloadBase64,
    reported_at: Date.parse(time),
  }),
  SIGFOX: ({ deviceId, time, counter }) => ({
    device: deviceId,
    seqNumber: counter,
    data: payloadHex,
    time: Math.floor(Date.parse(time) / spacedSeconds),
  }),
  DISRUPTIVE_TECHNOLOGIES: ({ deviceId, time, counter }) => ({
    event: {
      eventId: `console-${counter}`,
      targetName: `projects/test/devices/${deviceId}`,
      eventType: 'temperature',
      data: { temperature: { value: 21.5 } },
      timestamp: time,
    },
  }),
  GENERIC: ({ deviceId, time, counter }) => ({
    deviceEui: deviceId,
    port,
    frameCountUp: counter,
    payloadHex,
    time,
  }),
};

/** An uplink as the server would send it for the device with the physical id. */
export function serverMessage(kind: ServerKind, deviceId: string, nowMs: number): object {
  const time = new Date(nowMs).toISOString();
  return messages[kind]({ deviceId, time, counter: Math.floor(nowMs / spacedSeconds) % 0xffff });
}

// Names of the network servers, as their makers write them.

export type ServerKind = IntegrationType | Exclude<DecodingType, 'NONE'>;

export const serverNames: Readonly<Record<ServerKind, string>> = {
  TTN: 'The Things Stack',
  CHIRP_STACK: 'ChirpStack',
  LORIOT: 'LORIOT',
  GENERIC_ACTILITY: 'Actility ThingPark',
  SWISSCOM_ACTILITY: 'Swisscom (ThingPark)',
  SWISSCOM_CMP: 'Swisscom CMP',
  EVERYNET: 'Everynet',
  HELIUM: 'Helium',
  SIGFOX: 'Sigfox',
  DISRUPTIVE_TECHNOLOGIES: 'Disruptive Technologies',
  GENERIC: 'HTTP (any server)',
};

// Integration settings: the properties that each network server has, and what it needs them for.

export type PropertyName = keyof typeof integrationWords.en.properties;

interface ServerSettings {
  readonly fields: readonly PropertyName[];
  /** Without these nothing can be sent to a device; empty where the server takes no commands. */
  readonly needed: readonly PropertyName[];
}

const thingParkSettings: ServerSettings = {
  fields: ['baseUrl', 'asId', 'asKey'],
  needed: ['baseUrl', 'asId', 'asKey'],
};
const chirpStack: ServerSettings = {
  fields: ['baseUrl', 'apiKey', 'applicationId', 'deviceProfileId'],
  needed: ['baseUrl', 'apiKey'],
};

export const settingsOf: Readonly<Record<IntegrationType, ServerSettings>> = {
  TTN: {
    fields: ['baseUrl', 'apiKey', 'applicationId', 'frequencyPlanId'],
    needed: ['baseUrl', 'apiKey', 'applicationId'],
  },
  CHIRP_STACK: chirpStack,
  LORIOT: {
    fields: ['baseUrl', 'apiKey', 'applicationId'],
    needed: ['baseUrl', 'apiKey', 'applicationId'],
  },
  GENERIC_ACTILITY: thingParkSettings,
  SWISSCOM_ACTILITY: thingParkSettings,
  SWISSCOM_CMP: thingParkSettings,
  EVERYNET: { fields: [], needed: [] },
  HELIUM: chirpStack,
  GENERIC: { fields: ['baseUrl', 'apiKey'], needed: ['baseUrl'] },
};

export function isSecret(name: string): boolean {
  return integrationSecrets.includes(name);
}

interface Configured {
  readonly type: IntegrationType;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Settings that commands need and that are empty. */
export function missingOf({ type, properties }: Configured): readonly PropertyName[] {
  return settingsOf[type].needed.filter((name) => (properties[name] ?? '') === '');
}
