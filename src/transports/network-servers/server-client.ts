// HTTP client of network server APIs: uses the egress guard, separates permanent from temporary errors.
import { hourMs } from '../../model/instant.ts';
import { parsedJson } from '../../model/json-keys.ts';
import { isJsonObject, type JsonObject } from '../../model/json.ts';
import { Problem } from '../../model/problem.ts';
import type { EgressGuard } from '../../outputs/egress/guard.ts';
import { readHttpUrl } from '../../outputs/egress/host-check.ts';
import { EgressRefused } from '../../outputs/egress/egress-refused.ts';
import type { HttpCall } from '../../outputs/egress/http-exchange.ts';
import type { ServerCall } from './network-server.ts';

const clientLimits = {
  timeoutMs: 10_000,
  answerBytesMax: 64 * 1024,
  reasonLengthMax: 300,
  retryAfterMsMax: hourMs,
} as const;

type ServerAnswer =
  | { readonly ok: true; readonly answer: JsonObject }
  | {
      readonly ok: false;
      readonly retry: boolean;
      readonly reason: string;
      readonly retryAfterMs?: number;
    };

/**
 * Makes the calls in order until one fails; the answer is the last one's. Reasons hold no
 * credentials.
 */
export async function callServer(
  calls: readonly ServerCall[],
  egress: EgressGuard,
  signal: AbortSignal,
): Promise<ServerAnswer> {
  let last: ServerAnswer = { ok: true, answer: {} };
  for (const call of calls) {
    last = await callOnce(call, egress, signal);
    if (!last.ok) return last;
  }
  return last;
}

async function callOnce(
  { method, url, headers, body, alsoAccepted = [] }: ServerCall,
  egress: EgressGuard,
  signal: AbortSignal,
): Promise<ServerAnswer> {
  try {
    if (readHttpUrl(url) === undefined) throw new EgressRefused(url, 'unreadable');
    const request: HttpCall = {
      method,
      url,
      headers: {
        accept: 'application/json',
        'user-agent': 'heliograph',
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
      answerBytesMax: clientLimits.answerBytesMax,
    };
    const timeout = AbortSignal.timeout(clientLimits.timeoutMs);
    const answer = await egress.request(request, AbortSignal.any([signal, timeout]));
    const { status } = answer;
    const text = answer.text.trim();
    const isGood = status >= 200 && status < 300;
    if (isGood || alsoAccepted.includes(status)) return { ok: true, answer: objectFrom(text) };
    const reason = `it returned ${status} ${text.slice(0, clientLimits.reasonLengthMax)}`.trim();
    const isTemporary = status === 408 || status === 429 || status >= 500;
    if (!isTemporary) return { ok: false, retry: false, reason };
    const retryAfterMs = retryAfterOf(answer.retryAfter);
    return { ok: false, retry: true, reason, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  } catch (error) {
    return troubleOf(error);
  }
}

function troubleOf(error: unknown): ServerAnswer {
  const causes: unknown[] = [error];
  for (
    let at = error;
    at instanceof Error && at.cause !== undefined && causes.length < 5;
    at = at.cause
  )
    causes.push(at.cause);
  const refused = causes.find(
    (cause) => cause instanceof EgressRefused || cause instanceof Problem,
  );
  if (refused instanceof Error) return { ok: false, retry: false, reason: refused.message };
  const told = causes.findLast((cause) => cause instanceof Error && cause.message !== '') as
    | Error
    | undefined;
  let reason = `it is unreachable: ${told?.message ?? 'unknown error'}`;
  if (error instanceof Error && error.name === 'TimeoutError')
    reason = `it timed out after ${clientLimits.timeoutMs / 1_000} s`;
  return { ok: false, retry: true, reason };
}

function objectFrom(text: string): JsonObject {
  try {
    const value = parsedJson(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function retryAfterOf(header: string | undefined): number | undefined {
  const seconds = Number(header ?? Number.NaN);
  if (!Number.isFinite(seconds) || seconds < 0) return undefined;
  return Math.min(seconds * 1_000, clientLimits.retryAfterMsMax);
}
