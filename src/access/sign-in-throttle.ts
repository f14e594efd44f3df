// Guessing is slowed down: whoever fails too often, for one account or from one address, waits (architecture: access).
import type { EpochMs } from '../model/instant.ts';
import { problem } from '../model/problem.ts';
import { type TokenBuckets, createTokenBuckets } from './token-buckets.ts';
import { createFairTurns } from './fair-turns.ts';
import { networkOf } from './network-of.ts';

const keysMax = 100_000;
/** Hashing a password takes 19 MiB and a thread of the pool. Further checks wait, and networks take turns. */
const turnLimits = { runningMax: 8, waitingPerKeyMax: 16, keysMax: 2_000 } as const;
/** Pairs of an account and a network that signed in; guesses from elsewhere do not lock them out. */
const knownPairsMax = 100_000;
/** Failures in a row, then one more every so many seconds. An account is named together with the address, so that nobody can lock others out. */
const attemptLimits = {
  accountFromAddress: { failures: 10, secondsEach: 60 },
  // Passwords can be guessed from many addresses at once; this one stays far above what a person mistypes.
  account: { failures: 100, secondsEach: 30 },
  address: { failures: 300, secondsEach: 1 },
} as const;

export interface Attempts {
  /**
   * Runs the work; an outcome that `failed` says so of, or an error, uses up one attempt. Throws Problem `tooManyAttempts` when
   * none is left. Attempts under way count as failed, so that many at once gain nothing.
   */
  run<T>(who: Who, work: () => Promise<T>, failed: (outcome: T) => boolean): Promise<T>;
}

export interface Who {
  readonly ip: string;
  /** The account whose secret is tried, such as an e-mail address. */
  readonly account?: string | undefined;
}

export function createAttempts(now: () => EpochMs): Attempts {
  const of = ({ failures, secondsEach }: { failures: number; secondsEach: number }) =>
    createTokenBuckets({ capacity: failures, perSecond: 1 / secondsEach, keysMax, now });
  const pairs = of(attemptLimits.accountFromAddress);
  const accounts = of(attemptLimits.account);
  const addresses = of(attemptLimits.address);

  const turns = createFairTurns(turnLimits);
  const knownPairs = new Set<string>();
  const remember = (pair: string): void => {
    knownPairs.delete(pair);
    if (knownPairs.size >= knownPairsMax) knownPairs.delete(knownPairs.values().next().value!);
    knownPairs.add(pair);
  };

  const limitsOf = (network: string, account: string | undefined): [TokenBuckets, string][] => {
    if (account === undefined) return [[addresses, network]];
    const pair = `${account}\n${network}`;
    const own: [TokenBuckets, string][] = [
      [addresses, network],
      [pairs, pair],
    ];
    return knownPairs.has(pair) ? own : [...own, [accounts, account]];
  };

  return {
    async run(who, work, failed) {
      const network = networkOf(who.ip);
      const limits = limitsOf(network, who.account);
      const taken: [TokenBuckets, string][] = [];
      for (const [limit, key] of limits) {
        if (limit.take(key)) {
          taken.push([limit, key]);
          continue;
        }
        for (const [other, otherKey] of taken) other.giveBack(otherKey);
        throw problem('tooManyAttempts', { retryAfterSeconds: limit.secondsUntil(key) });
      }
      const outcome = await turns.run(network, work);
      if (failed(outcome)) return outcome;
      for (const [limit, key] of taken) limit.giveBack(key);
      if (who.account !== undefined) remember(`${who.account}\n${network}`);
      return outcome;
    },
  };
}
