// The platform as a client sees it: JSON over its public REST interface, with patience when it says "later".
import { setTimeout as wait } from 'node:timers/promises';
import { type EpochMs, formatInstant } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';

/** One raw payload of a demo device, as the device would send it at that time. */
export interface DemoUplink {
  /** Physical device id. */
  readonly deviceId: string;
  readonly uplinkSecret: string;
  readonly at: EpochMs;
  readonly payload: JsonObject;
}

export interface PlatformOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Ends every wait and request. */
  readonly signal: AbortSignal;
  readonly fetch?: typeof globalThis.fetch;
  /** Waits between tries; the default is a timer that the signal ends. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export interface Platform {
  get<T>(path: string, query?: Readonly<Record<string, string>>): Promise<T>;
  post<T>(path: string, body: JsonObject): Promise<T>;
  /** Sends a payload through `POST /v3/capture` (contract 18). `refused` says why when the platform will never take it. */
  capture(uplink: DemoUplink): Promise<{ readonly refused?: string }>;
}

/** The platform answered with a status that trying again does not change. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export const retryLimits = { triesMax: 12, firstPauseMs: 100, pauseMaxMs: 5_000 } as const;
const requestTimeoutMs = 30_000;
const passingStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504, 507]);

interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
}

/** A client of the platform at `baseUrl`. Requests throw RefusedRequest for a final answer, Error when tries are used up. */
export function connectPlatform(options: PlatformOptions): Platform {
  const headers = { 'x-api-key': options.apiKey };
  return {
    get: (path, query = {}) => {
      const search = new URLSearchParams(query).toString();
      return patiently(options, { method: 'GET', path: search === '' ? path : `${path}?${search}`, headers });
    },
    post: (path, body) => patiently(options, { method: 'POST', path, headers, body }),
    capture: (uplink) => capture(options, uplink),
  };
}

async function capture(options: PlatformOptions, uplink: DemoUplink): Promise<{ readonly refused?: string }> {
  try {
    await patiently(options, {
      method: 'POST',
      path: `/v3/capture?timestamp=${encodeURIComponent(formatInstant(uplink.at))}`,
      headers: { 'x-uplink-secret': uplink.uplinkSecret, 'x-device-id': uplink.deviceId },
      body: uplink.payload,
    });
    return {};
  } catch (error) {
    if (error instanceof RefusedRequest) return { refused: error.message };
    throw error;
  }
}

async function patiently<T>(options: PlatformOptions, request: HttpRequest): Promise<T> {
  const { signal, pause = (ms) => wait(ms, undefined, { signal }) } = options;
  for (let tries = 1; ; tries++) {
    const answer = await answerTo(options, request);
    if (answer.ok) return (await answer.response.json()) as T;
    if (tries >= retryLimits.triesMax) {
      throw new Error(`${request.method} ${request.path}: ${answer.reason} after ${tries} tries`);
    }
    await pause(answer.pauseMs ?? backoffMs(tries), signal);
  }
}

async function answerTo(options: PlatformOptions, { method, path, headers, body }: HttpRequest): Promise<Answer> {
  const { baseUrl, signal, fetch: send = globalThis.fetch } = options;
  signal.throwIfAborted();
  let response: Response;
  try {
    response = await send(baseUrl.replace(/\/+$/, '') + path, {
      method,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    signal.throwIfAborted();
    return { ok: false, reason: String(error) };
  }
  if (response.ok) return { ok: true, response };
  const message = await messageOf(response);
  if (!passingStatuses.has(response.status)) throw new RefusedRequest(response.status, `${method} ${path}: ${message}`);
  const retryAfterS = Number(response.headers.get('retry-after') ?? Number.NaN);
  const pauseMs = retryAfterS >= 0 ? Math.min(retryAfterS * 1_000, retryLimits.pauseMaxMs) : undefined;
  return { ok: false, reason: message, ...(pauseMs === undefined ? {} : { pauseMs }) };
}

type Answer =
  | { readonly ok: true; readonly response: Response }
  | { readonly ok: false; readonly reason: string; readonly pauseMs?: number };

function backoffMs(tries: number): number {
  return Math.min(retryLimits.pauseMaxMs, retryLimits.firstPauseMs * 2 ** (tries - 1));
}

async function messageOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    return `${response.status} ${String((JSON.parse(text) as { message?: unknown }).message)}`;
  } catch {
    return `${response.status} ${text.slice(0, 200)}`;
  }
}
