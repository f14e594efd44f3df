// Output to an MQTT broker: one message a delivery, delivered once the broker acknowledged it (QoS 1 or 2).
import type { MqttClient } from 'mqtt';
import { mqttPorts, targetUri } from '../target-address.ts';
import type { MqttProperties } from '../../model/target-properties.ts';
import type { EgressGuard } from '../../egress/guard.ts';
import { parseTemplate } from '../../templates/template.ts';
import type { OutboundConnector, OutboundMessage } from '../target.ts';
import { checkTarget, guardedSocket, tlsMaterial } from '../guarded-socket.ts';
import { type ConnectionKind, keptConnection } from '../shared-connection.ts';
import { attempt, PermanentRefusal } from '../send-failure.ts';
import { targetName } from '../target-name.ts';

const keepAliveSeconds = 30;
const topicBytesMax = 65_535;

/**
 * Reason codes that another try would meet again: credentials or client refused, version or packet not understood, topic not
 * allowed. The small ones are those of version 3.1.1.
 */
const permanentCodes = new Set([
  1, 2, 4, 5, 0x81, 0x82, 0x84, 0x85, 0x86, 0x87, 0x8a, 0x8c, 0x90, 0x95, 0x99, 0x9a, 0x9b,
]);

export const mqttConnector: OutboundConnector = {
  type: 'MQTT',
  check(properties, egress) {
    const { uri, topic } = properties as unknown as MqttProperties;
    checkTarget(egress, targetUri(uri, mqttPorts), 'mqttProperties.uri');
    parseTemplate(topic, 'text', 'body mqttProperties.topic');
  },
  open(properties, egress) {
    const settings = properties as unknown as MqttProperties;
    const connection = keptConnection(clientKind(settings, egress));
    const topicOf = targetName(settings.topic);
    return {
      send(message, signal) {
        return attempt(
          signal,
          async () => {
            const topic = topicOf(message.context);
            if (!isTopic(topic))
              throw new PermanentRefusal(`${JSON.stringify(topic)} is not a topic to publish to`);
            return connection.use(signal, (client) => publish(client, topic, message, settings));
          },
          (error) => permanentCodes.has((error as { code?: number }).code ?? 0),
        );
      },
      close: () => connection.close(),
    };
  },
};

function isTopic(topic: string): boolean {
  return topic !== '' && !/[+#\0]/.test(topic) && Buffer.byteLength(topic) <= topicBytesMax;
}

async function publish(
  client: MqttClient,
  topic: string,
  message: OutboundMessage,
  settings: MqttProperties,
): Promise<string> {
  const { qos, retain, protocolVersion } = settings;
  const properties = {
    contentType: message.contentType,
    userProperties: { deliveryId: message.deliveryId },
  };
  await client.publishAsync(topic, message.payload, {
    qos,
    retain,
    ...(protocolVersion === 'V5' ? { properties } : {}),
  });
  return `acknowledged with QoS ${qos} on topic ${topic}`;
}

function clientKind(settings: MqttProperties, egress: EgressGuard): ConnectionKind<MqttClient> {
  return {
    async open(lost, signal) {
      const { MqttClient: Client } = await import('mqtt');
      const uri = targetUri(settings.uri, mqttPorts);
      if (uri === undefined) throw new PermanentRefusal('the URI is not one of an MQTT broker');
      const tls = uri.scheme === 'mqtts' ? tlsMaterial(settings, uri.host) : undefined;
      const socket = await guardedSocket(egress, uri, tls, signal);
      const client = new Client(() => socket, {
        protocolVersion: settings.protocolVersion === 'V5' ? 5 : 4,
        ...(settings.clientId === null ? {} : { clientId: settings.clientId }),
        ...(settings.username === null ? {} : { username: settings.username }),
        ...(settings.password === null ? {} : { password: settings.password }),
        clean: true,
        keepalive: keepAliveSeconds,
        // A lost connection is opened anew by the next delivery, so that each one is checked by the guard.
        reconnectPeriod: 0,
        // Deliveries of a lost connection are tried again as such; kept by the client too they would be sent twice.
        queueQoSZero: false,
        resubscribe: false,
        manualConnect: true,
      });
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
    abandon: (client) => void client.end(true),
  };
}
