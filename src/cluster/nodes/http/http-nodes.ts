// Nodes over HTTP: connections to the internal ports of other nodes, kept open, with bounds for each node.
import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { type Dispatcher, Pool } from 'undici';
import type { NodeAddress } from '../../../model/node-messages.ts';
import {
  bodyFollows,
  digestOf,
  emptyDigest,
  NodeSigner,
  refusePlain,
  sealBytes,
} from '../cluster-secret.ts';
import {
  aboutForwarded,
  answerHeaders,
  callPath,
  type ForwardedAnswer,
  type ForwardedRequest,
  longer,
  meetCall,
  nodeHeaders,
  nodeLimits,
  type Nodes,
  NodeUnreachable,
  passedHeaders,
} from '../nodes.ts';

interface Peer {
  readonly pool: Pool;
  /** Requests without an answer. */
  waiting: number;
}

export function createHttpNodes(options: {
  /** Of this node. */
  readonly id: string;
  readonly secret: string;
  /** Certificate authorities of the nodes, as PEM, in place of those of the system. */
  readonly ca?: string | undefined;
  /** Whether nodes on other machines may be asked without TLS. */
  readonly plaintext?: boolean | undefined;
  readonly now?: () => number;
}): Nodes {
  const { id, secret, ca, plaintext = false, now = Date.now } = options;
  const peers = new Map<string, Peer>();
  const signer = new NodeSigner(secret, now);

  function peerOf({ url }: NodeAddress): Peer {
    const known = peers.get(url);
    if (known !== undefined) return known;
    refusePlain(url, plaintext);
    const peer: Peer = { pool: poolOf(url, ca), waiting: 0 };
    peers.set(url, peer);
    return peer;
  }

  async function call(
    to: NodeAddress,
    name: string,
    request: unknown,
    answerMsMax: number = nodeLimits.callMsMax,
  ): Promise<unknown> {
    const body = JSON.stringify(request);
    const callId = randomUUID();
    const path = `${callPath}${name}`;
    const sealed = { method: 'POST', path, from: id, to: to.id, about: callId };
    const digest = digestOf(body);
    const { pool } = peerOf(to);
    let wasSent = false;
    // Signed anew each time, because a node accepts a signature once.
    const sendSigned = () => {
      const signature = signer.sign({ ...sealed, digest });
      return sendCall(pool, { path, body, answerMsMax, callId, from: id, signature });
    };
    const send = () =>
      sendSigned()
        .catch((error: unknown) => {
          if (!(error instanceof CallFailed) || error.run === undefined) throw error;
          signer.meet(to.id, error.run);
          return sendSigned();
        })
        .catch((error: unknown) => {
          wasSent ||= !isConnectError(error);
          throw error;
        });
    try {
      return await send().catch((error: unknown) => {
        // A refusal says that the signature was received before: the call was doubled on its way.
        if (error instanceof CallFailed && error.status !== 401) throw error;
        return send();
      });
    } catch (error) {
      if (error instanceof CallFailed) throw error;
      throw new NodeUnreachable(to, wasSent, error);
    }
  }

  /** A stream cannot be sent again for another run, so that the run is asked for first. */
  async function forward(to: NodeAddress, pool: Pool, request: ForwardedRequest) {
    const isStream = request.body instanceof Readable;
    if (isStream) await call(to, meetCall, null);
    const send = () => {
      const { handler, answer } = createAnswerReader(to, request.signal);
      pool.dispatch(dispatchOf(request, id, to.id, signer), handler);
      return answer;
    };
    let answer = await send();
    if (answer instanceof RefusedSignature) {
      signer.meet(to.id, answer.run);
      if (!isStream) answer = await send();
    }
    if (answer instanceof RefusedSignature) throw new NodeUnreachable(to, false, answer.reason);
    return answer;
  }

  return {
    call: (to, name, request, { answerMsMax } = {}) => call(to, name, request, answerMsMax),
    async forward(to, request) {
      const peer = peerOf(to);
      if (peer.waiting >= nodeLimits.requestsMax)
        throw new NodeUnreachable(to, false, 'too many requests are queued for it');
      peer.waiting++;
      try {
        return await forward(to, peer.pool, request);
      } finally {
        peer.waiting--;
      }
    },
    async close() {
      const pools = [...peers.values()].map(({ pool }) => pool);
      peers.clear();
      await Promise.all(pools.map((pool) => pool.destroy()));
    },
  };
}

function poolOf(url: string, ca: string | undefined): Pool {
  const { connectMsMax: timeout, connectionsMax: connections, forwardMsMax } = nodeLimits;
  return new Pool(url, {
    connect: ca === undefined ? { timeout } : { timeout, ca },
    connections,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    // Exports are as slow as their clients.
    headersTimeout: forwardMsMax,
    bodyTimeout: 0,
  });
}

async function sendCall(
  pool: Pool,
  {
    path,
    from,
    signature,
    callId,
    body,
    answerMsMax,
  }: {
    readonly path: string;
    readonly from: string;
    readonly signature: string;
    readonly callId: string;
    readonly body: string;
    readonly answerMsMax: number;
  },
): Promise<unknown> {
  const {
    statusCode,
    headers,
    body: answer,
  } = await pool.request({
    path,
    method: 'POST',
    headers: [
      nodeHeaders.from,
      from,
      nodeHeaders.signature,
      signature,
      nodeHeaders.call,
      callId,
      'content-type',
      'application/json',
    ],
    body,
    signal: AbortSignal.timeout(answerMsMax),
  });
  const read = await answer.text();
  if (statusCode === 200) return JSON.parse(read) as unknown;
  const run = headers[nodeHeaders.run];
  throw new CallFailed(statusCode, read, typeof run === 'string' ? run : undefined);
}

const connectErrors: readonly unknown[] = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
];

/** Whether no connection was open, so that nothing was sent. */
function isConnectError(error: unknown): boolean {
  return error instanceof Error && connectErrors.includes((error as { code?: unknown }).code);
}

/** The node has handled the call, without success. */
class CallFailed extends Error {
  override readonly name = 'CallFailed';
  readonly status: number;
  /** Of the node, when it refused the signature. */
  readonly run: string | undefined;

  constructor(status: number, message: string, run?: string) {
    super(`${status}: ${message}`);
    this.status = status;
    this.run = run;
  }
}

function dispatchOf(request: ForwardedRequest, from: string, to: string, signer: NodeSigner) {
  const { method, url: path, headers, body = null, remoteAddress, lease } = request;
  const about = aboutForwarded(lease, remoteAddress);
  const isStream = body instanceof Readable;
  const digest = isStream ? bodyFollows : body === null ? emptyDigest : digestOf(body);
  const signature = signer.sign({ method, path, from, to, about, digest });
  const added = [
    nodeHeaders.from,
    from,
    nodeHeaders.signature,
    signature,
    nodeHeaders.lease,
    lease,
    nodeHeaders.address,
    remoteAddress,
  ];
  const passed = [...passedHeaders(headers)];
  if (!isStream) return { method, path, headers: [...passed, ...added], body };
  const sealed = Readable.from(withSeal(body, signer, signature), { objectMode: false });
  // Who stops reading the sealed body no longer reads the request.
  sealed.once('close', () => body.destroy());
  return { method, path, headers: [...longer(passed, sealBytes), ...added], body: sealed };
}

/** A body whose digest is not known before its end has its seal behind it. */
async function* withSeal(body: Readable, signer: NodeSigner, signature: string) {
  const digest = createHash('sha256');
  for await (const chunk of body as AsyncIterable<Buffer>) {
    digest.update(chunk);
    yield chunk;
  }
  yield signer.seal(signature, digest.digest());
}

// Answer reader: the answer of another node, small ones whole, others as a stream with back-pressure.

/** The node did not take the request for one of this cluster. */
class RefusedSignature {
  /** The run of the node that refused. */
  readonly run: string;
  readonly reason: string;

  constructor(run: string, reason: string) {
    this.run = run;
    this.reason = reason;
  }
}

interface AnswerReader {
  readonly handler: Dispatcher.DispatchHandler;
  readonly answer: Promise<ForwardedAnswer | 'notHeld' | RefusedSignature>;
}

/** Reads one answer. The request is aborted with the signal. */
function createAnswerReader(to: NodeAddress, signal: AbortSignal): AnswerReader {
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
