// Request storm: repeats requests with a fixed number in flight from a worker thread, and measures answers.
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { type HttpTarget, openConnections } from './http.ts';

export interface Storm {
  readonly target: HttpTarget;
  /** Whole requests, sent in turn; as many as are needed for none to be repeated within moments. */
  readonly requests: readonly Uint8Array[];
  readonly inFlight: number;
  /** Answers of this first time are counted but not timed. */
  readonly warmSeconds: number;
  readonly seconds: number;
}

export interface StormResult {
  /** Milliseconds from sending to the whole answer, of the answers of success in the timed part. */
  readonly durationsMs: Float64Array;
  readonly perSecond: number;
  /** Answers of success, with those of the warm part. */
  readonly accepted: number;
  /** Other answers, by status. */
  readonly refused: Readonly<Record<string, number>>;
}

export function runStorm(storm: Storm): Promise<StormResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: storm });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the generator ended without a result')));
  });
}

async function rage({
  target,
  requests,
  inFlight,
  warmSeconds,
  seconds,
}: Storm): Promise<StormResult> {
  const connections = await openConnections(target, inFlight);
  const bytes = requests.map((request) =>
    Buffer.from(request.buffer, request.byteOffset, request.byteLength),
  );
  const startMs = performance.now();
  const timedFromMs = startMs + warmSeconds * 1_000;
  const endMs = timedFromMs + seconds * 1_000;
  const durations: number[] = [];
  const refused: Record<string, number> = {};
  let accepted = 0;
  let next = 0;
  await Promise.all(
    connections.map(async (connection) => {
      for (let sentMs = performance.now(); sentMs < endMs; ) {
        const { status } = await connection.send(bytes[next++ % bytes.length]!);
        const answeredMs = performance.now();
        if (status >= 200 && status <= 299) {
          accepted++;
          if (sentMs >= timedFromMs && answeredMs <= endMs) durations.push(answeredMs - sentMs);
        } else {
          refused[status] = (refused[status] ?? 0) + 1;
        }
        sentMs = answeredMs;
      }
    }),
  );
  for (const connection of connections) connection.close();
  return {
    durationsMs: Float64Array.from(durations),
    perSecond: durations.length / seconds,
    accepted,
    refused,
  };
}

if (!isMainThread) {
  const result = await rage(workerData as Storm);
  parentPort!.postMessage(result, [result.durationsMs.buffer as ArrayBuffer]);
}
