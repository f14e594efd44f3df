// Idempotency-Key of streamed requests: the hash of the body is known only at its end (contract 35).
import { createHash, type Hash } from 'node:crypto';
import type { EpochMs } from '../../model/instant.ts';
import { problem } from '../../model/problem.ts';
import {
  type Attempt,
  Attempts,
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
  work: (body: Bytes, attempt: Attempt) => Promise<FirstAnswer>,
) => Promise<FirstAnswer>;

interface Done {
  readonly answer: FirstAnswer;
  readonly bodyHash: string;
}

/** Replaces a hash that is not known yet. */
const noHash = '';

/**
 * Runs the work unless the key has an answer; then the body is read to compare it. Rules as in
 * `idempotency`: `work` gets the time of the first request and the parts that are durable, 422 for
 * another body, and a refused request leaves no trace. `work` must read the body to its end.
 */
export function createOnceStreamed(records: IdempotencyRecords, now: () => EpochMs): OnceStreamed {
  const inProgress = new Map<string, Promise<Done>>();
  const attempts = new Attempts(records);

  async function firstAnswer(
    id: string,
    body: Bytes,
    work: (body: Bytes, attempt: Attempt) => Promise<FirstAnswer>,
  ): Promise<Done> {
    const seenAt = now();
    const reserve = () =>
      records.reserve({ id, bodyHash: noHash, firstSeenAt: seenAt, answer: null });
    const known = (await attempts.find(id, seenAt - idempotencyKeptMs)) ?? (await reserve());
    if (known?.answer)
      return sameBody({ answer: known.answer, bodyHash: known.bodyHash }, await hashOf(body));
    const firstSeenAt = known?.firstSeenAt ?? seenAt;
    const hash = createHash('sha256');
    const kept = { id, bodyHash: noHash, firstSeenAt, durable: known?.durable ?? [] };
    return attempts.run(
      kept,
      (attempt) => work(hashed(body, hash), attempt),
      () => hash.digest('hex'),
    );
  }

  return async (call, body, work) => {
    const id = keptIdOf(call);
    const other = inProgress.get(id);
    if (other !== undefined) {
      const bodyHash = await hashOf(body);
      return sameBody(await other, bodyHash).answer;
    }
    const done = firstAnswer(id, body, work);
    inProgress.set(id, done);
    try {
      return (await done).answer;
    } finally {
      inProgress.delete(id);
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
