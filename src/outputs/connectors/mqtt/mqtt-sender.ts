// Sender to an MQTT broker: one message per delivery. Delivered once the broker acknowledged it (QoS 1 or 2).
import { type IClientOptions, MqttClient } from 'mqtt';
import type { EgressGuard } from '../../egress/guard.ts';
import { guardedSocket, tlsMaterial } from '../guarded-socket.ts';
import { attempt, PermanentRefusal } from '../send-failure.ts';
import { type ConnectionKind, SharedConnection } from '../shared-connection.ts';
import { createTargetName, type OutboundMessage, type Target } from '../target.ts';
import { targetUri } from '../target-uri.ts';
import { mqttPorts, type MqttProperties } from './mqtt-properties.ts';

const keepAliveSeconds = 30;
const topicBytesMax = 65_535;

/**
 * Reason codes that a retry would receive again: credentials or client rejected, version or packet
 * not understood, topic not allowed. The small ones are those of version 3.1.1.
 */
const permanentCodes = new Set([
  1, 2, 4, 5, 0x81, 0x82, 0x84, 0x85, 0x86, 0x87, 0x8a, 0x8c, 0x90, 0x95, 0x99, 0x9a, 0x9b,
]);

export function createMqttTarget(properties: MqttProperties, egress: EgressGuard): Target {
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
      const client = new MqttClient(() => socket, clientOptions(properties));
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
