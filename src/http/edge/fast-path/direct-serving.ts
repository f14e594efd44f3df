// Direct serving: plain requests are answered without the framework, by the same checks in the same order.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse as parseQuery } from 'fast-querystring';
import type { Guard } from '../admission.ts';
import { jsonBodyOf, payloadOf } from '../body-parsers.ts';
import { endLarge, routeOf, turnOf } from '../exchange.ts';
import type { EdgeEvents, ReportAnswer } from '../reports.ts';
import { admitRequest, handleRequest, type ServedRoute } from '../request-handling.ts';
import { checkRequestHead, clientAddress } from '../request-head.ts';
import { sendFailure, setEdgeHeaders } from '../responses.ts';
import { bodyBytesMaxDefault, type Route } from '../route.ts';
import type { SetCorsHeaders } from '../security-headers.ts';
import { DirectReply, DirectRequest, plainBodyBytes, readBody } from '../direct/direct-exchange.ts';
import { createRouteTree } from './route-tree.ts';

interface DirectParts {
  readonly routes: readonly ServedRoute[];
  readonly guard: Guard;
  readonly events: EdgeEvents;
  readonly now: () => number;
  readonly publicUrl: string;
  readonly trustedProxies: readonly string[];
  readonly setCorsHeaders: SetCorsHeaders;
  readonly report: ReportAnswer;
}

/**
 * Serves a request, or returns false for one that is left to the framework: unknown paths, escapes
 * in the path, bodies that are streamed, long, of another type or of unknown length.
 */
export type ServeDirectly = (raw: IncomingMessage, response: ServerResponse) => boolean;

interface DirectRoute extends Pick<Route, 'method' | 'path'> {
  readonly served: ServedRoute;
  readonly routeOptions: DirectRequest['routeOptions'];
  readonly isDirect: boolean;
}

interface Accepted {
  readonly served: ServedRoute;
  readonly request: DirectRequest;
  readonly reply: DirectReply;
  readonly bodyBytes: number;
}

export function directServing(parts: DirectParts): ServeDirectly {
  const findRoute = createRouteTree(parts.routes.map(directRoute));
  const addressOf = clientAddress(parts.trustedProxies);
  return (raw, response) => {
    const { method = '', url = '' } = raw;
    const queryAt = url.indexOf('?');
    const found = findRoute(method, queryAt === -1 ? url : url.slice(0, queryAt));
    if (found === undefined) return false;
    const { params, route } = found;
    const { served, routeOptions, isDirect } = route;
    if (!isDirect) return false;
    const bodyBytes = plainBodyBytes(raw, served.route);
    if (bodyBytes === undefined) return false;
    const query = parseQuery(queryAt === -1 ? '' : url.slice(queryAt + 1));
    const request = new DirectRequest(raw, { params, query, routeOptions, addressOf });
    const reply = new DirectReply(request, response);
    // Its one listener costs less than a second one of 'finish', which comes a moment earlier.
    response.on('close', () => {
      if (response.writableFinished) parts.report(request, reply);
    });
    void answer(parts, { served, request, reply, bodyBytes }, response);
    return true;
  };
}

function directRoute(served: ServedRoute): DirectRoute {
  const { route } = served;
  const { method, path } = route;
  const routeOptions = { url: path, config: { route } };
  return { method, path, served, routeOptions, isDirect: isRead(route) };
}

/** Whether the body is read whole. */
function isRead({ streamedBody, form, bodyBytesMax = 0 }: Route): boolean {
  return streamedBody !== true && form !== true && bodyBytesMax <= bodyBytesMaxDefault;
}

async function answer(
  parts: DirectParts,
  accepted: Accepted,
  response: ServerResponse,
): Promise<void> {
  const { request, reply } = accepted;
  try {
    try {
      await answerGood(parts, accepted);
    } catch (error) {
      sendFailure(parts, error, request, reply);
    } finally {
      endLarge(request);
    }
  } catch (error) {
    // Not even the error body could be written, such as with a header that no answer may have.
    parts.events.failed(error, { path: request.url, requestId: request.id, errorId: request.id });
    response.destroy();
  }
}

async function answerGood(parts: DirectParts, accepted: Accepted): Promise<void> {
  const { served, request, reply, bodyBytes } = accepted;
  setEdgeHeaders(parts, request, reply);
  checkRequestHead(request.raw);
  parts.setCorsHeaders(request, reply);
  // Also when nothing is waited for: a body that came with the head is there after one turn.
  await admitRequest(served.route, { request, reply }, parts.guard);
  if (bodyBytes > 0) await readWhole(request, reply, bodyBytes);
  await handleRequest(served, { request, reply }, parts.guard);
  if (reply.streamed !== undefined) await reply.streamed;
}

async function readWhole(
  request: DirectRequest,
  reply: DirectReply,
  bodyBytes: number,
): Promise<void> {
  try {
    const body = readBody(request.raw, bodyBytes);
    const bytes = body instanceof Promise ? await body : body;
    const waited = turnOf(request, bodyBytes);
    if (waited !== undefined) await waited;
    request.edgeState.bodyBytes = bodyBytes;
    const { payload } = routeOf(request) ?? {};
    const parsed = payload ? payloadOf(request, bytes) : jsonBodyOf(request, bytes);
    request.body = parsed instanceof Promise ? await parsed : parsed;
  } catch (error) {
    // As the framework does, because the sender may send anything after it.
    reply.header('connection', 'close');
    throw error;
  }
}
