// The MQTT output against Mosquitto: acknowledged publishes over TCP and TLS, refusals, lost connections.
import { connectAsync, type MqttClient } from 'mqtt';
import { afterEach, expect, test } from 'vitest';
import { mqtt, type MqttProperties } from './mqtt.ts';
import { mosquitto, startMosquitto } from '../../../../tests/servers/mosquitto.ts';
import { describeWith, startedBefore } from '../../../../tests/servers/server-tests.ts';
import { closeTargets, message, targetOf, trySend } from '../testing-targets.ts';
import { bearsBadServers } from '../../../../tests/connectors/unreachable.ts';

const plain = {
  uri: 'mqtt://127.0.0.1',
  protocolVersion: 'V5',
  clientId: null,
  username: null,
  password: null,
  topic: 'out/{{deviceId}}',
  qos: 1,
  retain: false,
  caCertificate: null,
  clientCertificate: null,
  clientKey: null,
} satisfies MqttProperties;

afterEach(closeTargets);

describeWith(mosquitto, 'output to MQTT', () => {
  const broker = startedBefore(startMosquitto);
  const properties = (over: Partial<MqttProperties> = {}): MqttProperties => {
    const { port, username, password } = broker();
    return { ...plain, uri: `mqtt://127.0.0.1:${port}`, username, password, ...over };
  };

  for (const protocolVersion of ['V3_1_1', 'V5'] as const) {
    for (const qos of [1, 2] as const) {
      test(`a message is published with QoS ${qos} and version ${protocolVersion}, topic by template`, async () => {
        const heard = await listen(broker(), 'out/#');
        const target = targetOf(mqtt, properties({ protocolVersion, qos }));
        expect(await trySend(target)).toEqual({
          ok: true,
          answer: `acknowledged with QoS ${qos} on topic out/physical-1`,
        });
        expect(await heard.next()).toEqual({ topic: 'out/physical-1', payload: message().payload });
        await heard.close();
      });
    }
  }

  test('over TLS the certificate must be of the given authority and name the host', async () => {
    const { tlsPort, caCertificate } = broker();
    const secured = { uri: `mqtts://localhost:${tlsPort}`, caCertificate };
    expect(await trySend(targetOf(mqtt, properties(secured)))).toMatchObject({ ok: true });
    const unknown = await trySend(targetOf(mqtt, properties({ ...secured, caCertificate: null })));
    expect(unknown).toMatchObject({
      ok: false,
      retry: true,
      reason: expect.stringContaining('self-signed certificate'),
    });
  });

  test('contract 35: refused credentials, a forbidden topic and an impossible one are not tried again', async () => {
    for (const [over, reason] of [
      [{ password: 'wrong' }, /not authorized/i],
      [{ password: 'wrong', protocolVersion: 'V3_1_1' }, /not authorized/i],
      [{ topic: 'in/{{deviceId}}' }, /not authorized/i],
      [{ topic: 'out/{{data.label}}/#' }, /not a valid publish topic/],
      [{ topic: '{{data.missing}}' }, /not a valid publish topic/],
    ] as const) {
      const outcome = await trySend(targetOf(mqtt, properties(over)));
      expect(outcome).toEqual({ ok: false, retry: false, reason: expect.stringMatching(reason) });
    }
  });

  test('one connection serves concurrent deliveries of several devices', async () => {
    const target = targetOf(mqtt, properties());
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, i) => trySend(target, message(`delivery-${i}`))),
    );
    expect(outcomes.every((outcome) => outcome.ok)).toBe(true);
  });

  bearsBadServers(
    (port) => targetOf(mqtt, properties({ uri: `mqtt://127.0.0.1:${port}` })),
    () => broker().port,
  );
});

async function listen(
  { port, username, password }: { port: number; username: string; password: string },
  topic: string,
) {
  const client: MqttClient = await connectAsync(`mqtt://127.0.0.1:${port}`, { username, password });
  const heard: { topic: string; payload: string }[] = [];
  const waiting: (() => void)[] = [];
  client.on('message', (on, payload) => {
    heard.push({ topic: on, payload: payload.toString() });
    waiting.shift()?.();
  });
  await client.subscribeAsync(topic, { qos: 1 });
  return {
    async next() {
      if (heard.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
      return heard.shift();
    },
    close: () => client.endAsync(),
  };
}
