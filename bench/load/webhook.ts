// A webhook that notes when each delivery arrives, or one that takes requests and never answers.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Webhook {
  readonly url: string;
  readonly arrivals: readonly {
    /** By the clock of `performance.now`. */
    readonly atMs: number;
    /** Since the time of the sample. */
    readonly lagMs: number;
  }[];
  close(): Promise<void>;
}

export async function startWebhook({
  answers = true,
}: {
  readonly answers?: boolean;
} = {}): Promise<Webhook> {
  const arrivals: { atMs: number; lagMs: number }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (!answers) return;
      const { timestamp } = JSON.parse(Buffer.concat(chunks).toString()) as { timestamp: string };
      arrivals.push({ atMs: performance.now(), lagMs: Date.now() - Date.parse(timestamp) });
      response.end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    arrivals,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
