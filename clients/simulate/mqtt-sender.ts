// Simulated devices over MQTT: a connection each, signed in with the uplink secret, publishing with QoS 1.
import { connectAsync, type MqttClient } from 'mqtt';
import type { Sender } from './simulation.ts';
import type { SenderTarget } from './sender-target.ts';

/** Maximum number of connections that are being opened. */
const lanes = 50;
const connectTimeoutMs = 30_000;

export async function mqttSender(target: SenderTarget): Promise<Sender> {
  const clients = new Map<string, MqttClient>();
  const left = [...target.devices];
  const connectNext = async (): Promise<void> => {
    for (let device = left.pop(); device !== undefined; device = left.pop()) {
      clients.set(device.deviceId, await connected(target, device.deviceId));
    }
  };
  const close = async (): Promise<void> => {
    await Promise.all([...clients.values()].map((client) => client.endAsync(true)));
  };
  try {
    await Promise.all(Array.from({ length: Math.min(lanes, left.length) }, connectNext));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async send({ deviceId }, payload) {
      await clients
        .get(deviceId)!
        .publishAsync(`/up/${target.uplinkSecret}/id/${deviceId}`, payload, { qos: 1 });
    },
    close,
  };
}

async function connected(
  { host, port, tls, connectorId, uplinkSecret }: SenderTarget,
  clientId: string,
): Promise<MqttClient> {
  const client = await connectAsync(`${tls ? 'mqtts' : 'mqtt'}://${host}:${port}`, {
    clientId,
    username: connectorId,
    password: uplinkSecret,
    connectTimeout: connectTimeoutMs,
    clean: true,
  });
  // The client reconnects; without a listener, an error of the connection would end the program.
  client.on('error', () => undefined);
  return client;
}
