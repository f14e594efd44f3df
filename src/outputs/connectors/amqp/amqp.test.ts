// The AMQP output against RabbitMQ: confirmed publishes over TCP and TLS, refusals, messages without a queue.
import { connect } from 'amqplib';
import { afterEach, expect, test } from 'vitest';
import { amqp, type AmqpProperties } from './amqp.ts';
import { rabbitmq, startRabbitMq } from '../../../../tests/servers/rabbitmq.ts';
import { describeWith, startedBefore } from '../../../../tests/servers/server-tests.ts';
import { closeTargets, message, targetOf, trySend } from '../testing-targets.ts';
import { bearsBadServers } from '../../../../tests/connectors/unreachable.ts';

const plain = {
  uri: 'amqp://127.0.0.1',
  username: null,
  password: null,
  exchange: '',
  routingKey: 'samples',
  persistent: true,
  mandatory: true,
  caCertificate: null,
  clientCertificate: null,
  clientKey: null,
} satisfies AmqpProperties;

afterEach(closeTargets);

describeWith(rabbitmq, 'output to AMQP', () => {
  const broker = startedBefore(startRabbitMq);
  const properties = (over: Partial<AmqpProperties> = {}): AmqpProperties => ({
    ...plain,
    uri: `amqp://127.0.0.1:${broker().port}`,
    ...over,
  });
  const withChannel = async <T>(
    work: (channel: Awaited<ReturnType<typeof openChannel>>['channel']) => Promise<T>,
  ) => {
    const { model, channel } = await openChannel(broker().port);
    try {
      return await work(channel);
    } finally {
      await model.close();
    }
  };

  test('a message is confirmed and persistent in its queue, with its delivery id', async () => {
    await withChannel((channel) => channel.assertQueue('samples'));
    expect(await trySend(targetOf(amqp, properties()))).toEqual({
      ok: true,
      answer: 'confirmed by the broker (routing key samples)',
    });
    const got = await withChannel((channel) => channel.get('samples', { noAck: true }));
    if (got === false) throw new Error('the queue is empty');
    expect(got.content.toString()).toBe(message().payload);
    const { messageId, contentType, deliveryMode } = got.properties;
    expect({ messageId, contentType, deliveryMode }).toEqual({
      messageId: 'delivery-1',
      contentType: 'application/json',
      deliveryMode: 2,
    });
  });

  test('the routing key is a template', async () => {
    await withChannel(async (channel) => {
      await channel.assertExchange('outputs', 'topic');
      await channel.assertQueue('physical');
      await channel.bindQueue('physical', 'outputs', 'device.physical-1.#');
    });
    const target = targetOf(
      amqp,
      properties({ exchange: 'outputs', routingKey: 'device.{{deviceId}}.{{topic}}' }),
    );
    expect(await trySend(target)).toMatchObject({ ok: true });
    expect(await withChannel((channel) => channel.get('physical', { noAck: true }))).toMatchObject({
      fields: { routingKey: 'device.physical-1.default' },
    });
  });

  test('contract 35: a message that no queue takes is tried again, unless that is allowed', async () => {
    const unbound = properties({ routingKey: 'nobody' });
    expect(await trySend(targetOf(amqp, unbound))).toMatchObject({
      ok: false,
      retry: true,
    });
    expect(await trySend(targetOf(amqp, { ...unbound, mandatory: false }))).toMatchObject({
      ok: true,
    });
  });

  test('contract 35: an unknown virtual host is tried again, because a stopped one is answered alike', async () => {
    const unknown = properties({ uri: `amqp://127.0.0.1:${broker().port}/unknown` });
    expect(await trySend(targetOf(amqp, unknown))).toEqual({
      ok: false,
      retry: true,
      reason: expect.stringContaining('the broker refused virtual host unknown'),
    });
  });

  test('contract 35: refused credentials, an unknown exchange and a long routing key are not tried again', async () => {
    for (const [over, reason] of [
      [{ username: 'guest', password: 'wrong' }, /ACCESS.REFUSED/],
      [{ exchange: 'unknown' }, /NOT.FOUND/],
      [{ routingKey: 'x'.repeat(256) }, /routing key/],
    ] as const) {
      const outcome = await trySend(targetOf(amqp, properties(over)));
      expect(outcome, JSON.stringify(over)).toEqual({
        ok: false,
        retry: false,
        reason: expect.stringMatching(reason),
      });
    }
  });

  test('over TLS the certificate must be of the given authority', async () => {
    await withChannel((channel) => channel.assertQueue('samples'));
    const { tlsPort, caCertificate } = broker();
    const secured = properties({ uri: `amqps://localhost:${tlsPort}`, caCertificate });
    expect(await trySend(targetOf(amqp, secured))).toMatchObject({ ok: true });
    const unknown = await trySend(targetOf(amqp, { ...secured, caCertificate: null }));
    expect(unknown).toMatchObject({
      ok: false,
      retry: true,
      reason: expect.stringContaining('self-signed'),
    });
  });

  bearsBadServers(
    (port) => targetOf(amqp, properties({ uri: `amqp://127.0.0.1:${port}`, mandatory: false })),
    () => broker().port,
  );
});

async function openChannel(port: number) {
  const model = await connect(`amqp://127.0.0.1:${port}`);
  return { model, channel: await model.createChannel() };
}
