// Idempotency-Key of requests whose body is worked on while it comes in: its hash is known only at its end (contract 35).
import { createHash, type Hash } from 'node:crypto';
import type { EpochMs } from '../model/instant.ts';
import { problem } from '../model/problem.ts';
import {
  type FirstAnswer,
  type IdempotencyRecords,
  type IdempotentCall,
  idempotencyKeptMs,
  keptIdOf,
} from './idempotency.ts';

type Bytes = AsyncIterable<Uint8Array>;

export type OnceStreamed = (
  call: Omit<IdempotentCall, 'body'>,
  body: Bytes,
  work: (body: Bytes, now: EpochMs) => Promise<FirstAnswer>,
) => Promise<FirstAnswer>;

interface Done {
  readonly answer: FirstAnswer;
  readonly bodyHash: string;
}

/** Stands where a hash is not known yet. */
const noHash = '';

/**
 * Runs the work unless the key has an answer; then the body is read to compare it. Rules as in `idempotency`: `work` gets the time of
 * the first request, 422 for another body, and a refused request leaves no trace. `work` must read the body to its end.
 */
export function streamedIdempotency(records: IdempotencyRecords, now: () => EpochMs): OnceStreamed {
  const underWay = new Map<string, Promise<Done>>();

  async function firstAnswer(
    id: string,
    body: Bytes,
    work: (body: Bytes, now: EpochMs) => Promise<FirstAnswer>,
  ): Promise<Done> {
    const known = await records.find(id, now() - idempotencyKeptMs);
    if (known?.answer) return sameBody({ answer: known.answer, bodyHash: known.bodyHash }, await hashOf(body));
    const firstSeenAt = known?.firstSeenAt ?? now();
    if (known === undefined) await records.reserve({ id, bodyHash: noHash, firstSeenAt, answer: null });
    const hash = createHash('sha256');
    try {
      const answer = await work(hashed(body, hash), firstSeenAt);
      const bodyHash = hash.digest('hex');
      await records.complete(id, answer, bodyHash);
      return { answer, bodyHash };
    } catch (error) {
      await records.release(id);
      throw error;
    }
  }

  return async (call, body, work) => {
    const id = keptIdOf(call);
    const other = underWay.get(id);
    if (other !== undefined) {
      const bodyHash = await hashOf(body);
      return sameBody(await other, bodyHash).answer;
    }
    const done = firstAnswer(id, body, work);
    underWay.set(id, done);
    try {
      return (await done).answer;
    } finally {
      underWay.delete(id);
    }
  };
}

function sameBody(first: Done, bodyHash: string): Done {
  if (first.bodyHash !== bodyHash) throw problem('idempotencyKeyReused');
  return first;
}

async function* hashed(body: Bytes, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    hash.update(chunk);
    yield chunk;
  }
}

async function hashOf(body: Bytes): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of body) hash.update(chunk);
  return hash.digest('hex');
}
