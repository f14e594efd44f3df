// Links over WebSocket: the conformance suite through a proxy that cuts and stops, and connections without the secret.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import WebSocket from 'ws';
import { linksMustBehave } from '../conformance/links.conformance.ts';
import type { FeedHandlers } from '../links/links.ts';
import { emptyDigest, NodeSigner } from '../cluster-secret.ts';
import { InternalPort } from './internal-port.ts';
import { createWebSocketLinks } from './web-socket-links.ts';

const secret = 'a long and random secret of the tests 0123456789';
const closers: (() => unknown)[] = [];
const refusals: string[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function portOf(feeds: FeedHandlers) {
  const port = new InternalPort({
    id: 'b',
    secret,
    feeds,
    handlers: new Map(),
    servesMqtt: () => true,
    acceptMqtt: (socket) => void socket.destroy(),
    holds: () => true,
    failed: () => undefined,
    serve: (_, response) => void response.end(),
    refused: (address) => void refusals.push(address),
  });
  closers.push(() => port.close());
  return port;
}

async function startProxy(target: number) {
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    upstream.pipe(client).pipe(upstream);
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  function cut() {
    for (const socket of sockets) socket.destroy();
  }
  closers.push(() => {
    cut();
    proxy.close();
  });
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut,
    stop() {
      for (const socket of sockets) socket.unpipe().pause();
    },
  };
}

linksMustBehave(async (feeds) => {
  const port = portOf(feeds);
  const proxy = await startProxy(await port.listen({ host: '127.0.0.1', port: 0 }));
  const links = createWebSocketLinks({ id: 'a', secret });
  closers.push(() => links.close());
  return { ...proxy, links, to: { id: 'b', url: proxy.url }, disconnect: () => port.close() };
});

function signed(path: string, to: string, run = ''): string {
  const signer = new NodeSigner(secret, Date.now);
  signer.meet(to, run);
  const asked = { method: 'GET', path, from: 'a', to, about: '' };
  return signer.sign({ ...asked, digest: emptyDigest });
}
const headersOf = (signature: string) => ({
  'heliograph-node': 'a',
  'heliograph-node-signature': signature,
});

test.each<[string, string, (run: string) => object]>([
  ['without a signature', '/node/links', () => ({})],
  ['with the secret itself', '/node/links', () => headersOf(secret)],
  ['signed for another path', '/node/links', (run) => headersOf(signed('/node/link', 'b', run))],
  ['signed for another node', '/node/links', (run) => headersOf(signed('/node/links', 'c', run))],
  ['to another path', '/v3/streams', (run) => headersOf(signed('/v3/streams', 'b', run))],
])('a connection %s is refused and reported', async (_, path, headers) => {
  const port = await portOf(new Map()).listen({ host: '127.0.0.1', port: 0 });
  const url = `127.0.0.1:${port}${path}`;
  const told = await fetch(`http://${url}`, { headers: headersOf(signed(path, 'b')) });
  const run = told.headers.get('heliograph-node-run') ?? '';
  expect([run === '', refusals]).toEqual([false, []]);
  const socket = new WebSocket(`ws://${url}`, { headers: { ...headers(run) } });
  const [error] = (await once(socket, 'error')) as [Error];
  expect(error.message).toContain('401');
  expect(refusals.pop()).toBe('127.0.0.1');
});
