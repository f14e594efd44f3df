// HTTP answer: one request to a target, and the outcome of its answer for the delivery (contract 35).
import type * as Undici from 'undici';
import type { Dispatcher } from 'undici';
import type { EpochMs } from '../model/instant.ts';
import { createBoundedMap } from '../structures/bounded-map.ts';
import type { SendOutcome } from './target.ts';
import { failedAttempt } from './send-failure.ts';

const answerLimits = {
  /** The part of an answer that is kept. */
  keptBytesMax: 16 * 1024,
  /** The part that is read, so that the connection can be used again. */
  readBytesMax: 256 * 1024,
} as const;

/** Addresses of requests that are kept after they were parsed. */
const addressesMax = 1_000;

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

/**
 * Sends the request and reads the beginning of its answer. Rejects with a network error, and with
 * the reason of the signal when that ends the request.
 */
export async function call(
  { method, url, headers, body }: HttpCall,
  signal: AbortSignal,
  dispatcher?: Dispatcher,
): Promise<HttpAnswer> {
  signal.throwIfAborted();
  const { origin, protocol, path } = addressOf(url);
  // The egress guard loads the package with its first use too.
  const { errors, getGlobalDispatcher } = client ?? (await loadClient());
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new errors.InvalidArgumentError('the URL must start with http: or https:');
  const reading = createAnswerReading(signal);
  // `request` of the package creates a stream for each answer, which costs more than the rest.
  (dispatcher ?? getGlobalDispatcher()).dispatch(
    {
      origin,
      path,
      method,
      headers,
      ...(body !== undefined && { body }),
    },
    reading.handler,
  );
  return reading.answer;
}

interface Address {
  readonly origin: string;
  readonly protocol: string;
  readonly path: string;
}

// Most targets have one address for all deliveries.
const addresses = createBoundedMap<string, Address>(addressesMax);

/** Throws a TypeError for an invalid URL. */
function addressOf(url: string): Address {
  const known = addresses.get(url);
  if (known !== undefined) return known;
  const { origin, protocol, pathname, search } = new URL(url);
  const address = { origin, protocol, path: pathname + search };
  addresses.set(url, address);
  return address;
}

let client: typeof Undici | undefined;

async function loadClient(): Promise<typeof Undici> {
  client = await import('undici');
  return client;
}

/** Collects the beginning of an answer. The rest of a longer one is not read. */
function createAnswerReading(signal: AbortSignal): {
  readonly handler: Dispatcher.DispatchHandler;
  readonly answer: Promise<HttpAnswer>;
} {
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
  const kept: Buffer[] = [];
  let bytes = 0;
  let head: Omit<HttpAnswer, 'text'> | undefined;
  let running: Dispatcher.DispatchController | undefined;
  const stop = (): void => {
    running?.abort(signal.reason as Error);
    reject(signal.reason as Error);
  };
  signal.addEventListener('abort', stop, { once: true });
  const ended = (): void => signal.removeEventListener('abort', stop);
  const answered = (): void => {
    ended();
    if (head === undefined) reject(new Error('The connection ended without an answer'));
    else resolve({ ...head, text: Buffer.concat(kept).toString('utf8') });
  };
  return {
    answer: promise,
    handler: {
      onRequestStart(controller) {
        running = controller;
        if (signal.aborted) stop();
      },
      onResponseStart(_controller, status, headers) {
        if (status < 200) return;
        const header = (name: string) => [headers[name]].flat()[0];
        head = { status, retryAfter: header('retry-after'), location: header('location') };
      },
      onResponseData(controller, chunk) {
        if (bytes < answerLimits.keptBytesMax)
          kept.push(chunk.subarray(0, answerLimits.keptBytesMax - bytes));
        bytes += chunk.length;
        if (bytes <= answerLimits.readBytesMax) return;
        answered();
        controller.abort(new Error('The answer is longer than what is read of it'));
      },
      onResponseEnd: answered,
      onResponseError(_controller, error) {
        ended();
        reject(error);
      },
    },
  };
}

const temporaryStatuses: ReadonlySet<number> = new Set([408, 429]);

/**
 * An answer 2xx is a delivery. Redirects are permanent failures, because they are never followed.
 * So are 4xx, except 408 and 429. A delivery with any other answer is retried.
 */
export function outcomeOf(answer: HttpAnswer, now: () => EpochMs): SendOutcome {
  const { status } = answer;
  const told = toldOf(answer);
  if (status >= 200 && status < 300) return { ok: true, answer: told };
  const isRedirect = status >= 300 && status < 400 && answer.location !== undefined;
  if (isRedirect) {
    const reason = `answered ${status}, a redirect, which is never followed: give the output connector the final address`;
    return { ok: false, retry: false, reason, answer: told };
  }
  const failure = { ok: false, reason: `answered ${status}`, answer: told } as const;
  if (status >= 400 && status < 500 && !temporaryStatuses.has(status))
    return { ...failure, retry: false };
  const retryAfterMs = pauseOf(answer.retryAfter, now());
  return { ...failure, retry: true, ...(retryAfterMs !== undefined && { retryAfterMs }) };
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
