// Nodes over HTTP: the conformance suite through a proxy that loses and doubles bytes, secrets and TLS.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { makeCertificate } from '../../../tests/servers/certificate.ts';
import { clusterSecretWeakness, clusterToken } from '../cluster-secret.ts';
import { type Fault, nodesMustBehave, type OfferedNode } from '../conformance/nodes.conformance.ts';
import { createHttpNodes } from './http-nodes.ts';
import { createInternalPort, type InternalPortParts } from './internal-port.ts';

const secret = 'a long and random secret of the tests 0123456789';
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function partsOf({ handlers, holds, serve }: OfferedNode): InternalPortParts {
  return {
    ...{ secret, handlers, holds, feeds: new Map() },
    ...{ refused: () => undefined, failed: () => undefined },
    serve(request, response) {
      const { method = '', url = '', rawHeaders: headers, socket } = request;
      const remoteAddress = socket.remoteAddress ?? '';
      const { signal } = new AbortController();
      const sent = { method, url, headers, body: request, remoteAddress, lease: '', signal };
      void serve(sent).then(({ status, headers: answered, body }) => {
        response.writeHead(status, answered as Record<string, string>);
        if (body instanceof Readable) pipeline(body, response).catch(() => undefined);
        else response.end(body);
      });
    },
  };
}

async function openPort(parts: InternalPortParts): Promise<number> {
  const port = createInternalPort(parts);
  closers.push(() => port.close());
  return port.listen({ host: '127.0.0.1', port: 0 });
}

/** Passes bytes on, and does to the requests of a connection what the next fault says. */
function startProxy(target: number, faults: Fault[]): Server {
  const server = createServer((client) => {
    client.on('error', () => undefined);
    let fault: Fault | undefined;
    const upstream = open(target, client);
    upstream.on('data', (bytes) => {
      if (fault === 'answerLost') client.destroy();
      else client.write(bytes);
    });
    client.on('data', (bytes) => {
      fault = faults.shift();
      if (fault === 'requestLost') return void client.destroy();
      if (fault === 'doubled') {
        const second = open(target, client);
        second.write(bytes);
        second.on('data', () => second.destroy());
      }
      upstream.write(bytes);
    });
  });
  closers.push(() => server.close());
  return server.listen(0, '127.0.0.1');
}

function open(target: number, client: Socket): Socket {
  const upstream = connect(target, '127.0.0.1');
  upstream.on('error', () => client.destroy());
  upstream.on('close', () => client.destroy());
  client.on('close', () => upstream.destroy());
  closers.push(() => client.destroy());
  return upstream;
}

describe('over sockets', () => {
  nodesMustBehave(async (offered) => {
    const faults: Fault[] = [];
    const proxy = startProxy(await openPort(partsOf(offered)), faults);
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    const nodes = createHttpNodes({ id: 'a', secret });
    closers.push(() => nodes.close());
    return {
      nodes,
      to: { id: 'b', url: `http://127.0.0.1:${port}` },
      fail: (...next) => void faults.push(...next),
      async disconnect() {
        proxy.close();
        await once(proxy, 'close');
      },
    };
  });
});

const offered: OfferedNode = {
  handlers: new Map([['echo', async (request) => request]]),
  holds: () => true,
  serve: async () => ({ status: 200, headers: {}, body: Buffer.from('served') }),
};

test.each([
  ['none', {}],
  ['a wrong one', { 'heliograph-node-token': clusterToken(`${secret}.`) }],
  ['the secret itself', { 'heliograph-node-token': secret }],
])('a request with %s in place of the token is refused and reported', async (_, token) => {
  const refused: string[] = [];
  const port = await openPort({ ...partsOf(offered), refused: (from) => void refused.push(from) });
  for (const path of ['/node/calls/echo', '/v3/devices']) {
    const headers = { ...token, 'heliograph-lease': 'devices/1' };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
    expect(answer.status).toBe(401);
  }
  expect(refused).toEqual(['127.0.0.1', '127.0.0.1']);
});

test('a call that is too long is refused', async () => {
  const port = await openPort(partsOf(offered));
  const nodes = createHttpNodes({ id: 'a', secret });
  closers.push(() => nodes.close());
  const to = { id: 'b', url: `http://127.0.0.1:${port}` };
  await expect(nodes.call(to, 'echo', 'x'.repeat(9_000_000))).rejects.toThrow();
  expect(await nodes.call(to, 'echo', 'short')).toBe('short');
});

test('with a certificate, nodes speak TLS and verify it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nodes-'));
  closers.push(() => rmSync(folder, { recursive: true }));
  const { cert, key } = makeCertificate(folder);
  const port = await openPort({ ...partsOf(offered), tls: { cert, key } });
  const to = { id: 'b', url: `https://localhost:${port}` };
  const trusting = createHttpNodes({ id: 'a', secret, ca: cert });
  const strict = createHttpNodes({ id: 'a', secret });
  closers.push(
    () => trusting.close(),
    () => strict.close(),
  );
  expect(await trusting.call(to, 'echo', 'over TLS')).toBe('over TLS');
  await expect(strict.call(to, 'echo', 'x')).rejects.toThrow(/does not answer/);
});

test.each([
  ['short', /has 5 characters/],
  ['ab'.repeat(40), /repeats few characters/],
  ['0f8b6c5d4e3a29187f6e5d4c3b2a1908', undefined],
])('the secret %s', (given, weakness) => {
  const found = clusterSecretWeakness(given);
  if (weakness === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(weakness);
});
