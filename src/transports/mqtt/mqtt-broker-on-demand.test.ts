// MQTT broker on demand: opened once, by the first connection.
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { MqttBroker } from './mqtt-broker.ts';
import { MqttBrokerOnDemand } from './mqtt-broker-on-demand.ts';

function opening() {
  const ready = Promise.withResolvers<MqttBroker>();
  const accepted: string[] = [];
  const failures: unknown[] = [];
  let opens = 0;
  const broker = {
    accept: (_conn: unknown, address: string) => void accepted.push(address),
    close: async () => void accepted.push('closed'),
  } as unknown as MqttBroker;
  const onDemand = new MqttBrokerOnDemand(
    () => {
      opens += 1;
      return ready.promise;
    },
    (error) => failures.push(error),
  );
  return { onDemand, ready, broker, accepted, failures, opens: () => opens };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('connections that come while the broker opens are handed over in order', async () => {
  const { onDemand, ready, broker, accepted, opens } = opening();
  expect(opens()).toBe(0);
  onDemand.accept(new PassThrough(), 'a');
  onDemand.accept(new PassThrough(), 'b');
  expect([opens(), accepted, onDemand.opened()]).toEqual([1, [], undefined]);
  ready.resolve(broker);
  await settled();
  onDemand.accept(new PassThrough(), 'c');
  await onDemand.close();
  expect([opens(), accepted]).toEqual([1, ['a', 'b', 'c', 'closed']]);
  expect(onDemand.opened()).toBe(broker);
});

test('a broker that cannot be opened: the connection is destroyed, and the failure is reported', async () => {
  const { onDemand, ready, failures } = opening();
  const conn = new PassThrough();
  onDemand.accept(conn, 'a');
  ready.reject(new Error('no memory'));
  await settled();
  expect([conn.destroyed, failures.map(String)]).toEqual([true, ['Error: no memory']]);
  await onDemand.close();
});
