// The platform as a client sees it: JSON over its public REST interface, with patience when it says "later".
import { setTimeout as wait } from 'node:timers/promises';
import { type EpochMs, formatInstant } from '../../src/model/instant.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { type Answer, keepAlive, type Send } from './keep-alive.ts';

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
  /** The credential of every request except captures. */
  readonly headers: Readonly<Record<string, string>>;
  /** By default over few connections to `baseUrl`. */
  readonly send?: Send;
  /** Ends every wait and request. */
  readonly signal: AbortSignal;
  /** Waits between tries; the default is a timer that the signal ends. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export interface Platform {
  get<T>(path: string, query?: Readonly<Record<string, string>>): Promise<T>;
  post<T>(path: string, body: JsonObject): Promise<T>;
  /**
   * Sends a payload through `POST /v3/capture` (contract 18). `refused` says why when the platform
   * will never take it.
   */
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
const passingStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504, 507]);

interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
}

/**
 * A client of the platform at `baseUrl`. Requests throw RefusedRequest for a final answer, Error
 * when tries are used up.
 */
export function connectPlatform(options: PlatformOptions): Platform {
  const { headers, send = keepAlive(options.baseUrl, options.signal) } = options;
  const connection: Connection = { ...options, send };
  return {
    get: (path, query = {}) => {
      const search = new URLSearchParams(query).toString();
      return patiently(connection, {
        method: 'GET',
        path: search === '' ? path : `${path}?${search}`,
        headers,
      });
    },
    post: (path, body) => patiently(connection, { method: 'POST', path, headers, body }),
    capture: (uplink) => capture(connection, uplink),
  };
}

interface Connection extends PlatformOptions {
  readonly send: Send;
}

async function capture(
  connection: Connection,
  uplink: DemoUplink,
): Promise<{ readonly refused?: string }> {
  try {
    await patiently(connection, {
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

async function patiently<T>(connection: Connection, request: HttpRequest): Promise<T> {
  const { signal, pause = (ms) => wait(ms, undefined, { signal }) } = connection;
  for (let tries = 1; ; tries++) {
    const outcome = await attempt(connection, request);
    if ('body' in outcome) return JSON.parse(outcome.body) as T;
    if (tries >= retryLimits.triesMax) {
      throw new Error(`${request.method} ${request.path}: ${outcome.reason} after ${tries} tries`);
    }
    await pause(outcome.pauseMs ?? backoffMs(tries), signal);
  }
}

type Outcome = Answer | { readonly reason: string; readonly pauseMs?: number };

async function attempt(
  connection: Connection,
  { method, path, headers, body }: HttpRequest,
): Promise<Outcome> {
  const { baseUrl, signal, send } = connection;
  // Requests within the same process know no signal, and a window of history is thousands of them.
  signal.throwIfAborted();
  let answer: Answer;
  try {
    const url = baseUrl.replace(/\/+$/, '') + path;
    answer =
      body === undefined
        ? await send(method, url, headers, undefined)
        : await send(
            method,
            url,
            { ...headers, 'content-type': 'application/json' },
            JSON.stringify(body),
          );
  } catch (error) {
    signal.throwIfAborted();
    return { reason: String(error) };
  }
  if (answer.status >= 200 && answer.status < 300) return answer;
  const message = messageOf(answer);
  if (!passingStatuses.has(answer.status))
    throw new RefusedRequest(answer.status, `${method} ${path}: ${message}`);
  const retryAfterS = Number(answer.retryAfter ?? Number.NaN);
  if (!(retryAfterS >= 0)) return { reason: message };
  return { reason: message, pauseMs: Math.min(retryAfterS * 1_000, retryLimits.pauseMaxMs) };
}

function backoffMs(tries: number): number {
  return Math.min(retryLimits.pauseMaxMs, retryLimits.firstPauseMs * 2 ** (tries - 1));
}

function messageOf({ status, body }: Answer): string {
  try {
    return `${status} ${String((JSON.parse(body) as { message?: unknown }).message)}`;
  } catch {
    return `${status} ${body.slice(0, 200)}`;
  }
}
