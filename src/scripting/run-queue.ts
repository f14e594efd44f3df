// Waiting runs, bounded and fair: tenants share the threads' time by what their runs were measured to take (deficit round robin).

/** `live` runs are waited for by devices and rules; `trial` runs are those that somebody tries out, and come after them. */
export type RunKind = 'live' | 'trial';

/** `quick` and `slow` are lanes of live runs, by what the tenant's recent runs took. */
export type Lane = 'quick' | 'slow' | 'trial';

export interface Waiting {
  readonly tenant: string;
  readonly kind: RunKind;
  /** What it holds in memory while it waits. */
  readonly bytes: number;
}

export interface QueueLimits {
  /** Waiting live runs of one tenant, and waiting runs of all. */
  readonly tenantQueueMax: number;
  readonly queueMax: number;
  /** Trial runs of one tenant: under way at once, waiting, and the bytes of those that wait. */
  readonly trialsRunningMax: number;
  readonly trialsWaitingMax: number;
  readonly trialBytesMax: number;
  /** A tenant whose runs take longer on average is slow, and quick again at half of it. */
  readonly quickMsMax: number;
}

export interface RunQueue<Run extends Waiting> {
  readonly size: number;
  /** Waiting and taken trial runs of a tenant. */
  trials(tenant: string): { readonly waiting: number; readonly underWay: number };
  /** Whether a lane other than that of quick tenants has something to take. */
  readonly hasSlow: boolean;
  /** Puts a run at the end of its tenant's line. */
  push(run: Run): 'taken' | 'tenantFull' | 'full';
  /**
   * Puts runs back that were taken and not begun, in front of their tenants' lines and in their old order. Tenants that
   * wait already keep their turns.
   */
  putBack(runs: readonly Run[]): void;
  /** Takes up to `count` quick runs; or one other run, where `alsoSlow` allows it and it is its lane's turn. */
  take(count: number, alsoSlow: boolean): { readonly lane: Lane; readonly runs: readonly Run[] };
  /** Charges a taken run to its tenant. Runs that are put back are charged nothing. */
  settle(run: Run, ms: number): void;
  /** Takes a run out that waits; false when it does not wait any more. */
  remove(run: Run): boolean;
  /** Takes everything. */
  drain(): Run[];
}

/** The runs of one tenant and kind, and its account. */
interface Line<Run> {
  readonly tenant: string;
  readonly kind: RunKind;
  runs: Run[];
  /** Index of the first run that still waits; the array is cut now and then. */
  head: number;
  bytes: number;
  underWay: number;
  lane: Lane;
  /** Milliseconds that it may still use before others have their turn; negative as long as it used more than its share. */
  balanceMs: number;
  /** What its next run is expected to take. */
  expectedMs: number;
  idleSince: number;
}

interface LaneState<Run> {
  /** Lines that can be served, in the order of their turns. */
  readonly ring: Map<string, Line<Run>>;
  /** Time of this lane divided by its weight: the lane with the least is next. */
  spent: number;
}

/** Shares of the threads' time when every lane has work. */
const weights: Readonly<Record<Lane, number>> = { quick: 8, slow: 4, trial: 1 };
const quantumMs = 1;
const expectedMsAtFirst = 0.5;
const headMax = 1_024;
/** Tenants of a kind that are remembered; the longest idle are forgotten, and with them what they owe. */
const linesMax = 10_000;

export function createRunQueue<Run extends Waiting>(
  limits: QueueLimits,
  now: () => number,
): RunQueue<Run> {
  /** By kind, then tenant: one name for both would have to be put together for every run. */
  const lines: Readonly<Record<RunKind, Map<string, Line<Run>>>> = {
    live: new Map(),
    trial: new Map(),
  };
  const lanes: Readonly<Record<Lane, LaneState<Run>>> = {
    quick: { ring: new Map(), spent: 0 },
    slow: { ring: new Map(), spent: 0 },
    trial: { ring: new Map(), spent: 0 },
  };
  /** Runs that were taken: whose they are, and what was taken from the balance for them. */
  const taken = new Map<Run, { readonly line: Line<Run>; readonly ms: number }>();
  let size = 0;

  const waitingIn = (line: Line<Run>): number => line.runs.length - line.head;

  const forgetIdle = (kind: RunKind): void => {
    for (const [tenant, line] of lines[kind]) {
      if (lines[kind].size <= linesMax) return;
      if (waitingIn(line) === 0 && line.underWay === 0) lines[kind].delete(tenant);
    }
  };

  const lineOf = (run: Run): Line<Run> => {
    const { tenant, kind } = run;
    let line = lines[kind].get(tenant);
    if (line === undefined) {
      const lane = kind === 'trial' ? 'trial' : 'quick';
      const account = { balanceMs: quantumMs, expectedMs: expectedMsAtFirst, idleSince: now() };
      line = { tenant, kind, runs: [], head: 0, bytes: 0, underWay: 0, lane, ...account };
      lines[kind].set(tenant, line);
      if (lines[kind].size > linesMax) forgetIdle(kind);
    }
    return line;
  };

  /** Puts a line into its lane's ring, or takes it out, as its state demands; its turn stays where it is. */
  const place = (line: Line<Run>): void => {
    const { tenant } = line;
    const { ring } = lanes[line.lane];
    const isBarred = line.kind === 'trial' && line.underWay >= limits.trialsRunningMax;
    if (waitingIn(line) === 0 || isBarred) ring.delete(tenant);
    else if (!ring.has(tenant)) {
      if (ring.size === 0) catchUp(line.lane);
      ring.set(tenant, line);
    }
  };

  /** A lane that had nothing to do has saved nothing up. */
  const catchUp = (lane: Lane): void => {
    const busy = Object.values(lanes).filter(({ ring }) => ring.size > 0);
    if (busy.length > 0)
      lanes[lane].spent = Math.max(lanes[lane].spent, Math.min(...busy.map(({ spent }) => spent)));
  };

  const changeLane = (line: Line<Run>): void => {
    if (line.kind === 'trial') return;
    const lane =
      line.expectedMs > limits.quickMsMax / (line.lane === 'slow' ? 2 : 1) ? 'slow' : 'quick';
    if (lane === line.lane) return;
    lanes[line.lane].ring.delete(line.tenant);
    line.lane = lane;
  };

  const wake = (line: Line<Run>): void => {
    if (waitingIn(line) > 0 || line.underWay > 0) return;
    // Time away pays what is owed and earns nothing.
    line.balanceMs = Math.min(quantumMs, line.balanceMs + now() - line.idleSince);
  };

  const shift = (line: Line<Run>): Run => {
    const run = line.runs[line.head]!;
    line.head += 1;
    size -= 1;
    line.bytes -= run.bytes;
    if (line.head === line.runs.length || line.head >= headMax) {
      line.runs = line.runs.slice(line.head);
      line.head = 0;
    }
    line.underWay += 1;
    line.balanceMs -= line.expectedMs;
    taken.set(run, { line, ms: line.expectedMs });
    place(line);
    return run;
  };

  /** The line whose turn it is. Whoever has nothing left gets its share for the next round and goes to the end. */
  const nextIn = (ring: Map<string, Line<Run>>): Line<Run> => {
    for (;;) {
      const line = ring.values().next().value!;
      if (line.balanceMs > 0) return line;
      line.balanceMs += quantumMs;
      ring.delete(line.tenant);
      ring.set(line.tenant, line);
    }
  };

  /** Undoes the taking. */
  const uncharge = (run: Run): Line<Run> => {
    const { line, ms } = taken.get(run) ?? { line: lineOf(run), ms: 0 };
    if (taken.delete(run)) line.underWay -= 1;
    line.balanceMs += ms;
    return line;
  };

  return {
    get size() {
      return size;
    },
    get hasSlow() {
      return lanes.slow.ring.size + lanes.trial.ring.size > 0;
    },
    trials(tenant) {
      const line = lines.trial.get(tenant);
      return line === undefined
        ? { waiting: 0, underWay: 0 }
        : { waiting: waitingIn(line), underWay: line.underWay };
    },
    push(run) {
      if (size >= limits.queueMax) return 'full';
      const line = lineOf(run);
      const isTrial = run.kind === 'trial';
      const waitingMax = isTrial ? limits.trialsWaitingMax : limits.tenantQueueMax;
      const isHeavy = isTrial && line.bytes > 0 && line.bytes + run.bytes > limits.trialBytesMax;
      if (waitingIn(line) >= waitingMax || isHeavy) return 'tenantFull';
      wake(line);
      line.runs.push(run);
      line.bytes += run.bytes;
      size += 1;
      place(line);
      return 'taken';
    },
    putBack(runs) {
      for (const run of runs.toReversed()) {
        const line = uncharge(run);
        if (line.head === 0) line.runs.unshift(run);
        else line.runs[--line.head] = run;
        line.bytes += run.bytes;
        size += 1;
        place(line);
      }
    },
    take(count, alsoSlow) {
      const names: readonly Lane[] = alsoSlow ? ['quick', 'slow', 'trial'] : ['quick'];
      const open = names.filter((name) => lanes[name].ring.size > 0);
      if (open.length === 0) return { lane: 'quick', runs: [] };
      const lane = open.reduce((least, name) =>
        lanes[name].spent < lanes[least].spent ? name : least,
      );
      const { ring } = lanes[lane];
      const runs: Run[] = [];
      const most = lane === 'quick' ? count : 1;
      while (runs.length < most && ring.size > 0) runs.push(shift(nextIn(ring)));
      return { lane, runs };
    },
    settle(run, ms) {
      const line = uncharge(run);
      line.balanceMs -= ms;
      // One long run counts at once, many short ones make good for it.
      line.expectedMs =
        ms > line.expectedMs ? (line.expectedMs + ms) / 2 : line.expectedMs * 0.9 + ms * 0.1;
      changeLane(line);
      // To the lane in which its tenant now is: no quick tenant pays for the run that showed another to be slow.
      lanes[line.lane].spent += ms / weights[line.lane];
      place(line);
      if (waitingIn(line) > 0 || line.underWay > 0) return;
      line.idleSince = now();
      // The longest idle stands first.
      if (lines[line.kind].delete(line.tenant)) lines[line.kind].set(line.tenant, line);
    },
    remove(run) {
      const line = lines[run.kind].get(run.tenant);
      const at = line?.runs.indexOf(run, line.head) ?? -1;
      if (line === undefined || at < 0) return false;
      line.runs.splice(at, 1);
      line.bytes -= run.bytes;
      size -= 1;
      place(line);
      return true;
    },
    drain() {
      const every = [lines.live, lines.trial].flatMap((kind) => [...kind.values()]);
      const all = every.flatMap((line) => line.runs.slice(line.head));
      lines.live.clear();
      lines.trial.clear();
      for (const { ring } of Object.values(lanes)) ring.clear();
      taken.clear();
      size = 0;
      return all;
    },
  };
}
