// Requests a second and credential: a bucket each, told in the headers of contract 0.2.
import type { EpochMs } from '../model/instant.ts';
import { createTokenBuckets } from './token-buckets.ts';

const credentialsMax = 100_000;

export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  /** Requests left at once; 0 only when the next one would be refused. */
  readonly remaining: number;
  /** Whole seconds until all are there again. */
  readonly resetSeconds: number;
  /** Whole seconds until the next one. */
  readonly retryAfterSeconds: number;
}

export type RequestLimit = (credentialId: string) => Allowance;

/** Undefined when there is no limit. A second's worth of requests may come at once. */
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
