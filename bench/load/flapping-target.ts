// A webhook that is well, refuses with 503, resets connections and hangs, in turn, as targets do.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const moods = ['well', 'refusing', 'resetting', 'hanging'] as const;
const moodMs = 15_000;

export async function startFlappingTarget(): Promise<{
  readonly url: string;
  close(): Promise<void>;
}> {
  const startedAt = performance.now();
  const server = createServer((request, response) => {
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    request.resume();
    request.on('end', () => {
      const mood = moods[Math.floor((performance.now() - startedAt) / moodMs) % moods.length]!;
      if (mood === 'well') response.end('ok');
      else if (mood === 'refusing') response.writeHead(503).end();
      else if (mood === 'resetting') request.socket.resetAndDestroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
