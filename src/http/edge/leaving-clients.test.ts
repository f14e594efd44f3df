// Clients that leave during a direct request: its signal is aborted, its stream ends, half a body changes nothing.
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { afterEach, expect, test } from 'vitest';
import { endpoint } from '../../contract/endpoint.ts';
import { problem } from '../../model/problem.ts';
import { Answer, type Route, route } from './route.ts';
import { createServer } from './server.ts';

const declared = {
  method: 'POST',
  path: '/things',
  summary: 's',
  tag: 'Things',
  access: { open: 'a test' },
  body: Type.Optional(Type.Object({})),
} as const;
const failures: unknown[] = [];
let app: FastifyInstance;
afterEach(() => app.close());

/** Sends the bytes to a server of the one route. */
async function send(handle: () => unknown, bytes: string, direct = true): Promise<Socket> {
  const things: Route = route(endpoint(declared), handle as never);
  app = await createServer({
    routes: [{ ...things, handle }],
    guard: {
      identify: () => {
        throw problem('unauthorized');
      },
      authorize: () => undefined,
    },
    events: { answered: () => undefined, failed: (error) => failures.push(error) },
    now: Date.now,
    publicUrl: 'http://localhost:1',
    direct,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
  return socket;
}

const head = 'POST /things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
const whole = `${head}Content-Length: 2\r\n\r\n{}`;

test.each([true, false])('the signal of the request is aborted, direct: %s', async (direct) => {
  const { promise: started, resolve: start } = Promise.withResolvers<AbortSignal>();
  const handle = ({ signal }: { signal: AbortSignal }) => {
    start(signal);
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined)));
  };
  const socket = await send(handle as () => unknown, whole, direct);
  const signal = await started;
  expect(signal.aborted).toBe(false);
  socket.resetAndDestroy();
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
});

test.each([
  ['before its first byte', []],
  ['after its first byte', ['first']],
])('a stream ends, %s', async (_when, chunks) => {
  const body = new Readable({ read: () => undefined });
  for (const chunk of chunks) body.push(chunk);
  const closed = new Promise((resolve) => body.once('close', resolve));
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const socket = await send(() => {
    ask();
    return new Answer(200, body);
  }, whole);
  await asked;
  if (chunks.length > 0) await new Promise((resolve) => socket.once('data', resolve));
  socket.resetAndDestroy();
  await closed;
  expect(failures).toEqual([]);
});

test('a stream that fails after its first byte ends the connection', async () => {
  const body = new Readable({ read: () => undefined });
  body.push('first');
  const socket = await send(() => new Answer(200, body), whole);
  let got = '';
  socket.on('data', (chunk) => (got += chunk.toString()));
  await new Promise((resolve) => socket.once('data', resolve));
  body.destroy(new Error('later'));
  await new Promise((resolve) => socket.once('close', resolve));
  expect(got).toContain('first');
  expect(got).not.toContain('0\r\n\r\n');
});

test('a body in several parts is read to its end', async () => {
  const bodies: unknown[] = [];
  const handle = ({ body }: { body: unknown }) => {
    bodies.push(body);
    return new Answer(204);
  };
  const socket = await send(handle as () => unknown, `${head}Content-Length: 11\r\n\r\n{"a":`);
  await new Promise((resolve) => app.server.once('request', resolve));
  socket.write('"ö"');
  socket.write(' }');
  await new Promise((resolve) => socket.once('data', resolve));
  socket.resetAndDestroy();
  expect(bodies).toEqual([{ a: 'ö' }]);
});

test('a body that breaks off is not handled', async () => {
  const handled: unknown[] = [];
  const socket = await send(() => void handled.push(1), `${head}Content-Length: 20\r\n\r\n{"a":`);
  await new Promise((resolve) => app.server.once('request', resolve));
  const gone = new Promise((resolve) => app.server.once('connection', resolve));
  socket.resetAndDestroy();
  // A further connection is served, so that the one before has been seen to end.
  const { port } = app.server.address() as AddressInfo;
  const next = connect(port, '127.0.0.1');
  await gone;
  next.destroy();
  expect(handled).toEqual([]);
  expect(failures).toEqual([]);
});

test('the end of the server: a request in progress is answered, and a new one is refused', async () => {
  const { promise: hold, resolve: release } = Promise.withResolvers<void>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const socket = await send(async () => {
    ask();
    await hold;
    return new Answer(200, 'done');
  }, whole);
  let got = '';
  socket.on('data', (chunk) => (got += chunk.toString()));
  await asked;
  const closing = app.close();
  release();
  await new Promise((resolve) => socket.once('data', resolve));
  socket.resetAndDestroy();
  await closing;
  expect(got).toContain('done');
});
