// Request limit: a token bucket per credential, reported in the headers of contract 0.2.
import type { EpochMs } from '../model/instant.ts';
import { createTokenBuckets } from './token-buckets.ts';

const credentialsMax = 100_000;

export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  /** Requests that are possible now; 0 only when the next one would be rejected. */
  readonly remaining: number;
  /** Whole seconds until the bucket is full. */
  readonly resetSeconds: number;
  /** Whole seconds until the next request is possible. */
  readonly retryAfterSeconds: number;
}

export type RequestLimit = (credentialId: string) => Allowance;

/** Undefined when there is no limit. The requests of one second may arrive at the same time. */
export function createRequestLimit(
  perSecond: number,
  now: () => EpochMs,
): RequestLimit | undefined {
  if (perSecond === 0) return undefined;
  const limit = createTokenBuckets({
    capacity: perSecond,
    perSecond,
    keysMax: credentialsMax,
    now,
  });
  return (id) => {
    const allowed = limit.take(id);
    return {
      allowed,
      limit: perSecond,
      remaining: limit.left(id),
      resetSeconds: limit.secondsUntil(id, perSecond),
      retryAfterSeconds: limit.secondsUntil(id),
    };
  };
}
