// Rate limits: token buckets that refill with time, the request limit per credential (contract 0.2), and the throttle of failed sign-ins.
import type { EpochMs } from '../model/instant.ts';
import { type BoundedMap, createBoundedMap } from '../structures/caches.ts';
import { problem } from '../model/problem.ts';
import { FairTurns } from '../structures/work-queues.ts';

// Sign-in limits: repeated failures for one account or from one network have to wait (architecture: access).

const keysMax = 100_000;
const turnLimits = { waitingPerKeyMax: 16, keysMax: 2_000 } as const;
/**
 * Pairs of an account and a network that signed in; guesses from elsewhere do not lock them out.
 */
const knownPairsMax = 100_000;
/**
 * Consecutive failures, then one more per interval. The account counts per network, so that a
 * client cannot lock others out.
 */
const passwordLimits = {
  accountFromAddress: { failures: 10, secondsEach: 60 },
  // Passwords can be guessed from many addresses at once; this limit stays far above the typing
  // errors of a user.
  account: { failures: 100, secondsEach: 30 },
  address: { failures: 100, secondsEach: 5 },
  // One is hashed, by the only thread that does, and one more reads its user meanwhile.
  runningMax: 2,
} as const satisfies AttemptLimits;

/** Of secrets that the platform generated, which nobody guesses: a fleet behind one address may fail. */
export const secretLimits: AttemptLimits = {
  ...passwordLimits,
  address: { failures: 300, secondsEach: 1 },
  runningMax: 8,
};

/**
 * Of one-time codes, of which three in a million are right: a holder of the password who
 * guesses from many networks finds one within a day with a chance of 0.1 %.
 */
export const codeLimits: AttemptLimits = {
  accountFromAddress: { failures: 5, secondsEach: 120 },
  account: { failures: 20, secondsEach: 300 },
  address: { failures: 100, secondsEach: 5 },
  runningMax: 8,
};

interface FailureAllowance {
  readonly failures: number;
  readonly secondsEach: number;
}

interface AttemptLimits {
  readonly accountFromAddress: FailureAllowance;
  readonly account: FailureAllowance;
  /** Of an address, for IPv6 of the /56 that one customer gets. */
  readonly address: FailureAllowance;
  /** Checks at once; further ones wait, and addresses take turns. */
  readonly runningMax: number;
}

interface Who {
  readonly ip: string;
  /** The account whose secret is tried, such as an e-mail address. */
  readonly account?: string | undefined;
}

/** `limits`: of passwords, unless others are given. */
export class Attempts {
  readonly #pairs: TokenBuckets;
  readonly #accounts: TokenBuckets;
  readonly #addresses: TokenBuckets;
  readonly #turns: FairTurns;
  readonly #knownPairs = createBoundedMap<string, true>(knownPairsMax);

  constructor(now: () => EpochMs, limits: AttemptLimits = passwordLimits) {
    const bucketsOf = ({ failures, secondsEach }: FailureAllowance) =>
      new TokenBuckets({ capacity: failures, perSecond: 1 / secondsEach, keysMax, now });
    this.#pairs = bucketsOf(limits.accountFromAddress);
    this.#accounts = bucketsOf(limits.account);
    this.#addresses = bucketsOf(limits.address);
    this.#turns = new FairTurns({ ...turnLimits, runningMax: limits.runningMax }, () =>
      problem('tooManyAttempts', { retryAfterSeconds: 1 }),
    );
  }

  /**
   * Runs the work; an outcome for which `failed` is true, or an error, uses up one attempt. Throws
   * Problem `tooManyAttempts` when none is left. Attempts in progress count as failed, so that
   * concurrent ones gain nothing.
   */
  async run<T>(who: Who, work: () => Promise<T>, failed: (outcome: T) => boolean): Promise<T> {
    const taken: [TokenBuckets, string][] = [];
    for (const [limit, key] of this.#limitsOf(who)) {
      if (limit.take(key)) {
        taken.push([limit, key]);
        continue;
      }
      for (const [other, otherKey] of taken) other.giveBack(otherKey);
      throw problem('tooManyAttempts', { retryAfterSeconds: limit.secondsUntil(key) });
    }
    const outcome = await this.#turns.run(siteOf(who.ip), work);
    if (failed(outcome)) return outcome;
    for (const [limit, key] of taken) limit.giveBack(key);
    if (who.account !== undefined)
      this.#knownPairs.set(`${who.account}\n${networkOf(who.ip)}`, true);
    return outcome;
  }

  #limitsOf({ ip, account }: Who): [TokenBuckets, string][] {
    const site = siteOf(ip);
    if (account === undefined) return [[this.#addresses, site]];
    const pair = `${account}\n${networkOf(ip)}`;
    const own: [TokenBuckets, string][] = [
      [this.#addresses, site],
      [this.#pairs, pair],
    ];
    if (this.#knownPairs.get(pair) === undefined) own.push([this.#accounts, account]);
    return own;
  }
}

// Network of an address: the range that one host gets without asking, which limits count as one.

/** IPv6 by its /64, an IPv4 address inside IPv6 as IPv4; anything else as it is. */
export function networkOf(ip: string): string {
  return rangeOf(ip, 64);
}

/** IPv6 by the /56 that one customer of a provider gets, which has 256 networks; else as `networkOf`. */
export function siteOf(ip: string): string {
  return rangeOf(ip, 56);
}

function rangeOf(ip: string, bits: 56 | 64): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped !== undefined) return mapped;
  if (!ip.includes(':')) return ip;
  const [head = '', tail] = ip.replace(/%.*/, '').toLowerCase().split('::');
  const groups = groupsOf(head);
  if (tail !== undefined) {
    const last = groupsOf(tail);
    while (groups.length + last.length < 8) groups.push('0');
    groups.push(...last);
  }
  const network = groups.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ''));
  if (bits === 64) return `${network.join(':')}::/64`;
  // The last byte of four groups names the network of the site.
  const site = (Number.parseInt(network[3] ?? '0', 16) & 0xff_00).toString(16);
  return `${[...network.slice(0, 3), site].join(':')}::/56`;
}

function groupsOf(part: string): string[] {
  return part.split(':').filter((group) => group !== '');
}

interface Bucket {
  permits: number;
  at: EpochMs;
}

/**
 * Every bucket starts full. Beyond `keysMax` keys the least recently used one is dropped, which
 * refills it.
 */
export class TokenBuckets {
  readonly #capacity: number;
  readonly #perSecond: number;
  readonly #now: () => EpochMs;
  readonly #known: BoundedMap<string, Bucket>;

  constructor(rule: {
    readonly capacity: number;
    readonly perSecond: number;
    readonly keysMax: number;
    readonly now: () => EpochMs;
  }) {
    const { capacity, perSecond, keysMax, now } = rule;
    this.#capacity = capacity;
    this.#perSecond = perSecond;
    this.#now = now;
    this.#known = createBoundedMap<string, Bucket>(keysMax);
  }

  /** Takes one permit; false without a free permit. */
  take(key: string): boolean {
    const bucket = this.#filled(key);
    const isTaken = bucket.permits >= 1;
    if (isTaken) bucket.permits -= 1;
    this.#store(key, bucket);
    return isTaken;
  }

  /** Returns a permit that was taken for something that does not count. */
  giveBack(key: string): void {
    const bucket = this.#filled(key);
    this.#store(key, { ...bucket, permits: Math.min(this.#capacity, bucket.permits + 1) });
  }

  /** Whole permits left. */
  left(key: string): number {
    return Math.floor(this.#filled(key).permits);
  }

  /** Whole seconds, at least 1, until this number of permits is available; by default one. */
  secondsUntil(key: string, permits: number = 1): number {
    const missing = Math.min(permits, this.#capacity) - this.#filled(key).permits;
    return Math.max(1, Math.ceil(missing / this.#perSecond));
  }

  #filled(key: string): Bucket {
    const at = this.#now();
    const bucket = this.#known.get(key);
    if (bucket === undefined) return { permits: this.#capacity, at };
    const gained = (Math.max(0, at - bucket.at) / 1_000) * this.#perSecond;
    return { permits: Math.min(this.#capacity, bucket.permits + gained), at };
  }

  #store(key: string, bucket: Bucket): void {
    if (bucket.permits >= this.#capacity) this.#known.delete(key);
    else this.#known.set(key, bucket);
  }
}

// Request limit: a token bucket per credential, reported in the headers of contract 0.2.

const credentialsMax = 100_000;

interface Allowance {
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
  const limit = new TokenBuckets({
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
