// Moving work: failures while devices or rules change their node, which are no faults unless they last.
import { minuteMs } from '../model/instant.ts';
import { Problem, type ProblemName } from '../model/problem.ts';
import { createBoundedMap } from '../structures/bounded-map.ts';
import { LineLimit } from './line-limit.ts';
import type { Log } from './log.ts';
import { causesOf } from './outages.ts';

/** How a node refuses what another one does, or will do soon. */
const passing = new Set<ProblemName>([
  'deviceMoved',
  'deviceMovedMeanwhile',
  'deviceWithoutOwner',
  'nodeUnreachable',
  'stopping',
]);

const movingLimits = {
  /** Longer than the leases of a dead node and the takeover after them. */
  quietMs: 30_000,
  /** Failures with a longer pause between them are not one trouble. */
  pauseMsMax: minuteMs,
  kindsMax: 1_000,
} as const;

interface Trouble {
  readonly since: number;
  readonly last: number;
}

export class MovingWork {
  readonly #log: Pick<Log, 'debug' | 'warn'>;
  readonly #clock: () => number;
  readonly #troubles = createBoundedMap<string, Trouble>(movingLimits.kindsMax);
  readonly #lines: LineLimit;

  constructor(log: Pick<Log, 'debug' | 'warn'>, clock: () => number = () => performance.now()) {
    this.#log = log;
    this.#clock = clock;
    this.#lines = new LineLimit(minuteMs, clock);
  }

  /** Whether the failure is one of work that moves. Has a line a minute when that takes long. */
  explains(what: string, error: unknown): boolean {
    if (!causesOf(error).some((cause) => cause instanceof Problem && passing.has(cause.problem)))
      return false;
    const now = this.#clock();
    const before = this.#troubles.get(what);
    const isSame = before !== undefined && now - before.last <= movingLimits.pauseMsMax;
    const since = isSame ? before.since : now;
    this.#troubles.set(what, { since, last: now });
    const reason = error instanceof Error ? error.message : String(error);
    const line = { what, reason, seconds: Math.round((now - since) / 1_000) };
    if (now - since < movingLimits.quietMs) this.#log.debug(line, 'waiting for another node');
    else if (this.#lines.isDue(what)) this.#log.warn(line, 'waiting for another node for long');
    return true;
  }
}
