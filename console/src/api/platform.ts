// Platform: requests typed by its own OpenAPI document, what it refuses, and facts about it. The console has no other way to it.
import createClient, { type Middleware } from 'openapi-fetch';
import { queryOptions } from '@tanstack/react-query';
import type { paths } from '../../generated/interface-types.ts';
import { connection } from './connection.ts';
import { shownLanguage } from '../words/language.tsx';
import { apiWords } from './api-words.ts';

/** One method for each HTTP method; paths, parameters and bodies are checked by the compiler. */
export const platform = createClient<paths>({ baseUrl: '' });

const csrfHeader = 'x-csrf-token';

/** The readable cookie of a session (contract 35); without it the browser has no session. */
export function csrfToken(): string | undefined {
  return /(?:^|; )(?:__Host-)?csrf=([^;]+)/.exec(document.cookie)?.[1];
}

// A change with the cookie repeats the readable cookie, which another site cannot read.
const repeatToken: Middleware = {
  onRequest({ request }) {
    const token = csrfToken();
    if (request.method !== 'GET' && token !== undefined) request.headers.set(csrfHeader, token);
    return request;
  },
};
platform.use(repeatToken);

/** Begins the session anew over the page; there once the page can do that. */
export const endedSession: { begin?: () => Promise<boolean> } = {};

// A change that the end of the session refuses is made once the user has signed in over the page.
// Bodies are kept as bytes: a clone would send a stream, which tools of developers cannot show.
const bodies = new WeakMap<Request, ArrayBuffer>();
const withBody = (request: Request, body: ArrayBuffer) =>
  new Request(request, body.byteLength === 0 ? {} : { body });
const signInAgain: Middleware = {
  async onRequest({ request, schemaPath }) {
    if (request.method === 'GET' || schemaPath.startsWith('/v3/auth/')) return undefined;
    const body = await request.arrayBuffer();
    const sent = withBody(request, body);
    bodies.set(sent, body);
    return sent;
  },
  async onResponse({ request, response }) {
    const body = response.status === 401 ? bodies.get(request) : undefined;
    if (body === undefined || (await endedSession.begin?.()) !== true) return undefined;
    const again = withBody(request, body);
    again.headers.set(csrfHeader, csrfToken() ?? '');
    return fetch(again);
  },
};
platform.use(signInAgain);

interface Answered<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * Returns the body of an answer. Throws Refusal with the platform's message and request id for
 * every other status than 2xx, and Refusal with status 0 when no answer came.
 */
export async function ask<T>(call: Promise<Answered<T>>): Promise<T> {
  let answered: Answered<T>;
  try {
    answered = await call;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    connection.lost();
    throw Refusal.unreachable();
  }
  if (!answered.response.ok) throw Refusal.of(answered.response, answered.error);
  return answered.data as T;
}

// Refusals: what the platform answered instead of the thing that was asked for (interface 7).

interface ErrorBody {
  readonly message?: unknown;
  readonly errorCode?: unknown;
  readonly requestId?: unknown;
}

/** An answer other than 2xx, or none at all (status 0). */
export class Refusal extends Error {
  readonly status: number;
  /** Stable name of the problem, such as `permissionDenied`. */
  readonly errorCode: string | undefined;
  /** Finds the request in the log of the platform. */
  readonly requestId: string | undefined;

  constructor(status: number, message: string, errorCode?: string, requestId?: string) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.errorCode = errorCode;
    this.requestId = requestId;
  }

  static of(response: Response, body: unknown): Refusal {
    const { message, errorCode, requestId } = (body ?? {}) as ErrorBody;
    return new Refusal(
      response.status,
      stringOr(message) ?? response.statusText,
      stringOr(errorCode),
      stringOr(requestId) ?? response.headers.get('x-request-id') ?? undefined,
    );
  }

  static unreachable(): Refusal {
    return new Refusal(0, apiWords[shownLanguage()].unreachable);
  }
}

const stringOr = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

// About: the facts about the installation, asked for once.

export const aboutQuery = queryOptions({
  queryKey: ['about'],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: ({ signal }) => ask(platform.GET('/v3/about', { signal })),
});
