// Idempotency-Key: the same key within a day gets the first answer, and the work is done once (contract 35).
import { createHash } from 'node:crypto';
import type { EpochMs } from '../model/instant.ts';
import type { Json } from '../model/json.ts';
import { problem } from '../model/problem.ts';

export const idempotencyKeptMs = 24 * 3_600_000;
const keyLengthMax = 255;

export interface FirstAnswer {
  readonly status: number;
  readonly body: Json;
}

/** A key as the records keep it; `answer` is null while the first request is under way, or was cut off by a crash. */
export interface IdempotencyRecord {
  readonly id: string;
  readonly bodyHash: string;
  readonly firstSeenAt: EpochMs;
  readonly answer: FirstAnswer | null;
}

export interface IdempotencyRecords {
  readonly find: (id: string, seenAfter: EpochMs) => Promise<IdempotencyRecord | undefined>;
  readonly reserve: (record: IdempotencyRecord) => Promise<void>;
  /** `bodyHash` is given when it was not known at first. */
  readonly complete: (id: string, answer: FirstAnswer, bodyHash?: string) => Promise<void>;
  readonly release: (id: string) => Promise<void>;
}

export interface IdempotentCall {
  /** Whose key it is: a key counts per credential and route. */
  readonly credential: string;
  readonly route: string;
  readonly key: string;
  readonly body: Json | undefined;
}

export type Once = (call: IdempotentCall, work: (now: EpochMs) => Promise<FirstAnswer>) => Promise<FirstAnswer>;

/**
 * Runs the work unless the key has an answer. `work` gets the time of the first request, so that a retry after a crash makes
 * identical samples, which are stored once. Throws Problem 422 for the same key with another body; a refused request leaves no trace.
 */
export function idempotency(records: IdempotencyRecords, now: () => EpochMs): Once {
  const underWay = new Map<string, { readonly bodyHash: string; readonly answer: Promise<FirstAnswer> }>();

  async function firstAnswer(
    id: string,
    bodyHash: string,
    work: (now: EpochMs) => Promise<FirstAnswer>,
  ): Promise<FirstAnswer> {
    const known = await records.find(id, now() - idempotencyKeptMs);
    if (known !== undefined && known.bodyHash !== bodyHash) throw problem('idempotencyKeyReused');
    if (known?.answer) return known.answer;
    const firstSeenAt = known?.firstSeenAt ?? now();
    if (known === undefined) await records.reserve({ id, bodyHash, firstSeenAt, answer: null });
    try {
      const answer = await work(firstSeenAt);
      await records.complete(id, answer);
      return answer;
    } catch (error) {
      await records.release(id);
      throw error;
    }
  }

  return async (call, work) => {
    const id = keptIdOf(call);
    const bodyHash = hash(JSON.stringify(call.body ?? null));
    const other = underWay.get(id);
    if (other !== undefined) {
      if (other.bodyHash !== bodyHash) throw problem('idempotencyKeyReused');
      return other.answer;
    }
    const answer = firstAnswer(id, bodyHash, work);
    underWay.set(id, { bodyHash, answer });
    try {
      return await answer;
    } finally {
      underWay.delete(id);
    }
  };
}

/** Under which a key is kept. Throws Problem `invalidRequest` for a key that is too long. */
export function keptIdOf({ credential, route, key }: Omit<IdempotentCall, 'body'>): string {
  if (key.length > keyLengthMax) {
    throw problem('invalidRequest', { reason: `Idempotency-Key is longer than ${keyLengthMax} characters` });
  }
  return hash(`${credential}\n${route}\n${key}`);
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
