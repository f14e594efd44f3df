// Lets a request in, step by step: credential, what is left of its requests, place, permission.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestLimit } from '../access/request-limit.ts';
import type { Actor } from '../model/actor.ts';
import type { Scope, Verb } from '../model/permission.ts';
import type { Place } from '../model/place.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { Access } from './route.ts';

type Permissions = Pick<Extract<Access<never, never>, { readonly scope: Scope }>, 'scope' | 'verb' | 'also'>;

export interface Guard {
  /** Throws Problem 401 when the headers hold no valid credential, or two. */
  identify(
    headers: Readonly<Record<string, string | string[] | undefined>>,
    method: string,
  ): Principal | Promise<Principal>;
  /** Throws Problem 403, or 404 for a place of another organization. Without a place only scope and verb count. */
  authorize(principal: Principal, scope: Scope, verb: Verb, place?: Place): void;
  /** What is left of a credential's requests; absent when there is no limit. */
  readonly limit?: RequestLimit | undefined;
  /** Runs work that may change something, so that the change is told under the actor's name. */
  readonly actAs?: <T>(actor: Actor, work: () => T) => T;
}

/** 401, then 404 for the place, then 403; all before the body is read. */
export async function admit(
  access: Access<never, never>,
  request: FastifyRequest,
  reply: FastifyReply,
  guard: Guard,
): Promise<Principal | undefined> {
  if ('open' in access) {
    await access.admit?.(request.headers, request.query);
    return undefined;
  }
  const principal = await guard.identify(request.headers, request.method);
  if (guard.limit !== undefined) spend(guard.limit, principal, reply);
  if (access.userOnly && principal.kind !== 'USER') throw problem('permissionDenied');
  if ('anyCredential' in access) return principal;
  const place = 'byParams' in access.place ? await access.place.byParams(request.params as never) : undefined;
  // Where the body names the place, the rest is asked once it is known.
  if ('byBody' in access.place) guard.authorize(principal, access.scope, access.verb);
  else authorizeAll(guard, principal, access, place);
  return principal;
}

/** Throws Problem 404 or 403 for the first permission that is missing. */
function authorizeAll(
  guard: Guard,
  principal: Principal,
  { scope, verb, also = [] }: Permissions,
  place: Place | undefined,
): void {
  for (const [asked, wanted] of [[scope, verb] as const, ...also]) guard.authorize(principal, asked, wanted, place);
}

/** Counts the request and tells in headers what is left (contract 0.2). Throws Problem 429. */
function spend(limit: RequestLimit, principal: Principal, reply: FastifyReply): void {
  const left = limit(principal.id);
  reply.header('x-ratelimit-limit', left.limit);
  reply.header('x-ratelimit-remaining', left.remaining);
  reply.header('x-ratelimit-reset', left.resetSeconds);
  if (!left.allowed) throw problem('rateLimited', { retryAfterSeconds: left.retryAfterSeconds });
}

export function actorOf(principal: Principal, request: FastifyRequest): Actor {
  const { kind, id, name } = principal;
  return { type: kind, id, name, requestId: request.id, ip: request.ip };
}

/** 404 and 403 for what only the body names. */
export async function admitBody(
  access: Access<never, never>,
  body: unknown,
  principal: Principal | undefined,
  guard: Guard,
): Promise<void> {
  if (principal === undefined || !('scope' in access) || !('byBody' in access.place)) return;
  authorizeAll(guard, principal, access, await access.place.byBody(body as never, principal));
}
