// Clients that send slowly or ambiguously, over real sockets: how long they are waited for, and what is refused.
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { endpoint } from '../../contract/endpoint.ts';
import { problem } from '../../model/problem.ts';
import { Answer, bodyBytesMaxDefault, route } from './route.ts';
import { createServer } from './server.ts';

const timeouts = { headersMs: 100, requestMs: 250, keepAliveMs: 1_000, checkMs: 25 };
let close: () => Promise<void> = async () => {};
afterEach(() => close());

async function listen(): Promise<number> {
  const app = await createServer({
    routes: [
      route(
        endpoint({
          method: 'POST',
          path: '/things',
          summary: 'Takes a thing',
          tag: 'Things',
          access: { open: 'a test' },
        }),
        () => new Answer(201, {}),
      ),
    ],
    guard: {
      identify: () => {
        throw problem('unauthorized');
      },
      authorize: () => undefined,
    },
    events: { answered: () => undefined, failed: () => undefined },
    now: Date.now,
    publicUrl: 'http://localhost:1',
    timeouts,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  close = () => app.close();
  return (app.server.address() as AddressInfo).port;
}

/** What comes back for the text until the server ends the connection, and after how long. */
async function send(port: number, text: string): Promise<{ answer: string; ms: number }> {
  const startedAt = performance.now();
  const socket = connect(port, '127.0.0.1', () => socket.write(text));
  let answer = '';
  socket.on('data', (data) => (answer += data.toString()));
  await new Promise((resolve) => socket.once('close', resolve));
  return { answer, ms: performance.now() - startedAt };
}

test.each([
  ['headers', 'POST /things HTTP/1.1\r\nHost: a\r\n'],
  [
    'a body',
    'POST /things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
  ],
])(
  'review security 21: a client that never ends %s is answered 408 when its time is over',
  async (_, text) => {
    const { answer, ms } = await send(await listen(), text);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    // Node itself looks only every 30 seconds.
    expect(ms).toBeLessThan(10_000);
  },
);

test('review security 22: two Host headers are refused with 400', async () => {
  const end = 'Connection: close\r\nContent-Length: 0\r\n\r\n';
  const port = await listen();
  const two = await send(port, `POST /things HTTP/1.1\r\nHost: a\r\nhOST: b\r\n${end}`);
  expect(two.answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(two.answer).toContain('Duplicate Host header');
  expect((await send(port, `POST /things HTTP/1.1\r\nHost: a\r\n${end}`)).answer).toMatch(
    /^HTTP\/1\.1 201 /,
  );
});

test('a client that sends all of a body that is too large, in parts, reads why it is refused', async () => {
  const port = await listen();
  const bytes = 2 * bodyBytesMaxDefault;
  const head = `POST /things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;
  const socket = connect(port, '127.0.0.1');
  socket.write(head);
  const part = Buffer.alloc(64 * 1024, 'x');
  for (let sent = 0; sent < bytes; sent += part.length) {
    if (!socket.write(part)) await once(socket, 'drain');
    await nextTurn();
  }
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /);
  expect(answer.toString()).toContain('41300_PAYLOAD_TOO_LARGE');
  await once(socket, 'close');
});
