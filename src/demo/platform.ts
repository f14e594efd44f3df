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

/** A client of the platform at `baseUrl`. Requests throw RefusedRequest for a final answer, Error when tries are used up. */
export function connectPlatform(options: PlatformOptions): Platform {
  const { baseUrl, apiKey, signal } = options;
  const send = options.fetch ?? globalThis.fetch;
  const pause = options.pause ?? ((ms) => wait(ms, undefined, { signal }));
  const root = baseUrl.replace(/\/+$/, '');
  const withKey = { 'x-api-key': apiKey };

  async function request<T>(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: JsonObject,
  ) {
    for (let tries = 1; ; tries++) {
      const answer = await once(method, path, headers, body);
      if (answer.ok) return (await answer.response.json()) as T;
      if (tries >= retryLimits.triesMax) throw new Error(`${method} ${path}: ${answer.reason} after ${tries} tries`);
      await pause(answer.pauseMs ?? backoffMs(tries), signal);
    }
  }

  async function once(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: JsonObject,
  ): Promise<Answer> {
    signal.throwIfAborted();
    let response: Response;
    try {
      response = await send(root + path, {
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
    if (!passingStatuses.has(response.status))
      throw new RefusedRequest(response.status, `${method} ${path}: ${message}`);
    const retryAfterS = Number(response.headers.get('retry-after') ?? Number.NaN);
    const pauseMs = retryAfterS >= 0 ? Math.min(retryAfterS * 1_000, retryLimits.pauseMaxMs) : undefined;
    return { ok: false, reason: message, ...(pauseMs === undefined ? {} : { pauseMs }) };
  }

  return {
    get: (path, query = {}) => {
      const search = new URLSearchParams(query).toString();
      return request('GET', search === '' ? path : `${path}?${search}`, withKey);
    },
    post: (path, body) => request('POST', path, withKey, body),
    async capture(uplink) {
      const headers = { 'x-uplink-secret': uplink.uplinkSecret, 'x-device-id': uplink.deviceId };
      const query = new URLSearchParams({ timestamp: formatInstant(uplink.at) });
      try {
        await request('POST', `/v3/capture?${query}`, headers, uplink.payload);
        return {};
      } catch (error) {
        if (error instanceof RefusedRequest) return { refused: error.message };
        throw error;
      }
    },
  };
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
