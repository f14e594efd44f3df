// HTTP worker: the HTTP client with its guard, name lookups and TLS, on a thread for all targets.
import { parentPort, workerData } from 'node:worker_threads';
import { createHttpExchange, type HttpAnswer, type HttpCall } from './http-exchange.ts';
import {
  type FromHttpThread,
  type HttpThreadStart,
  packError,
  type ToHttpThread,
} from './http-messages.ts';

const exchange = createHttpExchange(workerData as HttpThreadStart);
/** How to end the calls in progress. */
const running = new Map<number, () => void>();
let answers: FromHttpThread[number][] = [];

function start(id: number, call: HttpCall): void {
  const stop = exchange.start(call, (result) => answered(id, result));
  running.set(id, stop);
}

function answered(id: number, result: HttpAnswer | Error): void {
  running.delete(id);
  if (answers.length === 0) setImmediate(sendAnswers);
  answers.push([id, result instanceof Error ? packError(result) : result]);
}

function sendAnswers(): void {
  parentPort?.postMessage(answers);
  answers = [];
}

function stop(id: number): void {
  running.get(id)?.();
  running.delete(id);
}

parentPort?.on('message', ({ calls, stopped }: ToHttpThread) => {
  for (const [id, call] of calls) start(id, call);
  for (const id of stopped) stop(id);
});
