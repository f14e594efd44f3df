// Router: forwards a request about one device to the node that owns it, as it is.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parse as parseQuery } from 'fast-querystring';
import {
  type ForwardedAnswer,
  type ForwardedRequest,
  type Nodes,
  NodeUnreachable,
} from '../../cluster/nodes/nodes.ts';
import { askOwner, type OwnerSearch, type Ownership } from '../../cluster/nodes/owner-search.ts';
import { problem, type Problem } from '../../model/problem.ts';
import { DirectReply, DirectRequest, readBody } from '../edge/direct-exchange.ts';
import { answerReports, type EdgeEvents, sendFailure } from '../edge/responses.ts';
import { clientAddress, requestIdOf } from '../edge/admission.ts';
import { bodyBytesMaxDefault, type Route } from '../edge/route.ts';
import type { CaptureSenders } from '../../uplinks/capture/capture-senders.ts';
import { createRouteTree } from '../edge/route-tree.ts';
import type { NodeAddress, NodeMessages } from '../../model/node-messages.ts';
import { EdgeMessage, EdgeResponse, wholeCaptureBytes } from '../threads/edge-exchange.ts';

export const routerLimits = {
  /** Longer bodies are sent while they are read, and cannot be sent to a second node. */
  keptBytesMax: 256 * 1024,
} as const;

interface RouterParts extends OwnerSearch {
  readonly findPlace: FindPlace;
  readonly ownershipOf: (place: string) => Ownership;
  readonly forward: Nodes['forward'];
  readonly captures: {
    takes(request: IncomingMessage, response: ServerResponse, place: string): boolean;
  };
  /** Serves a request on this node. */
  readonly serve: RequestListener;
  /** Answers with the error body. */
  readonly refuse: (request: IncomingMessage, response: ServerResponse, why: Problem) => void;
}

export function createRouter(parts: RouterParts): RequestListener {
  const { findPlace, ownershipOf, serve } = parts;
  const serveOwned = (
    request: IncomingMessage,
    response: ServerResponse & { req: IncomingMessage },
    place: string,
  ): void => {
    if (parts.captures.takes(request, response, place)) return;
    const ownership = ownershipOf(place);
    if (ownership.isOwn()) return serve(request, response);
    routeToOwner(parts, ownership, request, response).catch((error: unknown) => {
      if (response.headersSent) return void response.destroy();
      parts.refuse(request, response, error as Problem);
    });
  };
  return (request, response) => {
    const place = findPlace(request);
    if (place === undefined) return serve(request, response);
    if (typeof place === 'string') return serveOwned(request, response, place);
    place.then(
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
    const request = new DirectRequest(raw, {}, {}, {}, addressOf);
    const reply = new DirectReply(request, response);
    response.on('close', () => {
      if (response.writableFinished) report(request, reply);
    });
    sendFailure(parts, why, request, reply);
  };
}

// Routed requests: those about one device, which its owner answers, and how the device is found.

/**
 * The workspace of the device that a request is about, or the place of a node. Undefined when it is
 * about none, or about one that is unknown: the node that received the request answers it.
 */
type FindPlace = (request: IncomingMessage) => Promise<string | undefined> | string | undefined;

/** The node that has the file of an export, if it is another one that is there. */
type FindExportNode = (exportId: string) => Promise<NodeAddress | undefined>;

const nodePlace = 'node/';

/** What a request is about that a certain node answers; the lease of the request, too. */
export const placeOfNode = (nodeId: string): string => nodePlace + nodeId;

/** The workspace of a device by service id; undefined for an unknown one. */
type FindWorkspace = (deviceId: string) => string | undefined | Promise<string | undefined>;

/** The id of the node, unless the place is a workspace. */
export function nodeOfPlace(place: string): string | undefined {
  return place.startsWith(nodePlace) ? place.slice(nodePlace.length) : undefined;
}

const ofDevice = /^\/v3\/devices\/:(?<name>id|deviceId)(?:\/|$)/;
const capturePath = '/v3/capture';
/** By the routes that need the file of an export. */
const exportFiles = new Set(['GET /v3/exports/:id/content', 'DELETE /v3/exports/:id']);

type KnownRoute = Pick<Route, 'method' | 'path' | 'bodyBytesMax'>;
type RoutedRoute = KnownRoute & { readonly parameter: string | undefined };

/**
 * Requests below `/v3/devices/:id`, captures, and those for the file of an export. Records of devices are served by the owner too,
 * because its memory of the device changes with them.
 */
export function placeFinder(
  routes: readonly KnownRoute[],
  {
    findSender,
    findWorkspace,
    findExportNode,
  }: {
    readonly findSender: CaptureSenders['ofCapture'];
    readonly findWorkspace: FindWorkspace;
    readonly findExportNode: FindExportNode;
  },
): FindPlace {
  const find = createRouteTree<RoutedRoute>(
    routes.map(({ method, path, bodyBytesMax }) => ({
      method,
      path,
      ...(bodyBytesMax !== undefined && { bodyBytesMax }),
      parameter: ofDevice.exec(path)?.groups?.['name'],
    })),
  );
  return (request) => {
    const { method = '', url = '' } = request;
    const [path = '', query = ''] = url.split('?', 2);
    const found = find(method, path);
    if (found === undefined || isTooLong(request, found.route)) return undefined;
    if (path === capturePath) return senderOf(request, query, findSender);
    const { parameter, path: routePath } = found.route;
    if (exportFiles.has(`${found.route.method} ${routePath}`))
      return placeOfExport(found.params, findExportNode);
    const deviceId = parameter === undefined ? undefined : found.params[parameter];
    return deviceId === undefined ? undefined : findWorkspace(deviceId);
  };
}

async function placeOfExport(
  { id = '' }: Readonly<Record<string, string>>,
  findNode: FindExportNode,
): Promise<string | undefined> {
  const node = await findNode(id);
  return node && placeOfNode(node.id);
}

/** Every node refuses it alike, and its sender may be gone before another node has. */
function isTooLong(
  { headers }: IncomingMessage,
  { bodyBytesMax = bodyBytesMaxDefault }: KnownRoute,
): boolean {
  return Number(headers['content-length'] ?? 0) > bodyBytesMax;
}

/** Rejects for an unknown sender. */
async function senderOf(
  { headers }: IncomingMessage,
  query: string,
  findSender: CaptureSenders['ofCapture'],
): Promise<string> {
  const found = await findSender(parseQuery(query), headers);
  const sender = await found.current();
  if (sender.kind === 'networkServer') throw new Error('The body names the devices');
  return sender.route.device.workspaceId;
}

// Passed captures: uplinks over HTTP that arrived at another node than their owner, which serves them as an edge thread's (contract 42).

const kind = 'capture';
/** Bytes of a capture apart from its body, roughly. */
const overheadBytes = 600;

/** As nodes send it: JSON of the header fields, and the body with a character for each byte. */
type SentCapture = readonly [url: string, headers: string, address: string, body: string];
/** The body is text, or `{ base64 }`. */
type SentAnswer = readonly [
  status: number,
  head: readonly string[],
  body: string | { readonly base64: string },
];

export class PassedCaptures {
  readonly #messages: NodeMessages;
  /** Serves a request on this node. */
  readonly #serve: RequestListener;
  /** Answers with the error body. */
  readonly #refuse: (request: IncomingMessage, response: ServerResponse, why: Problem) => void;

  /** Answers the captures of other nodes from now on. */
  constructor(
    messages: NodeMessages,
    serve: RequestListener,
    refuse: (request: IncomingMessage, response: ServerResponse, why: Problem) => void,
  ) {
    this.#messages = messages;
    this.#serve = serve;
    this.#refuse = refuse;
    messages.handle(kind, (request) => {
      const sent = request as SentCapture;
      return this.#serveHere(sent);
    });
  }

  /**
   * Whether the request is a capture that was passed to the owner of `place`. Captures of one owner
   * arrive in batches, in the order in which they came. Any other request, and a capture that
   * begins on this node, is left alone.
   */
  takes(request: IncomingMessage, response: ServerResponse, place: string): boolean {
    const bytes = wholeCaptureBytes(request);
    if (bytes === undefined || this.#messages.beginsHere(place)) return false;
    this.#pass(request, response, { place, bytes }).catch((error: unknown) => {
      if (response.headersSent) return void response.destroy();
      this.#refuse(request, response, error as Problem);
    });
    return true;
  }

  async #pass(
    request: IncomingMessage,
    response: ServerResponse,
    { place, bytes }: { readonly place: string; readonly bytes: number },
  ): Promise<void> {
    const { url = '', headers, socket } = request;
    // So that the answer has the id that it has in the log.
    headers['x-request-id'] = requestIdOf(headers['x-request-id']);
    const read = readBody(request, bytes);
    const body = read instanceof Promise ? await read : read;
    const sent: SentCapture = [
      url,
      JSON.stringify(headers),
      socket.remoteAddress ?? '',
      body.toString('latin1'),
    ];
    const answer = await this.#messages.toHolder(place, {
      kind,
      request: sent,
      bytes: bytes + overheadBytes,
      isOfClient: true,
      own: () => this.#serveHere(sent),
    });
    const [status, head, text] = answer as SentAnswer;
    response.writeHead(status, [...head]);
    response.end(typeof text === 'string' ? text : Buffer.from(text.base64, 'base64'));
  }

  #serveHere([url, headers, address, body]: SentCapture): Promise<SentAnswer> {
    return new Promise((resolve) => {
      const bytes = Buffer.from(body, 'latin1');
      const message = new EdgeMessage({ method: 'POST', url, headers, address }, bytes);
      const response = new EdgeResponse(message, (status, head, answer) => {
        const text =
          typeof answer === 'string' ? answer : { base64: Buffer.from(answer).toString('base64') };
        resolve([status, head, text]);
      });
      this.#serve(message, response);
    });
  }
}
