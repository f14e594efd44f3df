// Answer reader: the answer of another node, small ones whole, others as a stream with back-pressure.
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { NodeAddress } from '../../model/node-address.ts';
import { type ForwardedAnswer, nodeLimits, NodeUnreachable } from '../nodes.ts';
import { answerHeaders, nodeHeaders } from '../node-headers.ts';

/** The node did not take the request for one of this cluster. */
export class RefusedSignature {
  /** The run of the node that refused. */
  readonly run: string;
  readonly reason: string;

  constructor(run: string, reason: string) {
    this.run = run;
    this.reason = reason;
  }
}

export interface AnswerReader {
  readonly handler: Dispatcher.DispatchHandler;
  readonly answer: Promise<ForwardedAnswer | 'notHeld' | RefusedSignature>;
}

/** Reads one answer. The request is aborted with the signal. */
export function createAnswerReader(to: NodeAddress, signal: AbortSignal): AnswerReader {
  const { promise: answer, resolve, reject } = Promise.withResolvers<Read>();
  let control: Dispatcher.DispatchController | undefined;
  let head: Omit<ForwardedAnswer, 'body'> | undefined;
  let collected: Buffer[] = [];
  let stream: Readable | undefined;
  const abort = (): void => control?.abort(new Error('The client disconnected'));
  const ended = (): void => signal.removeEventListener('abort', abort);

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(controller) {
      control = controller;
      signal.addEventListener('abort', abort);
      if (signal.aborted) abort();
    },
    onResponseStart(controller, status, headers) {
      if (status < 200) return;
      head = { status, headers: answerHeaders(headers) };
      if (isSmall(headers['content-length']) || nodeHeaders.run in headers) return;
      stream = new Readable({
        read: () => controller.resume(),
        destroy(error, done) {
          controller.abort(error ?? new Error('The answer is not read'));
          done(error);
        },
      });
      resolve({ ...head, body: stream });
    },
    onResponseData(controller, chunk) {
      if (stream === undefined) collected.push(chunk);
      else if (!stream.push(chunk)) controller.pause();
    },
    onResponseEnd() {
      ended();
      stream?.push(null);
      if (head === undefined || stream !== undefined) return;
      if (head.status === 421 && head.headers[nodeHeaders.notHeld] !== undefined)
        return resolve('notHeld');
      const run = head.headers[nodeHeaders.run];
      if (typeof run === 'string')
        return resolve(new RefusedSignature(run, Buffer.concat(collected).toString()));
      resolve({ ...head, body: Buffer.concat(collected) });
      collected = [];
    },
    onResponseError(_, error) {
      ended();
      stream?.destroy(error);
      reject(new NodeUnreachable(to, control !== undefined, error));
    },
  };
  return { handler, answer };
}

type Read = ForwardedAnswer | 'notHeld' | RefusedSignature;

function isSmall(length: string | string[] | undefined): boolean {
  return typeof length === 'string' && Number(length) <= nodeLimits.collectedBytesMax;
}
