// HTTP client of network server APIs: uses the egress guard, separates permanent from temporary errors.
import { EgressRefused } from '../egress/egress-refused.ts';
import type { EgressGuard } from '../egress/guard.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { Problem } from '../model/problem.ts';
import type { ServerCall } from './network-server.ts';
import { hourMs } from '../model/instant.ts';

const clientLimits = {
  timeoutMs: 10_000,
  answerBytesMax: 64 * 1024,
  reasonLengthMax: 300,
  retryAfterMsMax: hourMs,
} as const;

export type ServerAnswer =
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
  egress: Pick<EgressGuard, 'fetch'>,
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
  egress: Pick<EgressGuard, 'fetch'>,
  signal: AbortSignal,
): Promise<ServerAnswer> {
  try {
    const response = await egress.fetch(url, {
      method,
      headers: {
        accept: 'application/json',
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      signal: AbortSignal.any([signal, AbortSignal.timeout(clientLimits.timeoutMs)]),
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await beginningOf(response.body);
    const { status } = response;
    if (response.ok || alsoAccepted.includes(status)) return { ok: true, answer: objectFrom(text) };
    const reason = `it answered ${status} ${text.slice(0, clientLimits.reasonLengthMax)}`.trim();
    const isTemporary = status === 408 || status === 429 || status >= 500;
    if (!isTemporary) return { ok: false, retry: false, reason };
    const retryAfterMs = retryAfterOf(response.headers.get('retry-after'));
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
  let reason = `it could not be reached: ${told?.message ?? 'unknown trouble'}`;
  if (error instanceof Error && error.name === 'TimeoutError')
    reason = `it did not answer within ${clientLimits.timeoutMs / 1_000} s`;
  return { ok: false, retry: true, reason };
}

interface AnswerBody {
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array>;
}

/** Stops reading at the limit, so that a server cannot exhaust memory. */
async function beginningOf(body: AnswerBody | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= clientLimits.answerBytesMax) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, clientLimits.answerBytesMax).trim();
}

function objectFrom(text: string): JsonObject {
  try {
    const value = JSON.parse(text) as Json;
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function retryAfterOf(header: string | null): number | undefined {
  const seconds = Number(header ?? Number.NaN);
  if (!Number.isFinite(seconds) || seconds < 0) return undefined;
  return Math.min(seconds * 1_000, clientLimits.retryAfterMsMax);
}
