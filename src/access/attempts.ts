// Guessing is slowed down: whoever fails too often, for one account or from one address, waits (architecture: access).
import type { EpochMs } from '../model/instant.ts';
import { problem } from '../model/problem.ts';
import { type Buckets, buckets } from './buckets.ts';

const keysMax = 100_000;
/** Checks at once; hashing a password takes 19 MiB. */
const underWayMax = 32;
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

export function attempts(now: () => EpochMs): Attempts {
  const of = ({ failures, secondsEach }: { failures: number; secondsEach: number }) =>
    buckets({ capacity: failures, perSecond: 1 / secondsEach, keysMax, now });
  const pairs = of(attemptLimits.accountFromAddress);
  const accounts = of(attemptLimits.account);
  const addresses = of(attemptLimits.address);

  const limitsOf = ({ ip, account }: Who): [Buckets, string][] => {
    if (account === undefined) return [[addresses, ip]];
    return [
      [addresses, ip],
      [accounts, account],
      [pairs, `${account}\n${ip}`],
    ];
  };

  let underWay = 0;
  return {
    async run(who, work, failed) {
      if (underWay >= underWayMax) throw problem('tooManyAttempts', { retryAfterSeconds: 1 });
      const limits = limitsOf(who);
      const taken: [Buckets, string][] = [];
      for (const [limit, key] of limits) {
        if (limit.take(key)) {
          taken.push([limit, key]);
          continue;
        }
        for (const [other, otherKey] of taken) other.giveBack(otherKey);
        throw problem('tooManyAttempts', { retryAfterSeconds: limit.secondsUntil(key) });
      }
      underWay += 1;
      const outcome = await work().finally(() => (underWay -= 1));
      if (!failed(outcome)) for (const [limit, key] of taken) limit.giveBack(key);
      return outcome;
    },
  };
}
