// MQTT: one message per delivery (contract 9).
import Type from 'typebox';
import type { IClientOptions, MqttClient } from 'mqtt';
import { connectorType } from '../connector-type.ts';
import { createTargetName, type OutboundMessage, type Target } from '../target.ts';
import { parseUri, targetUri } from '../target-uri.ts';
import {
  oneOf,
  optional,
  optionalFlag,
  optionalText,
  parseTls,
  parseUser,
  type PropertyReader,
  text,
  tlsProperties,
  type TlsProperties,
  userProperties,
  type UserProperties,
} from '../properties.ts';
import type { EgressGuard } from '../../egress/guard.ts';
import { guardedSocket, tlsMaterial } from '../guarded-socket.ts';
import { attempt, PermanentRefusal } from '../send-failure.ts';
import { type ConnectionKind, SharedConnection } from '../shared-connection.ts';

const mqttPorts = { mqtt: 1883, mqtts: 8883 } as const;

const protocolVersions = ['V3_1_1', 'V5'] as const;
const qualities = [1, 2] as const;

export type MqttProperties = UserProperties &
  TlsProperties & {
    /** `mqtt://host:port` or `mqtts://host:port`. */
    readonly uri: string;
    readonly protocolVersion: (typeof protocolVersions)[number];
    /** Null for a random one. */
    readonly clientId: string | null;
    /** A template. */
    readonly topic: string;
    readonly qos: (typeof qualities)[number];
    readonly retain: boolean;
  };

const mqttProperties = {
  uri: text('Broker URI: `mqtt://host:port` or `mqtts://host:port`.'),
  protocolVersion: optional(oneOf(protocolVersions)),
  clientId: optionalText('Client ID. Defaults to a random value.'),
  topic: text('Template of the topic.'),
  qos: optional(Type.Unsafe<number>({ type: 'integer', enum: [...qualities] })),
  retain: optionalFlag('Whether the broker retains the message. Defaults to `false`.'),
  ...userProperties,
  ...tlsProperties,
};

function parseMqtt(sent: PropertyReader<keyof MqttProperties>): MqttProperties {
  return {
    uri: parseUri(sent, mqttPorts, 'without path'),
    protocolVersion: sent.oneOf('protocolVersion', protocolVersions, 'V5'),
    clientId: sent.text('clientId'),
    ...parseUser(sent),
    topic: sent.needed('topic'),
    // Quality 0 has no acknowledgement, so the outcome of a delivery would be unknown.
    qos: sent.number('qos', qualities, 1),
    retain: sent.flag('retain'),
    ...parseTls(sent),
  };
}

export const mqtt = connectorType({
  vendorName: null,
  propertiesKey: 'mqttProperties',
  properties: mqttProperties,
  secrets: ['password', 'clientKey'],
  parse: parseMqtt,
  check({ uri, topic }, checks) {
    checks.endpoint('uri', targetUri(uri, mqttPorts));
    checks.template('topic', topic);
  },
  open: (properties, { egress }) => createMqttTarget(properties, egress),
});

// A delivery succeeds when the broker acknowledges the message (QoS 1 or 2).

const keepAliveSeconds = 30;
const topicBytesMax = 65_535;

/**
 * Reason codes that a retry would receive again: credentials or client rejected, version or packet
 * not understood, topic not allowed. The small ones are those of version 3.1.1.
 */
const permanentCodes = new Set([
  1, 2, 4, 5, 0x81, 0x82, 0x84, 0x85, 0x86, 0x87, 0x8a, 0x8c, 0x90, 0x95, 0x99, 0x9a, 0x9b,
]);

function createMqttTarget(properties: MqttProperties, egress: EgressGuard): Target {
  const connection = new SharedConnection(clientKind(properties, egress));
  const topicOf = createTargetName(properties.topic);

  async function send(message: OutboundMessage, signal: AbortSignal): Promise<string> {
    const topic = topicOf(message.context);
    if (!isTopic(topic))
      throw new PermanentRefusal(`${JSON.stringify(topic)} is not a valid publish topic`);
    return connection.use(signal, (client) => publish(client, topic, message, properties));
  }

  return {
    send: (message, signal) => attempt(signal, () => send(message, signal), isPermanent),
    close: () => connection.close(),
  };
}

function isPermanent(error: unknown): boolean {
  return permanentCodes.has((error as { code?: number }).code ?? 0);
}

function isTopic(topic: string): boolean {
  return topic !== '' && !/[+#\0]/.test(topic) && Buffer.byteLength(topic) <= topicBytesMax;
}

async function publish(
  client: MqttClient,
  topic: string,
  { deliveryId, contentType, payload }: OutboundMessage,
  { qos, retain, protocolVersion }: MqttProperties,
): Promise<string> {
  const properties = { contentType, userProperties: { deliveryId } };
  const options = { qos, retain, ...(protocolVersion === 'V5' && { properties }) };
  await client.publishAsync(topic, payload, options);
  return `acknowledged with QoS ${qos} on topic ${topic}`;
}

function clientKind(properties: MqttProperties, egress: EgressGuard): ConnectionKind<MqttClient> {
  return {
    async open(lost, signal) {
      const uri = targetUri(properties.uri, mqttPorts);
      if (uri === undefined) throw new PermanentRefusal('the URI is not an MQTT URI');
      const tls = uri.scheme === 'mqtts' ? tlsMaterial(properties, uri.host) : undefined;
      const socket = await guardedSocket(egress, uri, tls, signal);
      const library = await import('mqtt');
      const client = new library.MqttClient(() => socket, clientOptions(properties));
      client.on('error', lost);
      client.on('close', () => lost(new Error('the broker closed the connection')));
      signal.addEventListener('abort', () => void client.end(true), { once: true });
      const connected = Promise.withResolvers<void>();
      client.once('connect', () => connected.resolve());
      client.connect();
      await connected.promise;
      return client;
    },
    close: (client) => client.endAsync(),
    destroy: (client) => void client.end(true),
  };
}

function clientOptions(properties: MqttProperties): IClientOptions {
  const { protocolVersion, clientId, username, password } = properties;
  return {
    protocolVersion: protocolVersion === 'V5' ? 5 : 4,
    ...(clientId !== null && { clientId }),
    ...(username !== null && { username }),
    ...(password !== null && { password }),
    clean: true,
    keepalive: keepAliveSeconds,
    // The next delivery replaces a lost connection, so that the egress guard checks each one.
    reconnectPeriod: 0,
    // The delivery worker retries what a lost connection carried. The client would send it twice.
    queueQoSZero: false,
    resubscribe: false,
    manualConnect: true,
  };
}
