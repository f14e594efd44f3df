// HTTP answer: one request of a connector through the egress guard, and the outcome of a delivery by its answer or error (contract 35).
import type { EpochMs } from '../../model/instant.ts';
import type { HttpAnswer, HttpCall } from '../egress/http-exchange.ts';
import { failedAttempt } from './send-failure.ts';
import type { SendOutcome } from './target.ts';
import type { EgressGuard } from '../egress/guard.ts';

const temporaryStatuses: ReadonlySet<number> = new Set([408, 429]);
/** A rotated token or a deployment must not throw away what devices send meanwhile. */
const mendableStatuses: ReadonlySet<number> = new Set([401, 403, 404]);

/**
 * An answer 2xx is a delivery. Redirects are permanent failures, because they are never followed.
 * So are 4xx, except 408 and 429, and 401, 403 and 404, which are retried for some hours. A delivery
 * with any other answer is retried.
 */
export function outcomeOf(answer: HttpAnswer, now: () => EpochMs): SendOutcome {
  const { status } = answer;
  const told = toldOf(answer);
  if (status >= 200 && status < 300) return { ok: true, answer: told };
  const isRedirect = status >= 300 && status < 400 && answer.location !== undefined;
  if (isRedirect) {
    const reason = `returned ${status} (redirect). Redirects are not followed; use the final URL.`;
    return { ok: false, retry: false, reason, answer: told };
  }
  const failure = { ok: false, reason: `returned ${status}`, answer: told } as const;
  const isMendable = mendableStatuses.has(status);
  if (status >= 400 && status < 500 && !isMendable && !temporaryStatuses.has(status))
    return { ...failure, retry: false };
  const retryAfterMs = pauseOf(answer.retryAfter, now());
  const retry = isMendable ? 'HOURS' : true;
  return { ...failure, retry, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function toldOf({ status, text }: HttpAnswer): string {
  if (text === '') return `HTTP ${status}`;
  return `HTTP ${status}\n${text}`;
}

/** Milliseconds of `Retry-After`, in seconds or as a date; undefined for anything else. */
function pauseOf(retryAfter: string | undefined, now: EpochMs): number | undefined {
  if (retryAfter === undefined) return undefined;
  if (/^\d{1,9}$/.test(retryAfter.trim())) return Number(retryAfter) * 1_000;
  const at = Date.parse(retryAfter);
  if (Number.isNaN(at)) return undefined;
  return Math.max(0, at - now);
}

/** The outcome of a request without an answer. */
export function failureOf(error: unknown, signal: AbortSignal): SendOutcome {
  return failedAttempt(signal, error, isInvalidRequest);
}

/** Headers and URLs that cannot be sent are a permanent failure. */
function isInvalidRequest(error: unknown): boolean {
  return (error as { code?: string }).code === 'UND_ERR_INVALID_ARG';
}

// HTTP attempt: one request of a connector through the egress guard, and its outcome.

export async function attemptHttp(
  {
    egress,
    now,
    signal,
    isTemporary,
  }: {
    readonly egress: EgressGuard;
    readonly now: () => EpochMs;
    readonly signal: AbortSignal;
    /** Whether a rejection with this body is temporary, although its status is 4xx. */
    readonly isTemporary?: (text: string) => boolean;
  },
  request: HttpCall,
): Promise<SendOutcome> {
  try {
    const answer = await egress.request(request, signal);
    const outcome = outcomeOf(answer, now);
    if (outcome.ok || isTemporary?.(answer.text) !== true) return outcome;
    return { ...outcome, retry: true };
  } catch (error) {
    return failedAttempt(signal, error);
  }
}
