// Router: forwards a request about one device to the node that owns it, as it is.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  type ForwardedAnswer,
  type ForwardedRequest,
  type Nodes,
  NodeUnreachable,
} from '../../cluster/nodes/nodes.ts';
import { askOwner, type OwnerSearch, type Ownership } from '../../cluster/nodes/owner-search.ts';
import { problem, type Problem } from '../../model/problem.ts';
import { DirectReply, DirectRequest, readBody } from '../edge/direct-exchange.ts';
import { answerReports, type EdgeEvents } from '../edge/reports.ts';
import { clientAddress } from '../edge/admission.ts';
import { sendFailure } from '../edge/responses.ts';
import type { Route } from '../edge/route.ts';
import type { FindDevice, PassedCaptures } from './routed-requests.ts';

export const routerLimits = {
  /** Longer bodies are sent while they are read, and cannot be sent to a second node. */
  keptBytesMax: 256 * 1024,
} as const;

interface RouterParts extends OwnerSearch {
  readonly findDevice: FindDevice;
  readonly ownershipOf: (deviceId: string) => Ownership;
  readonly forward: Nodes['forward'];
  readonly captures: Pick<PassedCaptures, 'takes'>;
  /** Serves a request on this node. */
  readonly serve: RequestListener;
  /** Answers with the error body. */
  readonly refuse: (request: IncomingMessage, response: ServerResponse, why: Problem) => void;
}

export function createRouter(parts: RouterParts): RequestListener {
  const { findDevice, ownershipOf, serve } = parts;
  const serveOwned = (
    request: IncomingMessage,
    response: ServerResponse & { req: IncomingMessage },
    deviceId: string,
  ): void => {
    if (parts.captures.takes(request, response, deviceId)) return;
    const ownership = ownershipOf(deviceId);
    if (ownership.isOwn()) return serve(request, response);
    routeToOwner(parts, ownership, request, response).catch((error: unknown) => {
      if (response.headersSent) return void response.destroy();
      parts.refuse(request, response, error as Problem);
    });
  };
  return (request, response) => {
    const deviceId = findDevice(request);
    if (deviceId === undefined) return serve(request, response);
    if (typeof deviceId === 'string') return serveOwned(request, response, deviceId);
    deviceId.then(
      (found) =>
        found === undefined ? serve(request, response) : serveOwned(request, response, found),
      // The sender is unknown, and is answered so.
      () => serve(request, response),
    );
  };
}

/** Asks the owner; when the device moves meanwhile, its next one. */
async function routeToOwner(
  parts: RouterParts,
  { lease, isOwn, owner }: Ownership,
  request: IncomingMessage,
  response: ServerResponse & { req: IncomingMessage },
): Promise<void> {
  const sending = new Sending(request, response, lease);
  // Once its body is read, a request is forwarded to this node as well.
  const ownership = { isOwn: () => isOwn() && !sending.hasBegun(), owner };
  const answer = await askOwner(ownership, parts, async (node) => {
    if (!sending.canRepeat()) throw problem('deviceMoved');
    const sent = await sending.request();
    return parts.forward(node, sent).catch(async (error: unknown) => {
      if (!isRead(sent) || !(error instanceof NodeUnreachable)) throw error;
      // What only reads is asked of the next owner, but does not wait until there is one.
      await parts.refresh();
      if (error.wasSent && owner()?.id === node.id) throw error;
      return 'notHeld' as const;
    });
  });
  if (answer === 'own') return parts.serve(request, response);
  await sendAnswer(answer, response);
}

/** For a client that is gone, nothing is asked again. */
function isRead({ method, signal }: ForwardedRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && !signal.aborted;
}

class Sending {
  readonly #raw: IncomingMessage;
  readonly #lease: string;
  readonly #method: string;
  readonly #url: string;
  readonly #remoteAddress: string;
  readonly #gone = new AbortController();
  #body: Promise<Readable | Uint8Array | undefined> | undefined;
  #isStream = false;

  constructor(raw: IncomingMessage, response: ServerResponse, lease: string) {
    this.#raw = raw;
    this.#lease = lease;
    const { method = '', url = '', socket } = raw;
    this.#method = method;
    this.#url = url;
    this.#remoteAddress = socket.remoteAddress ?? '';
    response.once('close', () => {
      if (!response.writableFinished) this.#gone.abort();
    });
  }

  readonly request = async (): Promise<ForwardedRequest> => {
    this.#body ??= bodyOf(this.#raw);
    const read = await this.#body;
    this.#isStream = read instanceof Readable;
    return {
      method: this.#method,
      url: this.#url,
      headers: this.#raw.rawHeaders,
      body: read,
      remoteAddress: this.#remoteAddress,
      lease: this.#lease,
      signal: this.#gone.signal,
    };
  };

  /** Whether the body was read. */
  hasBegun(): boolean {
    return this.#body !== undefined;
  }

  /** Whether the body is there for another node. */
  canRepeat(): boolean {
    return !this.#isStream;
  }
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

// Refusal: the error body of a request that the router neither serves nor forwards.

export function refusalWith(parts: {
  readonly publicUrl: string;
  readonly trustedProxies: readonly string[];
  readonly events: EdgeEvents;
  readonly routes: readonly Route[];
  readonly now: () => number;
}) {
  const addressOf = clientAddress(parts.trustedProxies);
  const report = answerReports(parts.events, parts.routes);
  return (raw: IncomingMessage, response: ServerResponse, why: Problem): void => {
    const request = new DirectRequest(raw, { params: {}, query: {}, routeOptions: {}, addressOf });
    const reply = new DirectReply(request, response);
    response.on('close', () => {
      if (response.writableFinished) report(request, reply);
    });
    sendFailure(parts, why, request, reply);
  };
}
