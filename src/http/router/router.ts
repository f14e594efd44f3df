// Router: forwards a request about one device to the node that owns it, as it is.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { NodeAddress } from '../../model/node-address.ts';
import { type Problem, problem } from '../../model/problem.ts';
import { type ForwardedAnswer, type Nodes, NodeUnreachable } from '../../nodes/nodes.ts';
import { readBody } from '../edge/direct/plain-body.ts';
import type { FindDevice } from './routed-requests.ts';

export const routerLimits = {
  /** How long a request waits for an owner: longer than a lease of a dead node is valid. */
  ownerMsMax: 15_000,
  pollMs: 100,
  /** Longer bodies are sent while they are read, and cannot be sent to a second node. */
  keptBytesMax: 256 * 1024,
} as const;

/** Who serves a device: this node, another one, or none at present. */
export interface Ownership {
  readonly lease: string;
  /** Whether this node accepts requests for the device. */
  readonly isOwn: () => boolean;
  /** The node that holds the lease, as far as this node knows. */
  readonly owner: () => NodeAddress | undefined;
}

export interface RouterParts {
  readonly findDevice: FindDevice;
  readonly ownershipOf: (deviceId: string) => Ownership;
  /** Reads the owners again. */
  readonly refresh: () => Promise<void>;
  readonly forward: Nodes['forward'];
  /** Serves a request on this node. */
  readonly serve: RequestListener;
  /** Answers with the error body. */
  readonly refuse: (request: IncomingMessage, response: ServerResponse, why: Problem) => void;
  /** A monotonic clock in milliseconds, and a wait. */
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<void>;
}

export function createRouter(parts: RouterParts): RequestListener {
  const { findDevice, ownershipOf, serve } = parts;
  const serveOwned = (
    request: IncomingMessage,
    response: ServerResponse & { req: IncomingMessage },
    deviceId: string,
  ): void => {
    const ownership = ownershipOf(deviceId);
    if (ownership.isOwn()) return serve(request, response);
    routeToOwner(parts, ownership, request, response).catch((error: unknown) => {
      if (response.headersSent) return void response.destroy();
      parts.refuse(request, response, problemOf(error));
    });
  };
  return (request, response) => {
    const deviceId = findDevice(request);
    if (deviceId === undefined) return serve(request, response);
    if (typeof deviceId === 'string') return serveOwned(request, response, deviceId);
    deviceId.then(
      (found) => serveOwned(request, response, found),
      // The sender is unknown, and is answered so.
      () => serve(request, response),
    );
  };
}

function problemOf(error: unknown): Problem {
  if (error instanceof NodeUnreachable) return problem('nodeUnreachable');
  return error as Problem;
}

/** Asks the owner; when the device moves meanwhile, its next one. */
async function routeToOwner(
  parts: RouterParts,
  ownership: Ownership,
  request: IncomingMessage,
  response: ServerResponse & { req: IncomingMessage },
): Promise<void> {
  const { refresh, now, wait } = parts;
  const until = now() + routerLimits.ownerMsMax;
  const sending = sendingOf(request, response, ownership.lease);
  while (!response.destroyed) {
    if (ownership.isOwn() && !sending.hasBegun()) return parts.serve(request, response);
    const owner = ownership.owner();
    const answer = owner === undefined ? 'notHeld' : await ask(parts, owner, sending);
    if (answer !== 'notHeld') return sendAnswer(answer, response);
    if (!sending.canRepeat()) throw problem('deviceMoved');
    if (now() >= until) throw problem('deviceWithoutOwner');
    await wait(routerLimits.pollMs);
    // Without the table, the owners are as they were.
    await refresh().catch(() => undefined);
  }
}

/** A node that cannot be reached is asked again while it is the owner and nothing was sent. */
async function ask(
  { forward }: RouterParts,
  owner: NodeAddress,
  sending: Sending,
): Promise<ForwardedAnswer | 'notHeld'> {
  try {
    return await forward(owner, await sending.request());
  } catch (error) {
    if (error instanceof NodeUnreachable && !error.wasSent) return 'notHeld';
    throw error;
  }
}

interface Sending {
  request(): Promise<Parameters<Nodes['forward']>[1]>;
  /** Whether the body was read. */
  hasBegun(): boolean;
  /** Whether the body is there for another node. */
  canRepeat(): boolean;
}

function sendingOf(raw: IncomingMessage, response: ServerResponse, lease: string): Sending {
  const { method = '', url = '', rawHeaders: headers, socket } = raw;
  const remoteAddress = socket.remoteAddress ?? '';
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  let body: Promise<Readable | Uint8Array | undefined> | undefined;
  let isStream = false;
  return {
    async request() {
      body ??= bodyOf(raw);
      const read = await body;
      isStream = read instanceof Readable;
      return { method, url, headers, body: read, remoteAddress, lease, signal: gone.signal };
    },
    hasBegun: () => body !== undefined,
    canRepeat: () => !isStream,
  };
}

async function bodyOf(raw: IncomingMessage): Promise<Readable | Uint8Array | undefined> {
  const { 'content-length': length, 'transfer-encoding': encoding } = raw.headers;
  if (encoding !== undefined) return raw;
  const bytes = Number(length ?? 0);
  if (bytes === 0) return undefined;
  return bytes <= routerLimits.keptBytesMax ? readBody(raw, bytes) : raw;
}

async function sendAnswer(
  { status, headers, body }: ForwardedAnswer,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(status, headers as Record<string, string | string[]>);
  if (body instanceof Readable) return pipeline(body, response);
  response.end(body);
}
