// The NATS output against a real server: publishes that were read, JetStream, refusals, TLS, lost connections.
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterEach, expect, test } from 'vitest';
import { nats, type NatsProperties } from './nats.ts';
import { natsServer, startNatsServer } from '../../../../tests/servers/nats-server.ts';
import { describeWith, startedBefore } from '../../../../tests/servers/server-tests.ts';
import { closeTargets, message, targetOf, trySend } from '../testing-targets.ts';
import { bearsBadServers } from '../../../../tests/connectors/unreachable.ts';

const plain = {
  uri: 'nats://127.0.0.1',
  username: null,
  password: null,
  token: null,
  credentials: null,
  subject: 'out.{{deviceId}}',
  jetStream: false,
  caCertificate: null,
  clientCertificate: null,
  clientKey: null,
} satisfies NatsProperties;

afterEach(closeTargets);

describeWith(natsServer, 'output to NATS', () => {
  const server = startedBefore((folder) => startNatsServer(folder));
  const properties = (over: Partial<NatsProperties> = {}): NatsProperties => {
    const { port, username, password } = server();
    return { ...plain, uri: `nats://127.0.0.1:${port}`, username, password, ...over };
  };
  const asUser = (): Promise<NatsConnection> => {
    const { port, username, password } = server();
    return connect({ servers: `127.0.0.1:${port}`, user: username, pass: password });
  };

  test('a message is published, subject by template, with its delivery id', async () => {
    const user = await asUser();
    const heard = user.subscribe('out.*', { max: 1 });
    await user.flush();
    expect(await trySend(targetOf(nats, properties()))).toEqual({
      ok: true,
      answer: 'received by the server on subject out.physical-1',
    });
    for await (const { subject, headers, string } of asTexts(heard)) {
      expect({ subject, id: headers?.get('Nats-Msg-Id'), text: string }).toEqual({
        subject: 'out.physical-1',
        id: 'delivery-1',
        text: message().payload,
      });
    }
    await user.close();
  });

  test('with JetStream a delivery counts once stored, and repeated tries are stored once', async () => {
    const user = await asUser();
    const manager = await jetstreamManager(user);
    await manager.streams.add({ name: 'samples', subjects: ['out.stored.>'] });
    const target = targetOf(nats, properties({ subject: 'out.stored.{{topic}}', jetStream: true }));
    expect(await trySend(target)).toEqual({ ok: true, answer: 'stored by stream samples as 1' });
    expect(await trySend(target)).toEqual({
      ok: true,
      answer: 'stored by stream samples as 1, again',
    });
    expect((await manager.streams.info('samples')).state.messages).toBe(1);
    const stored = await (await jetstream(user).streams.get('samples')).getMessage({ seq: 1 });
    expect(stored?.string()).toBe(message().payload);
    await user.close();
  });

  test('contract 35: without a stream the delivery is tried again', async () => {
    const target = targetOf(nats, properties({ subject: 'out.nowhere', jetStream: true }));
    expect(await trySend(target)).toMatchObject({ ok: false, retry: true });
  });

  test('contract 35: refused credentials and subjects, and messages that are too big, are not tried again', async () => {
    for (const [over, reason] of [
      [{ password: 'wrong' }, /authorization/i],
      [{ subject: 'in.{{deviceId}}' }, /not authorized/],
      [{ subject: 'in.{{deviceId}}', jetStream: true }, /not authorized/],
      [{ subject: 'out.{{data.label}}' }, /not a valid subject/],
      [{ subject: 'out.{{data.missing}}' }, /not a valid subject/],
    ] as const) {
      const outcome = await trySend(targetOf(nats, properties(over)));
      expect(outcome, JSON.stringify(over)).toEqual({
        ok: false,
        retry: false,
        reason: expect.stringMatching(reason),
      });
    }
    const big = await trySend(targetOf(nats, properties()), {
      ...message(),
      payload: 'x'.repeat(200_000),
    });
    expect(big).toMatchObject({ ok: false, retry: false });
  });

  bearsBadServers(
    (port) => targetOf(nats, properties({ uri: `nats://127.0.0.1:${port}` })),
    () => server().port,
  );
});

describeWith(natsServer, 'output to NATS over TLS', () => {
  const server = startedBefore((folder) => startNatsServer(folder, true));

  test('the certificate must be of the given authority, and nothing is sent without TLS', async () => {
    const { port, username, password, caCertificate } = server();
    const secured = { ...plain, uri: `tls://localhost:${port}`, username, password, caCertificate };
    expect(await trySend(targetOf(nats, secured))).toMatchObject({ ok: true });
    const unknown = await trySend(targetOf(nats, { ...secured, caCertificate: null }));
    expect(unknown).toMatchObject({
      ok: false,
      retry: true,
      reason: expect.stringContaining('self-signed'),
    });
    const open = await trySend(targetOf(nats, { ...secured, uri: `nats://localhost:${port}` }));
    expect(open).toMatchObject({ ok: false, reason: expect.stringContaining('TLS') });
  });
});

async function* asTexts(messages: ReturnType<NatsConnection['subscribe']>) {
  for await (const each of messages)
    yield { subject: each.subject, headers: each.headers, string: each.string() };
}
