// Admission of a request: credential, request limit, resource, permission.
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import type { NamedIds } from '../../access/authorize.ts';
import type { RequestLimit } from '../../access/rate-limits.ts';
import { requireMfaSetup } from '../../access/second-factor.ts';
import type { CredentialAccess, PermissionAccess } from '../../contract/endpoint.ts';
import {
  type Actor,
  isClosed,
  type Principal,
  principalIn,
  type Scope,
  type Verb,
} from '../../model/principal.ts';
import { problem, Problem } from '../../model/problem.ts';
import type { Place } from '../../model/record.ts';
import { type SharedDashboard, sharedKey, sharedKeys } from '../../model/dashboard.ts';
import { type EdgeReply, type EdgeRequest, type RequestTurns, routeOf } from './exchange.ts';
import { listOf } from './list-query.ts';
import type { Route } from './route.ts';

type Permissions = PermissionAccess;

export interface Guard {
  /** Throws Problem 401 when the headers hold no valid credential, or two. */
  identify(
    headers: Readonly<Record<string, string | string[] | undefined>>,
    method: string,
  ): Principal | Promise<Principal>;
  /**
   * Throws Problem 403, or 404 for a place of another organization. Without a place only scope and
   * verb count.
   */
  authorize(principal: Principal, scope: Scope, verb: Verb, place?: Place): void;
  /** The organization of what a request names; undefined when it names nothing that is there. */
  readonly organizationOf?: ((named: NamedIds) => Promise<string | undefined>) | undefined;
  /** What is left of a credential's requests; absent when there is no limit. */
  readonly limit?: RequestLimit | undefined;
  /** Organizations take turns on the main thread; absent where none is shared. */
  readonly turns?: RequestTurns | undefined;
  /** Runs work that may change something, so that the change is told under the actor's name. */
  readonly actAs?: <T>(actor: Actor, work: () => T) => T;
}

/**
 * Checks the request of a route that needs a credential: 401, then 404 for the resource, then 403;
 * all before the body is read. What is in memory is checked without a promise: each of them costs a
 * query as much as the checks themselves.
 */
export function admit(
  route: Route,
  request: EdgeRequest,
  reply: EdgeReply,
  guard: Guard,
): Principal | Promise<Principal> {
  const admitting = { route, access: guardedAccess(route), request, reply, guard };
  const principal = identified(route, request, guard);
  if (principal instanceof Promise) return principal.then((found) => admitIn(admitting, found));
  return admitIn(admitting, principal);
}

function admitIn(
  {
    route,
    access,
    request,
    reply,
    guard,
  }: {
    readonly route: Route;
    readonly access: CredentialAccess | PermissionAccess;
    readonly request: EdgeRequest;
    readonly reply: EdgeReply;
    readonly guard: Guard;
  },
  principal: Principal,
): Principal | Promise<Principal> {
  if (guard.limit !== undefined) spend(guard.limit, principal, reply);
  if (principal.share !== undefined && route.takesShares === undefined)
    throw problem('permissionDenied');
  if (!isForEnrolling(access)) requireMfaSetup(principal);
  if (access.userOnly && principal.kind !== 'USER') throw problem('permissionDenied');
  if ('scope' in access && access.resource === 'path') {
    const place = resourceOf(route, request.params, principal);
    if (place instanceof Promise)
      return place.then((found) => admitAt(guard, principal, access, found));
    return admitAt(guard, principal, access, place);
  }
  return admitAnywhere(access, principal, request, guard);
}

function admitAt(guard: Guard, principal: Principal, access: Permissions, place: Place): Principal {
  const acting = principalIn(principal, place.organizationId);
  authorizeAll(guard, acting, access, place);
  return acting;
}

async function admitAnywhere(
  access: CredentialAccess | PermissionAccess,
  principal: Principal,
  request: EdgeRequest,
  guard: Guard,
): Promise<Principal> {
  const acting = await actingOn(principal, request.query, guard);
  if (!('scope' in access)) return acting;
  // Where the body names the resource, the rest is checked once it is known.
  if (access.resource === 'body') guard.authorize(acting, access.scope, access.verb);
  else if (!isLimited(access, acting)) authorizeAll(guard, acting, access, undefined);
  return acting;
}

/** Whether the credential needs no permission, because it is limited to workspaces. */
function isLimited({ orLimited }: PermissionAccess, { workspaces }: Principal): boolean {
  return orLimited === true && workspaces !== 'all';
}

function identified(
  { withoutCredential }: Route,
  { headers, method }: EdgeRequest,
  guard: Guard,
): Principal | Promise<Principal> {
  if (withoutCredential === undefined) return guard.identify(headers, method);
  return identifiedElse(withoutCredential, () => guard.identify(headers, method));
}

async function identifiedElse(
  withoutCredential: NonNullable<Route['withoutCredential']>,
  identify: () => Principal | Promise<Principal>,
): Promise<Principal> {
  try {
    return await identify();
  } catch (error) {
    const isMissing =
      error instanceof Problem && ['unauthorized', 'invalidToken'].includes(error.problem);
    throw isMissing ? problem(withoutCredential) : error;
  }
}

function guardedAccess({ access, method, path }: Route): CredentialAccess | PermissionAccess {
  if ('open' in access)
    throw new Error(`${method} ${path} is open: there is no principal to admit`);
  return access;
}

function isForEnrolling(access: CredentialAccess | PermissionAccess): boolean {
  return 'anyCredential' in access && access.beforeSecondFactor === true;
}

function resourceOf(route: Route, named: unknown, principal: Principal): Place | Promise<Place> {
  const { findResource, method, path } = route;
  if (findResource === undefined) throw new Error(`${method} ${path} does not find its resource`);
  return findResource(named as never, principal as never);
}

/** Throws Problem 404 or 403 for the first permission that is missing. */
function authorizeAll(
  guard: Guard,
  principal: Principal,
  { scope, verb, also = [] }: Permissions,
  place: Place | undefined,
): void {
  for (const [asked, wanted] of [[scope, verb] as const, ...also])
    guard.authorize(principal, asked, wanted, place);
}

/** Counts the request and tells in headers what is left (contract 0.2). Throws Problem 429. */
function spend(limit: RequestLimit, principal: Principal, reply: EdgeReply): void {
  const left = limit(principal.id);
  reply.header('x-ratelimit-limit', left.limit);
  reply.header('x-ratelimit-remaining', left.remaining);
  reply.header('x-ratelimit-reset', left.resetSeconds);
  if (!left.allowed) throw problem('rateLimited', { retryAfterSeconds: left.retryAfterSeconds });
}

export function actorOf(principal: Principal, request: EdgeRequest): Actor {
  const { kind, id, name } = principal;
  return { type: kind, id, name, requestId: request.id, ip: request.ip };
}

/**
 * A user of several organizations acts in that of what the request names; undecided when it names
 * nothing.
 */
async function actingOn(
  principal: Principal,
  sent: unknown,
  { organizationOf }: Guard,
): Promise<Principal> {
  if ((principal.inOrganizations?.size ?? 0) < 2) return principal;
  const organizationId = await organizationOf?.(namedPlaces(sent));
  if (organizationId === undefined) return principal;
  return principalIn(principal, organizationId);
}

/**
 * 404 and 403 for what only the body names. Returns the principal as it acts in the organization
 * that is named by now.
 */
export function admitBody(
  route: Route,
  body: unknown,
  principal: Principal,
  guard: Guard,
): Principal | Promise<Principal> {
  const access = guardedAccess(route);
  // A credential of one organization, and a resource that was checked, if there is any.
  const isKnown =
    'scope' in access && access.resource !== 'body' && principal.inOrganizations === undefined;
  if (isKnown && !isClosed(principal)) return principal;
  return admitNamed(route, access, body, principal, guard);
}

async function admitNamed(
  route: Route,
  access: CredentialAccess | PermissionAccess,
  body: unknown,
  principal: Principal,
  guard: Guard,
): Promise<Principal> {
  const acting = await actingFor(route, access, body, principal, guard);
  // The organization is known only now: of several, some may demand a second factor.
  if (isClosed(acting) && !isForEnrolling(access)) throw problem('secondFactorRequired');
  return acting;
}

async function actingFor(
  route: Route,
  access: CredentialAccess | PermissionAccess,
  body: unknown,
  principal: Principal,
  guard: Guard,
): Promise<Principal> {
  if (!('scope' in access)) return principalIn(principal);
  if (access.resource === 'body') {
    const place = await resourceOf(route, body, principal);
    const acting = principalIn(principal, place.organizationId);
    authorizeAll(guard, acting, access, place);
    return acting;
  }
  if (principal.inOrganizations === undefined) return principal;
  const acting = principalIn(await actingOn(principal, body, guard));
  // Until here it was enough to have the permission in one of the organizations.
  if (!isLimited(access, acting)) authorizeAll(guard, acting, access, undefined);
  return acting;
}

interface AskedSeries {
  readonly deviceId?: string | null | undefined;
  readonly topic?: string | undefined;
  readonly dataKey?: string | undefined;
  readonly expression?: string | null | undefined;
  readonly across?: string | null | undefined;
  /** Those that are combined. */
  readonly devices?:
    | {
        readonly deviceIds?: readonly string[] | null | undefined;
        readonly tagId?: string | null | undefined;
        readonly placeId?: string | null | undefined;
      }
    | null
    | undefined;
}

/**
 * Throws 403 for a series that no tile of the shared dashboard shows. Devices, tags and places that it does
 * not name at all are refused with those that do not exist.
 */
export function refuseUnshared(
  { takesShares }: Route,
  share: SharedDashboard,
  {
    params,
    body,
  }: {
    readonly params:
      | { readonly deviceId?: string; readonly tagId?: string; readonly placeId?: string }
      | undefined;
    readonly body:
      | (AskedSeries & {
          readonly deviceIds?: readonly string[];
          readonly series?: readonly AskedSeries[];
          /** The older form of a series. */
          readonly data?: { readonly key: string; readonly topic: string };
        })
      | undefined;
  },
): void {
  if (takesShares !== 'series') return;
  const { deviceIds = [], series, data } = body ?? {};
  const { expression } = body ?? {};
  const dataKey = data?.key ?? body?.dataKey;
  const one = { topic: data?.topic ?? body?.topic, dataKey, expression };
  const ids = [params?.deviceId ?? params?.tagId ?? params?.placeId ?? [], deviceIds].flat();
  const asked: readonly AskedSeries[] = series ?? ids.map((id) => ({ ...one, deviceId: id }));
  if (asked.length === 0) throw problem('permissionDenied');
  for (const { deviceId, topic = '', devices, ...read } of asked) {
    const key = sharedKey(read.dataKey, read.expression, read.across) ?? '';
    const { deviceIds: combined, tagId, placeId } = devices ?? {};
    for (const id of [deviceId ?? [], combined ?? [], tagId ?? [], placeId ?? []].flat())
      if (share.series.has(id) && !sharedKeys(share, id, topic)?.has(key))
        throw problem('permissionDenied');
  }
}

// Named resources: they decide in which organization a user of several acts (contract 36).

/** Ids that are looked at: the first that exists decides. */
const idsMax = 20;

/** Of a query string or a body; the ids of a `filter` in a body count like its own. */
function namedPlaces(sent: unknown): NamedIds {
  const own = objectOf(sent);
  const members = { ...objectOf((own as { readonly filter?: unknown }).filter), ...own };
  const { organizationId } = members as { readonly organizationId?: unknown };
  const ids = (...names: string[]) =>
    names.flatMap((name) => listOf(members, name) ?? []).slice(0, idsMax);
  return {
    organizationId: typeof organizationId === 'string' ? organizationId : undefined,
    workspaceIds: ids('workspaceId', 'workspaceIds'),
    deviceIds: ids('deviceIds', 'assetIds', 'assetId'),
  };
}

function objectOf(sent: unknown): object {
  return typeof sent === 'object' && sent !== null ? sent : {};
}

// Request head: id, path, client address and header fields of every request (RFC 9110, 9112).

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
