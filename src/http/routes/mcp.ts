// Route of the MCP server, which assistants use with an API key or an access token.
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { assistants } from '../../contract/assistants.ts';
import { allEndpoints } from '../../contract/endpoint-table.ts';
import type { WorkTurns } from '../../transports/work-turns.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { Answer, route, type Route, type RouteInput } from '../edge/route.ts';
import { type Ask, type McpHandler, type ToolCaller, ToolRefusal } from '../mcp/mcp-handler.ts';

interface McpParts {
  /** Requests of an organization wait when others of it are in progress. */
  readonly turns: WorkTurns;
  /** Loads the handler, which takes tens of megabytes, with the first request. */
  readonly handler: () => Promise<McpHandler>;
  /** A request to the interface of this platform. */
  readonly send: (
    method: 'GET' | 'POST',
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string | undefined,
  ) => Promise<{ readonly status: number; readonly body: string }>;
  readonly publicUrl: () => string;
  /** Origins whose pages may call the interface. */
  readonly corsOrigins: readonly string[];
}

export function mcpRoutes(parts: McpParts): Route[] {
  return [
    route(assistants.mcp, async (input, principal) => {
      refuseForeign(input.headers, principal, parts);
      const { answer } = await parts.handler();
      const caller = callerOf(input.headers, principal, parts);
      const end = await parts.turns.assistants.begin(principal.organizationId);
      try {
        await parts.turns.nextTurn(principal.organizationId);
        const found = await answer(requestOf(input, parts), input.body, caller);
        const headers = Object.fromEntries(found.headers);
        const body = found.body as ReadableStream<Uint8Array> | null;
        const answered = body === null ? Readable.from([]) : Readable.fromWeb(body);
        // The tools run while the answer is written.
        answered.once('close', end);
        return new Answer(found.status, answered, headers);
      } catch (error) {
        end();
        throw error;
      }
    }),
  ];
}

/**
 * Pages of other origins must not reach the server through a browser, also not by a name that
 * resolves to its address. The session of a browser is not accepted either, because a page could use
 * it without asking. Throws Problem 403.
 */
function refuseForeign(
  { origin }: IncomingHttpHeaders,
  principal: Principal,
  { publicUrl, corsOrigins }: McpParts,
): void {
  if (principal.kind === 'USER') throw problem('assistantSession');
  const allowed = [new URL(publicUrl()).origin, ...corsOrigins];
  if (origin !== undefined && !allowed.includes(origin)) throw problem('foreignOrigin', { origin });
}

/** Without the credential, which the tools do not need to see. */
function requestOf(
  { headers, signal }: RouteInput<unknown, unknown, unknown>,
  { publicUrl }: McpParts,
): Request {
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (typeof value === 'string' && isOfProtocol(name)) sent.set(name, value);
  return new Request(new URL('/mcp', publicUrl()), { method: 'POST', headers: sent, signal });
}

function isOfProtocol(name: string): boolean {
  return name === 'accept' || name === 'content-type' || name.startsWith('mcp-');
}

function callerOf(
  headers: IncomingHttpHeaders,
  { workspaces, organizationId }: Principal,
  parts: McpParts,
): ToolCaller {
  const workspaceIds = workspaces === 'all' ? undefined : [...workspaces];
  return { ask: askAs(headers, parts), workspaceIds, organizationId };
}

/** Asks as the caller, so that every tool has exactly the permissions of the credential. */
function askAs(headers: IncomingHttpHeaders, { send }: McpParts): Ask {
  const credential: Record<string, string> = {};
  for (const name of ['x-api-key', 'authorization'] as const) {
    const value = headers[name];
    if (typeof value === 'string') credential[name] = value;
  }
  return async (method, url, body) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const text = body === undefined ? undefined : JSON.stringify(body);
    const answer = await send(method, url, { ...credential, ...type }, text);
    const value: unknown = answer.body === '' ? null : JSON.parse(answer.body);
    if (answer.status < 300) return value;
    throw new ToolRefusal(
      refusalOf(answer.status, value, answer.status === 403 ? needsOf(method, url) : ''),
    );
  };
}

function refusalOf(status: number, value: unknown, needs: string): string {
  const { errorCode, message } = (value ?? {}) as { errorCode?: unknown; message?: unknown };
  return `${status} ${String(errorCode ?? '')}: ${String(message ?? '')}${needs}`;
}

/** The permission of the endpoint that a tool asked, for whoever creates the key. */
function needsOf(method: string, url: string): string {
  const [path = ''] = url.split('?');
  const endpoint = allEndpoints.find((one) => one.method === method && isPathOf(one.path, path));
  if (endpoint === undefined || !('scope' in endpoint.access)) return '';
  const { scope, verb, also = [] } = endpoint.access;
  const needed = [[scope, verb], ...also].map(([on, may]) => `\`${on}\` \`${may}\``);
  return `. Needs the permission ${needed.join(' and ')} in the workspace`;
}

/** By segments: a parameter stands for any one. */
function isPathOf(pattern: string, path: string): boolean {
  const [names, values] = [pattern.split('/'), path.split('/')];
  return (
    names.length === values.length &&
    names.every((name, at) => name.startsWith(':') || name === values[at])
  );
}
