// Nodes over HTTP: the conformance suite through a proxy that loses and doubles bytes, secrets and TLS.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { makeCertificate } from '../../../../tests/servers/certificate.ts';
import { clusterSecretWeakness, digestOf, NodeSigner, signatureLimits } from '../cluster-secret.ts';
import { type Fault, describeNodes, type OfferedNode } from '../conformance/nodes.conformance.ts';
import { mqttPath, mqttSocketPath, NodeUnreachable } from '../nodes.ts';
import { createConnectionDialer } from './dialed-connections.ts';
import { createHttpNodes } from './http-nodes.ts';
import { InternalPort, type InternalPortParts } from './internal-port.ts';

const secret = 'a long and random secret of the tests 0123456789';
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function partsOf({ handlers, holds, serve }: OfferedNode): InternalPortParts {
  return {
    id: 'b',
    secret,
    handlers,
    holds,
    feeds: new Map(),
    servesMqtt: () => true,
    acceptMqtt: (socket) => void socket.destroy(),
    refused: () => undefined,
    failed: () => undefined,
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
  const port = new InternalPort(parts);
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
  describeNodes(async (offered) => {
    const faults: Fault[] = [];
    const target = await openPort(partsOf(offered));
    const proxy = startProxy(target, faults);
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    const nodes = createHttpNodes({ id: 'a', secret });
    closers.push(() => nodes.close());
    // Faults hit what is sent afterwards.
    await nodes.call({ id: 'b', url: `http://127.0.0.1:${target}` }, 'meet', null);
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

const readAll: OfferedNode['serve'] = async ({ body }) => {
  if (body instanceof Readable) for await (const chunk of body) void chunk;
  return { status: 200, headers: {}, body: Buffer.from('read') };
};

const base = Date.now();
const call = {
  method: 'POST',
  path: '/node/calls/echo',
  from: 'a',
  to: 'b',
  about: 'id-1',
  digest: digestOf('"x"'),
};
const signedBy = (key: string, now = base) => new NodeSigner(key, () => now);
const sendCall = (
  port: number,
  signature: string,
  changed: Partial<typeof call> = {},
  body = '"x"',
) => {
  const { method, path, from, about } = { ...call, ...changed };
  const headers = {
    'heliograph-node': from,
    'heliograph-call': about,
    'heliograph-node-signature': signature,
  };
  return fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body });
};

/** A signer that knows the run of the port. */
async function metBy(port: number, key = secret): Promise<NodeSigner> {
  const signer = signedBy(key);
  const { headers } = await sendCall(port, signer.sign(call));
  signer.meet(call.to, headers.get('heliograph-node-run') ?? '');
  return signer;
}

async function portAt(now: () => number): Promise<{ port: number; refused: string[] }> {
  const refused: string[] = [];
  const report = (_: string, reason: string) => void refused.push(reason);
  return { refused, port: await openPort({ ...partsOf(offered), now, refused: report }) };
}

describe('security 6: calls of nodes are signed', () => {
  test.each<[string, string, Partial<typeof call>]>([
    ['no signature', '', {}],
    ['the secret itself', secret, {}],
    ['a signature of another secret', signedBy(`${secret}.`).sign(call), {}],
    ['another path', signedBy(secret).sign(call), { path: '/node/calls/other' }],
    ['another method', signedBy(secret).sign(call), { method: 'PUT' }],
    ['another sender', signedBy(secret).sign(call), { from: 'c' }],
    ['another call', signedBy(secret).sign(call), { about: 'id-2' }],
    ['another receiver', signedBy(secret).sign({ ...call, to: 'c' }), {}],
  ])('with %s it is refused and reported', async (_, signature, changed) => {
    const { port, refused } = await portAt(() => base);
    expect((await sendCall(port, signature, changed)).status).toBe(401);
    expect(refused).toEqual(['wrong signature']);
  });

  test('another body is refused', async () => {
    const { port } = await portAt(() => base);
    const answer = await sendCall(port, (await metBy(port)).sign(call), {}, '"y"');
    expect([answer.status, await answer.text()]).toEqual([401, 'wrong body']);
  });

  test('it is accepted once', async () => {
    let now = base;
    const { port, refused } = await portAt(() => now);
    const signer = await metBy(port);
    const signatures = Array.from({ length: 5 }, () => signer.sign(call));
    // They overtake each other.
    for (const at of [3, 0, 4, 1]) expect((await sendCall(port, signatures[at]!)).status).toBe(200);
    for (const at of [0, 1, 3, 4]) {
      const again = await sendCall(port, signatures[at]!);
      expect([again.status, await again.text()]).toEqual([401, 'received before']);
    }
    expect((await sendCall(port, signatures[2]!)).status).toBe(200);
    now += 2 * signatureLimits.clockMsMax;
    const late = await sendCall(port, signer.sign(call));
    expect([late.status, await late.text()]).toEqual([401, 'clocks differ']);
    expect(refused.at(-1)).toBe('clocks differ');
  });

  test('a node that starts again accepts nothing of before', async () => {
    const { port: before } = await portAt(() => base);
    const signature = (await metBy(before)).sign(call);
    const { port, refused } = await portAt(() => base);
    expect(await (await sendCall(port, signature)).text()).toBe('another run');
    expect((await sendCall(before, signature)).status).toBe(200);
    expect(refused).toEqual([]);
  });

  test.each([-240_000, 0, 240_000])(
    'a node that starts again takes what a node sends whose clock is %d ms ahead',
    async (aheadMs) => {
      const handlers: OfferedNode = { ...offered, serve: readAll };
      let node = new InternalPort(partsOf(handlers));
      const port = await node.listen({ host: '127.0.0.1', port: 0 });
      closers.push(() => node.close());
      const nodes = createHttpNodes({ id: 'a', secret, now: () => Date.now() + aheadMs });
      closers.push(() => nodes.close());
      const to = { id: 'b', url: `http://127.0.0.1:${port}` };
      const sent = () => ({
        method: 'POST',
        url: '/v3/capture',
        headers: [],
        lease: 'workspaces/1',
        remoteAddress: '203.0.113.7',
        signal: new AbortController().signal,
      });
      for (let run = 0; run < 3; run++) {
        const body = Readable.from([Buffer.alloc(300_000, 'x'), Buffer.from('end')]);
        const answers = [
          await nodes.forward(to, { ...sent(), body }),
          await nodes.forward(to, { ...sent(), body: Buffer.from('short') }),
        ];
        expect(answers.map((one) => (one === 'notHeld' ? one : one.status))).toEqual([200, 200]);
        expect(await nodes.call(to, 'echo', run)).toBe(run);
        await node.close();
        node = new InternalPort(partsOf(handlers));
        await node.listen({ host: '127.0.0.1', port });
      }
      expect(await nodes.call(to, 'echo', 'again')).toBe('again');
      await node.close();
      node = new InternalPort(partsOf(handlers));
      await node.listen({ host: '127.0.0.1', port });
      const short = { ...sent(), body: Buffer.from('short') };
      expect(await nodes.forward(to, short)).toMatchObject({ status: 200 });
    },
  );

  test('numbers far behind the newest one are refused', async () => {
    const { port } = await portAt(() => base);
    const signer = await metBy(port);
    const first = signer.sign(call);
    for (let n = 0; n < signatureLimits.windowMax; n++) signer.sign(call);
    expect((await sendCall(port, signer.sign(call))).status).toBe(200);
    expect((await sendCall(port, first)).status).toBe(401);
  });

  test.each([
    ['small', Buffer.from('a body')],
    ['sent while it is read', Readable.from([Buffer.alloc(300_000, 'x'), Buffer.from('end')])],
  ])('a forwarded body that is %s breaks off if it was changed on its way', async (_, body) => {
    let received = 'nothing';
    const port = new InternalPort({
      ...partsOf(offered),
      serve(request, response) {
        request.on('data', () => undefined);
        request.on('end', () => (received = 'all'));
        request.on('error', (error) => (received = error.message));
        request.on('close', () => response.end());
      },
    });
    closers.push(() => port.close());
    const target = await port.listen({ host: '127.0.0.1', port: 0 });
    const proxy = createServer((client) => {
      const upstream = open(target, client);
      client.on('data', (bytes) => {
        const at = bytes.lastIndexOf(body instanceof Readable ? 'end' : 'a body');
        const changed = Buffer.from(bytes);
        if (at >= 0) changed[at] = 'E'.charCodeAt(0);
        upstream.write(changed);
      });
      upstream.on('data', (bytes) => client.write(bytes));
    });
    closers.push(() => proxy.close());
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const nodes = createHttpNodes({ id: 'a', secret });
    closers.push(() => nodes.close());
    const to = { id: 'b', url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
    const sent = {
      method: 'POST',
      url: '/v3/capture',
      headers: [],
      body,
      lease: 'workspaces/1',
      remoteAddress: '203.0.113.7',
      signal: new AbortController().signal,
    };
    await nodes.forward(to, sent).catch(() => undefined);
    expect(received).toBe('The body is not the one that was signed');
  });

  test('without TLS, nodes ask only nodes of the same machine', async () => {
    const nodes = createHttpNodes({ id: 'a', secret });
    closers.push(() => nodes.close());
    const to = { id: 'b', url: 'http://192.0.2.1:7070' };
    await expect(nodes.call(to, 'echo', 1)).rejects.toThrow('is not encrypted');
  });
});

describe('the connection of a client', () => {
  const client = {
    path: mqttPath,
    client: { lease: 'workspaces/1', remoteAddress: '203.0.113.7' },
  };
  const dial = createConnectionDialer({ id: 'a', secret });

  async function textOf(connection: Duplex, length: number): Promise<string> {
    let text = '';
    for await (const chunk of connection as AsyncIterable<Buffer>) {
      text += chunk.toString();
      if (text.length >= length) break;
    }
    return text;
  }

  test.each([
    [mqttPath, false],
    [mqttSocketPath, true],
  ])('goes on at %s, with the address of the client', async (path, isWebSocket) => {
    const ended = Promise.withResolvers<void>();
    const port = await openPort({
      ...partsOf(offered),
      acceptMqtt(socket, ...about) {
        socket.write(`${about.join()}:`);
        socket.pipe(socket);
        socket.once('close', () => ended.resolve());
      },
    });
    const to = { id: 'b', url: `http://127.0.0.1:${port}` };
    const connection = await dial(to, { ...client, path });
    if (connection === 'notHeld') throw new Error('The node has the lease');
    connection.write('bytes');
    const expected = `203.0.113.7,${isWebSocket}:bytes`;
    expect(await textOf(connection, expected.length)).toBe(expected);
    connection.destroy();
    await ended.promise;
  });

  test.each([
    ['without the lease', { holds: () => false }],
    ['that ends its clients before it gives the lease away', { servesMqtt: () => false }],
  ])('goes to no node %s', async (_, parts) => {
    const port = await openPort({ ...partsOf(offered), ...parts });
    expect(await dial({ id: 'b', url: `http://127.0.0.1:${port}` }, client)).toBe('notHeld');
  });

  test('security 6: is taken only from a node with the secret', async () => {
    const refused: string[] = [];
    const port = await openPort({
      ...partsOf(offered),
      refused: (_, reason) => void refused.push(reason),
      acceptMqtt: () => void refused.push('accepted'),
    });
    const to = { id: 'b', url: `http://127.0.0.1:${port}` };
    const stranger = createConnectionDialer({ id: 'a', secret: `${secret}!` });
    await expect(stranger(to, client)).rejects.toBeInstanceOf(NodeUnreachable);
    expect(refused).toEqual(['wrong signature']);
  });

  test('does not wait for a silent node', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    closers.push(() => silent.close());
    silent.on('connection', (socket) => closers.push(() => socket.destroy()));
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const dialed = dial({ id: 'b', url: `http://127.0.0.1:${port}` }, client);
    await expect(dialed).rejects.toBeInstanceOf(NodeUnreachable);
  });
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
  const { cert, key } = await makeCertificate(folder);
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
  ['ab'.repeat(40), /is not random enough/],
  ['0f8b6c5d4e3a29187f6e5d4c3b2a1908', undefined],
])('the secret %s', (given, weakness) => {
  const found = clusterSecretWeakness(given);
  if (weakness === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(weakness);
});
