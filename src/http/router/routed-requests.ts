// Routed requests: those about one device, which its owner answers, and how the device is found.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { parse as parseQuery } from 'fast-querystring';
import type { CaptureSenders } from '../../uplinks/capture/capture-senders.ts';
import { createRouteTree } from '../edge/route-tree.ts';
import type { NodeAddress, NodeMessages } from '../../model/node-messages.ts';
import { bodyBytesMaxDefault, type Route } from '../edge/route.ts';
import type { Problem } from '../../model/problem.ts';
import { readBody } from '../edge/direct-exchange.ts';
import { requestIdOf } from '../edge/admission.ts';
import { EdgeMessage, EdgeResponse, wholeCaptureBytes } from '../threads/edge-exchange.ts';

/**
 * The service id of the device that a request is about, or the place of a node. Undefined when it is
 * about none, or about one that is unknown: the node that received the request answers it.
 */
export type FindDevice = (
  request: IncomingMessage,
) => Promise<string | undefined> | string | undefined;

/** The node that has the file of an export, if it is another one that is there. */
type FindExportNode = (exportId: string) => Promise<NodeAddress | undefined>;

const nodePlace = 'node/';

/** What a request is about that a certain node answers; the lease of the request, too. */
export const placeOfNode = (nodeId: string): string => nodePlace + nodeId;

/** The id of the node, unless the place is a device. */
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
export function deviceFinder(
  routes: readonly KnownRoute[],
  findSender: CaptureSenders['ofCapture'],
  findExportNode: FindExportNode,
): FindDevice {
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
    return parameter === undefined ? undefined : found.params[parameter];
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
  return sender.route.device.id;
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

interface PassedCapturesParts {
  readonly messages: NodeMessages;
  /** Serves a request on this node. */
  readonly serve: RequestListener;
  /** Answers with the error body. */
  readonly refuse: (request: IncomingMessage, response: ServerResponse, why: Problem) => void;
}

export class PassedCaptures {
  readonly #parts: PassedCapturesParts;

  /** Answers the captures of other nodes from now on. */
  constructor(parts: PassedCapturesParts) {
    this.#parts = parts;
    parts.messages.handle(kind, (request) => {
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
    if (bytes === undefined || this.#parts.messages.beginsHere(place)) return false;
    this.#pass(request, response, { place, bytes }).catch((error: unknown) => {
      if (response.headersSent) return void response.destroy();
      this.#parts.refuse(request, response, error as Problem);
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
    const answer = await this.#parts.messages.toOwner(place, {
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
      const message = new EdgeMessage({ url, headers, address }, bytes);
      const response = new EdgeResponse(message, (status, head, answer) => {
        const text =
          typeof answer === 'string' ? answer : { base64: Buffer.from(answer).toString('base64') };
        resolve([status, head, text]);
      });
      this.#parts.serve(message, response);
    });
  }
}
