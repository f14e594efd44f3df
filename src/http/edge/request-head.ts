// Request head: id, path, client address and header fields of every request (RFC 9110, 9112).
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import { problem } from '../../model/problem.ts';
import { type EdgeRequest, routeOf } from './exchange.ts';

/**
 * Throws Problem 400 for no Host header, and for two, because a proxy may have read the other one;
 * 417 for an expectation that nobody here meets.
 */
export function checkRequestHead({ rawHeaders, headers, httpVersion }: IncomingMessage): void {
  const hosts = hostsOf(rawHeaders);
  if (hosts > 1) throw problem('invalidRequest', { reason: 'Duplicate Host header' });
  if (hosts === 0 && httpVersion === '1.1')
    throw problem('invalidRequest', { reason: 'The header Host is missing' });
  const { expect } = headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    throw problem('expectationUnknown', { expect: expect.slice(0, 100) });
}

/** How many Host headers there are; names and values alternate. */
export function hostsOf(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts;
}

/** Whether the length of the body is not certain to old senders: nothing may follow it. */
export function endsConnection({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.0' && headers['transfer-encoding'] !== undefined;
}

// Idempotency-Key header; an empty one counts as absent (contract 35).

export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key'];
  if (typeof key === 'string' && key.trim() !== '') return key;
  return undefined;
}

// Request ids: the caller's own, if it is safe to log, or a new one.

type Header = string | string[] | undefined;

/** The id of a request with this `X-Request-Id`. */
export function requestIdOf(header: Header): string {
  const id = firstOf(header) ?? '';
  if (/^[\w.:-]{1,128}$/.test(id)) return id;
  return randomUUID();
}

/** The first of a header that was sent several times. */
export function firstOf(header: Header): string | undefined {
  if (typeof header === 'object') return header[0];
  return header;
}

// Client address of requests and WebSocket handshakes that do not pass through the framework.

/** The nearest address that is not one of the trusted proxies, else the farthest. */
export function clientAddress(
  trustedProxies: readonly string[],
): (request: IncomingMessage) => string {
  if (trustedProxies.length === 0) return ({ socket }) => socket.remoteAddress ?? '';
  const trusted = new BlockList();
  for (const range of trustedProxies) {
    const [address = '', bits] = range.split('/');
    const family = familyOf(address);
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  const isTrusted = (address: string) => {
    const plain = address.replace(/^::ffff:/i, '');
    return trusted.check(plain, familyOf(plain));
  };
  return ({ socket, headers }) => {
    const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
    const hops = forwarded.map((hop) => hop.trim()).filter((hop) => hop !== '');
    let address = socket.remoteAddress ?? '';
    while (hops.length > 0 && isTrusted(address)) address = hops.pop() ?? address;
    return address;
  };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}

// Request paths: without the query, and without the secrets that some of them contain.

/** The path without the query. */
export function pathOf({ url }: { readonly url: string }): string {
  const end = url.indexOf('?');
  if (end === -1) return url;
  return url.slice(0, end);
}

/** The path as logs and error bodies may show it. */
export function shownPath(request: EdgeRequest): string {
  const route = routeOf(request);
  if (route?.secretPath) return route.path;
  const path = pathOf(request);
  // Most requests: what is written in the code contains no secret.
  return path === route?.path ? path : maskedPath(path);
}

/**
 * How a path is logged that no route has: only the steps that some route has, as others may be keys
 * at the wrong place.
 */
export function loggedPaths(
  routes: readonly { readonly path: string }[],
): (request: EdgeRequest) => string {
  const known = new Set(routes.flatMap(({ path }) => path.split('/')));
  return (request) => {
    if (request.routeOptions?.url !== undefined) return shownPath(request);
    const steps = pathOf(request).split('/', stepsMax);
    return steps.map((step) => (known.has(step) && !step.startsWith(':') ? step : '***')).join('/');
  };
}

/** More of an unknown path say nothing. */
const stepsMax = 10;

/** Mailed links contain a secret, also when they are mistyped and no route has them. */
export function maskedPath(path: string): string {
  return path.replace(/(\/(?:invitations|password-reset))\/.+/i, '$1/***');
}
