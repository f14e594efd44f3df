// Kinds of device connectors: their names, and the command with which a device reaches one.
import { firstReading } from '../device/overview/first-reading.ts';
import type { Connector } from './flow-requests.ts';
import { type ServerKind, serverMessage, serverNames } from './network-servers.ts';
import type { connectorWords } from './connector-words.ts';

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
