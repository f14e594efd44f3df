// Idle limit of the clients: an answer that comes slowly is complete, and one that stops ends the call.
import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../clients/typescript/client.ts';
import { describeWith } from '../servers/server-tests.ts';

const python = '/usr/bin/python3';
const idleMs = 1_000;
const parts = 8;
const partEveryMs = 250;
let server: Server;
let url: string;

/** `/v3/slow` sends parts for twice the limit, `/v3/stops` only the first one, `/v3/mute` nothing. */
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/v3/mute') return;
    response.writeHead(200, { 'content-type': 'text/plain' });
    let sent = 0;
    const send = (): void => {
      response.write(`part ${sent++}\n`);
      if (request.url === '/v3/stops') return;
      if (sent === parts) response.end();
      else setTimeout(send, partEveryMs);
    };
    send();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const complete = Array.from({ length: parts }, (_, i) => `part ${i}\n`).join('');

test('TypeScript: an answer that takes twice the limit is complete', async () => {
  const answer = await call('/v3/slow');
  expect(await answer.text()).toBe(complete);
});

test('TypeScript: a caller that reads slowly loses nothing', async () => {
  const answer = await call('/v3/slow', 500);
  await new Promise((later) => setTimeout(later, 700));
  expect(await answer.text()).toBe(complete);
});

test.each(['/v3/stops', '/v3/mute'])('TypeScript: %s ends with the limit', async (path) => {
  const read = call(path, 300).then((answer) => answer.text());
  await expect(read).rejects.toThrow(/Nothing came for 300 ms/);
});

test('TypeScript: the signal of the caller ends the body', async () => {
  const ending = new AbortController();
  const answer = await call('/v3/stops', 60_000, ending.signal);
  ending.abort(new Error('enough'));
  await expect(answer.text()).rejects.toThrow('enough');
});

describeWith({ path: python, debianPackage: 'python3' }, 'Python client', () => {
  test('Python: the limit is for each part too', async () => {
    const code = [
      'from heliograph import Client',
      `client = Client("${url}", timeout=${idleMs / 1_000}, tries_max=1)`,
      'print(len(client.send("GET", "/v3/slow").read()))',
      'try:',
      '  client.send("GET", "/v3/stops").read()',
      'except OSError as error: print("ended:", error)',
    ].join('\n');
    const env = { ...process.env, PYTHONPATH: join('clients', 'python', 'src') };
    const { stdout } = await promisify(execFile)(python, ['-c', code], { env });
    expect(stdout).toBe(`${complete.length}\nended: timed out\n`);
  });
});

function call(path: string, timeoutMs = idleMs, signal?: AbortSignal): Promise<Response> {
  // The paths are not of the interface.
  const { send } = createClient({ url, triesMax: 1, timeoutMs }) as unknown as {
    send: (method: string, path: string, call: object) => Promise<Response>;
  };
  return send('get', path, signal === undefined ? {} : { signal });
}
