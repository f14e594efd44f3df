// Quiet wait: requests that come while a node stops are answered, and each lengthens the wait.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createQuietWait } from './internal-port.ts';

test('requests of the last moment are answered, and their connections end', async () => {
  const quiet = createQuietWait();
  const server = createServer((_, response) => {
    quiet.requested(response);
    response.end('ok');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const ask = () => fetch(`http://127.0.0.1:${port}/`);
  try {
    expect((await ask()).headers.get('connection')).toBe('keep-alive');
    const startedAt = performance.now();
    let isQuiet = false;
    const closed = quiet.whenQuiet().then(() => {
      isQuiet = true;
    });
    // A node that keeps asking cannot keep this one from stopping.
    while (!isQuiet) expect((await ask()).headers.get('connection')).toBe('close');
    await closed;
    expect(performance.now() - startedAt).toBeGreaterThan(1_500);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  } finally {
    server.close();
  }
});

test('a port that nobody asked for long waits for nodes that have not learned yet', async () => {
  const startedAt = performance.now();
  await createQuietWait().whenQuiet();
  expect(performance.now() - startedAt).toBeGreaterThan(390);
});
