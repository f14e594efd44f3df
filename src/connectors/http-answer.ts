// One request to a target over HTTP, and what its answer means for the delivery (contract 35).
import type { Dispatcher } from 'undici';
import type { EpochMs } from '../model/instant.ts';
import type { SendOutcome } from './target.ts';
import { attempt } from './send-failure.ts';

const answerLimits = {
  /** Kept of an answer. */
  keptBytesMax: 16 * 1024,
  /** Read and thrown away so that the connection can be used again. */
  readBytesMax: 256 * 1024,
} as const;

export interface HttpCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly location: string | undefined;
  readonly text: string;
}

/** Sends the request and reads the beginning of its answer. Rejects with the network's error. */
export async function call(
  { method, url, headers, body }: HttpCall,
  signal: AbortSignal,
  dispatcher?: Dispatcher,
): Promise<HttpAnswer> {
  // Loaded with the first call, as the egress guard does.
  const { request } = await import('undici');
  const answer = await request(url, {
    method,
    headers,
    signal,
    ...(body === undefined ? {} : { body }),
    ...(dispatcher === undefined ? {} : { dispatcher }),
  });
  const kept: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    if (bytes < answerLimits.keptBytesMax)
      kept.push(chunk.subarray(0, answerLimits.keptBytesMax - bytes));
    bytes += chunk.length;
    // Leaving the loop destroys the connection: a longer answer is not worth reading.
    if (bytes > answerLimits.readBytesMax) break;
  }
  const header = (name: string) => [answer.headers[name]].flat()[0];
  return {
    status: answer.statusCode,
    retryAfter: header('retry-after'),
    location: header('location'),
    text: Buffer.concat(kept).toString('utf8'),
  };
}

/**
 * 2xx arrived; 4xx other than 408 and 429 are for good, and redirects: they are never followed, so the same address would answer
 * the same for hours. Everything else is tried again.
 */
export function outcomeOf(answer: HttpAnswer, now: () => EpochMs): SendOutcome {
  const { status, text } = answer;
  const told = text === '' ? `HTTP ${status}` : `HTTP ${status}\n${text}`;
  if (status >= 200 && status < 300) return { ok: true, answer: told };
  const isRedirect = status >= 300 && status < 400 && answer.location !== undefined;
  if (isRedirect) {
    const reason = `answered ${status}, a redirect, which is never followed: give the output connector the final address`;
    return { ok: false, retry: false, reason, answer: told };
  }
  const retry = status < 400 || status >= 500 || status === 408 || status === 429;
  const retryAfterMs = retry ? pauseOf(answer.retryAfter, now()) : undefined;
  return {
    ok: false,
    retry,
    reason: `answered ${status}`,
    answer: told,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** `Retry-After` in seconds or as a date; undefined for anything else. */
function pauseOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** What a request that had no answer means. */
export function failureOf(error: unknown, signal: AbortSignal): Promise<SendOutcome> {
  // Headers and URLs that cannot be sent will not become better.
  const isInvalid = (one: unknown) => (one as { code?: string }).code === 'UND_ERR_INVALID_ARG';
  const fail = async (): Promise<string> => {
    throw error;
  };
  return attempt(signal, fail, isInvalid);
}
