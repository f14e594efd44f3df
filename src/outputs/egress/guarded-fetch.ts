// Guarded fetch: requests of libraries that expect `fetch`, sent through the egress guard.
import type { EgressGuard } from './guard.ts';

interface FetchInit {
  readonly method?: string | undefined;
  readonly headers?: Headers | Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  readonly signal?: AbortSignal | null | undefined;
}

type GuardedFetch = (url: string, init: FetchInit) => Promise<Response>;

const fetchLimits = { answerBytesMax: 256 * 1024, waitMs: 10_000 } as const;
/** A `Response` of these has no body. */
const bodiless = new Set([204, 205, 304]);

/**
 * The guard does not check addresses of the origin that the operator trusts. Redirects are answers
 * like any other.
 */
export function createGuardedFetch({ request }: EgressGuard, trustedUrl: string): GuardedFetch {
  const { origin } = new URL(trustedUrl);
  return async (url, { method = 'GET', headers = {}, body, signal }) => {
    const late = AbortSignal.timeout(fetchLimits.waitMs);
    const answer = await request(
      {
        method,
        url,
        headers: Object.fromEntries(new Headers(headers).entries()),
        ...(body !== undefined && body !== null && { body: textOf(body) }),
        ...(new URL(url).origin === origin && { isOperators: true as const }),
        answerBytesMax: fetchLimits.answerBytesMax,
      },
      signal === undefined || signal === null ? late : AbortSignal.any([signal, late]),
    );
    const { status, contentType, text } = answer;
    return new Response(bodiless.has(status) ? null : text, {
      status,
      headers: contentType === undefined ? {} : { 'content-type': contentType },
    });
  };
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  if (body instanceof Uint8Array) return Buffer.from(body).toString('utf8');
  throw new TypeError('The body of a request must be a string, bytes or form fields');
}
