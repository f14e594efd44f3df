// Admission of a request: credential, request limit, resource, permission.
import type { RequestLimit } from '../../access/token-buckets.ts';
import { requireMfaSetup } from '../../access/second-factor.ts';
import type { CredentialAccess, PermissionAccess } from '../../contract/endpoint.ts';
import type { Actor } from '../../model/actor.ts';
import type { Scope, Verb } from '../../model/permission.ts';
import { isClosed, type Principal, principalIn } from '../../model/principal.ts';
import { Problem, problem } from '../../model/problem.ts';
import type { Place } from '../../model/record.ts';
import { type SharedDashboard, sharedKey, sharedKeys } from '../../model/shared-dashboard.ts';
import type { EdgeReply, EdgeRequest, RequestTurns } from './exchange.ts';
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
  readonly organizationOf?: ((named: NamedPlaces) => Promise<string | undefined>) | undefined;
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

interface Admitting {
  readonly route: Route;
  readonly access: CredentialAccess | PermissionAccess;
  readonly request: EdgeRequest;
  readonly reply: EdgeReply;
  readonly guard: Guard;
}

function admitIn(
  { route, access, request, reply, guard }: Admitting,
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
  readonly deviceId?: string;
  readonly topic?: string | undefined;
  readonly dataKey?: string | undefined;
  readonly expression?: string | null | undefined;
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
  for (const { deviceId = '', topic = '', ...read } of asked) {
    const key = sharedKey(read.dataKey, read.expression) ?? '';
    if (share.series.has(deviceId) && !sharedKeys(share, deviceId, topic)?.has(key))
      throw problem('permissionDenied');
  }
}

// Named resources: they decide in which organization a user of several acts (contract 36).

/** Ids, as many as are looked at: the first that exists decides. */
interface NamedPlaces {
  readonly organizationId: string | undefined;
  readonly workspaceIds: readonly string[];
  readonly deviceIds: readonly string[];
}

const idsMax = 20;

/** Of a query string or a body; the ids of a `filter` in a body count like its own. */
function namedPlaces(sent: unknown): NamedPlaces {
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
