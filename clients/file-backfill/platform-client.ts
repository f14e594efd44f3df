// Platform client of the file backfill: finds devices by either id, and sends samples with retries.
import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject } from '../../src/model/json.ts';

export interface ClientOptions {
  readonly url: string;
  readonly key: string;
  readonly signal: AbortSignal;
}

export interface BulkAnswer {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly {
    readonly index: number;
    readonly errorCode: string;
    readonly message: string;
  }[];
}

export interface PlatformClient {
  /** The service id of the device with that physical or service id; undefined when unknown. */
  readonly findDevice: (id: string) => Promise<string | undefined>;
  /**
   * Resolves when all samples are stored or refused one by one; repeating it stores nothing twice.
   */
  readonly sendSamples: (deviceId: string, samples: readonly JsonObject[]) => Promise<BulkAnswer>;
}

/** The platform's final word on a request. */
class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const triesMax = 10;
const firstPauseMs = 200;
const pauseMsMax = 10_000;
const passingStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504, 507]);

interface JsonAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

type Ask = (method: string, path: string, body?: string) => Promise<JsonAnswer>;

/** Requests to the platform that are retried after temporary errors, at most `triesMax` times. */
function createPatientAsk({ url, key, signal }: ClientOptions): Ask {
  const base = url.replace(/\/+$/, '');

  async function ask(method: string, path: string, body?: string): Promise<JsonAnswer> {
    const headers = {
      'x-api-key': key,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const answer = await fetch(base + path, {
      method,
      headers,
      signal,
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.includes('json') === true;
    return {
      status: answer.status,
      body: isJson ? (JSON.parse(text) as JsonObject) : { message: text.slice(0, 200) },
    };
  }

  return async (method, path, body) => {
    for (let tries = 1; ; tries++) {
      const answer = await ask(method, path, body).catch((error: unknown) => {
        signal.throwIfAborted();
        if (tries >= triesMax) throw error;
        return undefined;
      });
      if (answer !== undefined && (!passingStatuses.has(answer.status) || tries >= triesMax))
        return answer;
      await wait(Math.min(firstPauseMs * 2 ** tries, pauseMsMax), undefined, { signal });
    }
  };
}

function refused({ status, body }: JsonAnswer): RefusedError {
  return new RefusedError(status, `${status}: ${String(body['message'])}`);
}

export function platformClient(options: ClientOptions): PlatformClient {
  const ask = createPatientAsk(options);

  async function idAt(path: string): Promise<string | undefined> {
    const answer = await ask('GET', path);
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw refused(answer);
    return String(answer.body['id']);
  }

  return {
    findDevice: async (id) =>
      (await idAt(`/v3/devices/by-device-id?deviceId=${encodeURIComponent(id)}`)) ??
      idAt(`/v3/devices/${encodeURIComponent(id)}`),
    async sendSamples(deviceId, samples) {
      const path = `/v3/devices/${encodeURIComponent(deviceId)}/backfill/bulk`;
      const answer = await ask('POST', path, JSON.stringify(samples));
      // Refused as a whole because each sample was: the list says why.
      const allRejected =
        answer.status === 400 && answer.body['errorCode'] === '40044_BACKFILL_REJECTED';
      if (answer.status !== 201 && !allRejected) throw refused(answer);
      return answer.body as unknown as BulkAnswer;
    },
  };
}
