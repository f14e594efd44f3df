// Nodes over HTTP: connections to the internal ports of other nodes, kept open, with bounds for each node.
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import type { Json } from '../../model/json.ts';
import type { NodeAddress } from '../../model/node-address.ts';
import { clusterToken } from '../cluster-secret.ts';
import { type ForwardedRequest, nodeLimits, type Nodes, NodeUnreachable } from '../nodes.ts';
import { createAnswerReader } from './answer-reader.ts';
import { callPath, nodeHeaders, passedHeaders } from '../node-headers.ts';

export interface HttpNodesOptions {
  /** Of this node. */
  readonly id: string;
  readonly secret: string;
  /** Certificate authorities of the nodes, as PEM, in place of those of the system. */
  readonly ca?: string | undefined;
}

interface Peer {
  readonly pool: Pool;
  /** Requests without an answer. */
  waiting: number;
}

export function createHttpNodes({ id, secret, ca }: HttpNodesOptions): Nodes {
  const peers = new Map<string, Peer>();
  const identity = [nodeHeaders.token, clusterToken(secret), nodeHeaders.from, id];

  function peerOf({ url }: NodeAddress): Peer {
    const known = peers.get(url);
    if (known !== undefined) return known;
    const peer: Peer = { pool: poolOf(url, ca), waiting: 0 };
    peers.set(url, peer);
    return peer;
  }

  return {
    async call(to, name, request, { answerMsMax = nodeLimits.callMsMax } = {}) {
      const body = JSON.stringify(request);
      const sent = { ...{ name, identity, callId: randomUUID() }, body, answerMsMax };
      const { pool } = peerOf(to);
      let wasSent = false;
      const send = () =>
        sendCall(pool, sent).catch((error: unknown) => {
          wasSent ||= !isConnectError(error);
          throw error;
        });
      try {
        return await send().catch((error: unknown) => {
          if (error instanceof CallFailed) throw error;
          return send();
        });
      } catch (error) {
        if (error instanceof CallFailed) throw error;
        throw new NodeUnreachable(to, wasSent, error);
      }
    },
    forward(to, request) {
      const peer = peerOf(to);
      if (peer.waiting >= nodeLimits.requestsMax)
        return Promise.reject(new NodeUnreachable(to, false, 'too many requests wait for it'));
      peer.waiting++;
      const { handler, answer } = createAnswerReader(to, request.signal);
      peer.pool.dispatch(dispatchOf(request, identity), handler);
      return answer.finally(() => {
        peer.waiting--;
      });
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
    ...{ connect: ca === undefined ? { timeout } : { timeout, ca } },
    ...{ connections, pipelining: 1, keepAliveTimeout: 30_000 },
    // Exports are as slow as their clients.
    ...{ headersTimeout: forwardMsMax, bodyTimeout: 0 },
  });
}

interface SentCall {
  readonly name: string;
  readonly identity: readonly string[];
  readonly callId: string;
  readonly body: string;
  readonly answerMsMax: number;
}

async function sendCall(
  pool: Pool,
  { name, identity, callId, body, answerMsMax }: SentCall,
): Promise<Json> {
  const { statusCode, body: answer } = await pool.request({
    path: `${callPath}${name}`,
    method: 'POST',
    headers: [...identity, nodeHeaders.call, callId, 'content-type', 'application/json'],
    body,
    signal: AbortSignal.timeout(answerMsMax),
  });
  const read = await answer.text();
  if (statusCode === 200) return JSON.parse(read) as Json;
  throw new CallFailed(statusCode, read);
}

const connectErrors: readonly unknown[] = [
  ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
  'UND_ERR_CONNECT_TIMEOUT',
];

/** Whether no connection was open, so that nothing was sent. */
function isConnectError(error: unknown): boolean {
  return error instanceof Error && connectErrors.includes((error as { code?: unknown }).code);
}

/** The node has handled the call, without success. */
class CallFailed extends Error {
  override readonly name = 'CallFailed';

  constructor(status: number, message: string) {
    super(`${status}: ${message}`);
  }
}

function dispatchOf(request: ForwardedRequest, identity: readonly string[]) {
  const { method, url: path, headers, body = null, remoteAddress, lease } = request;
  const added = [nodeHeaders.lease, lease, nodeHeaders.address, remoteAddress];
  return { method, path, headers: [...passedHeaders(headers), ...identity, ...added], body };
}
