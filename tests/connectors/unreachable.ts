// Unreachable targets: no listener, a silent server, a disconnect, or a stop half-way, for every connector with a socket.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { freePort } from '../../bench/load/server-process.ts';
import type { Target } from '../../src/outputs/connectors/target.ts';
import { message, trySend } from '../../src/outputs/connectors/testing-targets.ts';

/**
 * Declares the tests; `targetAt` makes a target whose server is at the loopback port, `goodPort`
 * has a server that takes it. `relayed` hears at which port that server is met.
 */
export function bearsBadServers(
  targetAt: (port: number) => Target,
  goodPort: () => number,
  relayed: (port: number) => void = () => undefined,
): void {
  test('contract 35: without a listener the delivery is retried', async () => {
    const outcome = await trySend(targetAt(await freePort()));
    expect(outcome).toMatchObject({
      ok: false,
      retry: true,
      reason: expect.stringMatching(/refused/i),
    });
  });

  test('contract 35: a server that says nothing is left after the time limit, and tried again', async () => {
    const silent = await serverThat(() => undefined);
    const target = targetAt(silent.port);
    const outcome = await trySend(target, message(), 150);
    expect(outcome).toMatchObject({
      ok: false,
      retry: true,
      reason: expect.stringContaining('timed out'),
    });
    await target.close();
    await silent.untilLeft();
    await silent.close();
  });

  test('contract 35: a server that disconnects immediately is retried', async () => {
    const rude = await serverThat((socket) => socket.destroy());
    expect(await trySend(targetAt(rude.port), message(), 5_000)).toMatchObject({
      ok: false,
      retry: true,
    });
    await rude.close();
  });

  test('a connection that was cut, or that stopped half-way, is opened again for the next delivery', async () => {
    const relay = await relayTo(goodPort());
    relayed(relay.port);
    const target = targetAt(relay.port);
    expect(await trySend(target, message('before'))).toMatchObject({ ok: true });
    relay.hold();
    const held = await trySend(target, message('held'), 300);
    expect(held).toMatchObject({
      ok: false,
      retry: true,
      reason: expect.stringContaining('timed out'),
    });
    relay.release();
    expect(await trySend(target, message('held'))).toMatchObject({ ok: true });
    relay.cut();
    let outcome = await trySend(target, message('after'));
    // The cut may be noticed only by this delivery; then it is the next one that must arrive.
    if (!outcome.ok) outcome = await trySend(target, message('after'));
    expect(outcome).toMatchObject({ ok: true });
    await target.close();
    await relay.close();
  });
}

/** A server whose connections are served by `serves`; what they send is read and dropped. */
export async function serverThat(serves: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.resume();
    serves(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: address.port,
    cut,
    /** Resolves when no connection is left open by the other side. */
    async untilLeft() {
      await Promise.all([...sockets].map((socket) => once(socket, 'close')));
    },
    async close() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A relay to a loopback port whose connections can be held or cut. */
async function relayTo(port: number) {
  let held = false;
  const server = await serverThat((socket) => {
    const onward = connect(port, '127.0.0.1');
    onward.on('error', () => undefined);
    onward.on('data', (chunk) => void (held || socket.write(chunk)));
    socket.on('data', (chunk) => void (held || onward.write(chunk)));
    onward.on('close', () => socket.destroy());
    socket.on('close', () => onward.destroy());
  });
  return {
    ...server,
    /** What either side sends gets lost from now on. */
    hold() {
      held = true;
    },
    release() {
      held = false;
    },
  };
}
