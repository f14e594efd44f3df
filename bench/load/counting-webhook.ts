// A webhook in its own thread that counts requests with little processor time.
import { type AddressInfo, createServer } from 'node:net';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';

export interface CountingWebhook {
  readonly url: string;
  /** Requests that were answered so far. */
  readonly count: number;
  close(): Promise<void>;
}

export async function startCountingWebhook(): Promise<CountingWebhook> {
  const counter = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL(import.meta.url), { workerData: counter });
  const port = await new Promise<number>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  return {
    url: `http://127.0.0.1:${port}/`,
    get count() {
      return Atomics.load(counter, 0);
    },
    async close() {
      await worker.terminate();
    },
  };
}

const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const headEnd = Buffer.from('\r\n\r\n');

/** Reads requests only by their length; an HTTP server would cost more than the platform. */
function serve(counter: Int32Array): void {
  const server = createServer((socket) => {
    let rest: Buffer = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      for (;;) {
        const end = rest.indexOf(headEnd);
        if (end < 0) return;
        const head = rest.toString('latin1', 0, end).toLowerCase();
        const length = Number(/content-length: *(\d+)/.exec(head)?.[1] ?? 0);
        if (rest.length < end + 4 + length) return;
        rest = rest.subarray(end + 4 + length);
        Atomics.add(counter, 0, 1);
        socket.write(answer);
      }
    });
  });
  server.listen(0, '127.0.0.1', () =>
    parentPort!.postMessage((server.address() as AddressInfo).port),
  );
}

if (!isMainThread) serve(workerData as Int32Array);
