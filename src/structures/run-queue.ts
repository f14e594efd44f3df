// Bounded fair queue of script runs: tenants take turns by measured time (deficit round robin), so one cannot delay the others.
import { leavesRoom } from './shared-pool.ts';

// Lines of waiting runs: one per tenant and kind, with its account of measured time, in the rings of three lanes.

/**
 * Devices and rules wait for `live` runs. Users try out scripts with `trial` runs, which come after
 * them.
 */
export type RunKind = 'live' | 'trial';

/** `quick` and `slow` are lanes of live runs, by the duration of the tenant's recent runs. */
type Lane = 'quick' | 'slow' | 'trial';

export interface Waiting {
  readonly tenant: string;
  readonly kind: RunKind;
  /** Its size in memory while it waits. */
  readonly bytes: number;
}

interface QueueLimits {
  /** Waiting live runs of one tenant, and waiting runs of all. */
  readonly tenantQueueMax: number;
  readonly queueMax: number;
  /**
   * Trial runs of one tenant: running at the same time, waiting, and the bytes of the waiting ones.
   */
  readonly trialsRunningMax: number;
  readonly trialsWaitingMax: number;
  readonly trialBytesMax: number;
  /** A tenant whose runs take longer on average is slow, and becomes quick again at half of it. */
  readonly quickMsMax: number;
}

/** The runs of one tenant and kind, and its account. */
interface Line<Run> {
  readonly tenant: string;
  readonly kind: RunKind;
  runs: Run[];
  /** Index of the first waiting run. The array is shortened from time to time. */
  head: number;
  bytes: number;
  underWay: number;
  lane: Lane;
  /**
   * Milliseconds that it may use before the next tenant's turn; negative after it used more than
   * its share.
   */
  balanceMs: number;
  /** Expected duration of its next run. */
  expectedMs: number;
  idleSince: number;
  /** When it was put behind the other lines of its kind. */
  movedAt: number;
}

interface LaneState<Run> {
  /** Lines with a run that may start, in the order of their turns. */
  readonly ring: Map<string, Line<Run>>;
  /** Time used by this lane, divided by its weight. The lane with the least is next. */
  spent: number;
}

/** Shares of the threads' time when every lane has work. */
const weights: Readonly<Record<Lane, number>> = { quick: 8, slow: 4, trial: 1 };
const quantumMs = 1;
const expectedMsAtFirst = 0.5;
/** Lines of a kind in memory. The longest idle are evicted, with their negative balances. */
const linesMax = 10_000;

type Kinds<Run> = Readonly<Record<RunKind, Map<string, Line<Run>>>>;
type Lanes<Run> = Readonly<Record<Lane, LaneState<Run>>>;

interface QueueState<Run> {
  readonly limits: QueueLimits;
  readonly now: () => number;
  /** By kind, then tenant. A combined key would have to be built for every run. */
  readonly lines: Kinds<Run>;
  readonly lanes: Lanes<Run>;
  /** Taken runs, with their line and the milliseconds that were deducted from its balance. */
  readonly taken: Map<Run, { readonly line: Line<Run>; readonly ms: number }>;
  size: number;
}

function waitingIn(line: Line<unknown>): number {
  return line.runs.length - line.head;
}

function lineOf<Run extends Waiting>(state: QueueState<Run>, { tenant, kind }: Run): Line<Run> {
  const lines = state.lines[kind];
  const known = lines.get(tenant);
  if (known !== undefined) return known;
  const now = state.now();
  const line: Line<Run> = {
    tenant,
    kind,
    runs: [],
    head: 0,
    bytes: 0,
    underWay: 0,
    lane: firstLanes[kind],
    balanceMs: quantumMs,
    expectedMs: expectedMsAtFirst,
    idleSince: now,
    movedAt: now,
  };
  lines.set(tenant, line);
  if (lines.size > linesMax) evictIdle(lines);
  return line;
}

const firstLanes: Readonly<Record<RunKind, Lane>> = { live: 'quick', trial: 'trial' };

function evictIdle(lines: Map<string, Line<unknown>>): void {
  for (const [tenant, line] of lines) {
    if (lines.size <= linesMax) return;
    if (waitingIn(line) === 0 && line.underWay === 0) lines.delete(tenant);
  }
}

/**
 * Adds the line to its lane's ring or removes it, as its state requires. A line in the ring keeps
 * its turn.
 */
function updateRing<Run>({ lanes, limits }: QueueState<Run>, line: Line<Run>): void {
  const { tenant, lane } = line;
  const { ring } = lanes[lane];
  const isBarred = line.kind === 'trial' && line.underWay >= limits.trialsRunningMax;
  if (waitingIn(line) === 0 || isBarred) {
    ring.delete(tenant);
    return;
  }
  if (ring.has(tenant)) return;
  if (ring.size === 0) catchUp(lanes, lane);
  ring.set(tenant, line);
}

/** A lane that was empty has not saved time. */
function catchUp<Run>(lanes: Lanes<Run>, lane: Lane): void {
  const busy = Object.values(lanes).filter(({ ring }) => ring.size > 0);
  if (busy.length === 0) return;
  lanes[lane].spent = Math.max(lanes[lane].spent, Math.min(...busy.map(({ spent }) => spent)));
}

function changeLane<Run>({ lanes, limits }: QueueState<Run>, line: Line<Run>): void {
  if (line.kind === 'trial') return;
  const lane = laneAfter(line, limits);
  if (lane === line.lane) return;
  lanes[line.lane].ring.delete(line.tenant);
  line.lane = lane;
}

function laneAfter({ lane, expectedMs }: Line<unknown>, { quickMsMax }: QueueLimits): Lane {
  const quickMax = lane === 'slow' ? quickMsMax / 2 : quickMsMax;
  return expectedMs > quickMax ? 'slow' : 'quick';
}

/** Idle time reduces a negative balance and earns nothing. */
function wake({ now }: { readonly now: () => number }, line: Line<unknown>): void {
  if (waitingIn(line) > 0 || line.underWay > 0) return;
  line.balanceMs = Math.min(quantumMs, line.balanceMs + now() - line.idleSince);
}

/** Undoes the charge of taking a run. */
function uncharge<Run extends Waiting>(state: QueueState<Run>, run: Run): Line<Run> {
  const charged = state.taken.get(run);
  if (charged === undefined) return lineOf(state, run);
  const { line, ms } = charged;
  state.taken.delete(run);
  line.underWay -= 1;
  line.balanceMs += ms;
  return line;
}

/** One long run counts immediately. Many short ones are needed to compensate for it. */
function expectedAfter(expectedMs: number, ms: number): number {
  if (ms > expectedMs) return (expectedMs + ms) / 2;
  return expectedMs * 0.9 + ms * 0.1;
}

export class RunQueue<Run extends Waiting> {
  readonly #lanes: Lanes<Run> = {
    quick: { ring: new Map(), spent: 0 },
    slow: { ring: new Map(), spent: 0 },
    trial: { ring: new Map(), spent: 0 },
  };
  readonly #lines: Kinds<Run> = { live: new Map(), trial: new Map() };
  readonly #state: QueueState<Run>;

  constructor(limits: QueueLimits, now: () => number) {
    this.#state = {
      limits,
      now,
      lines: this.#lines,
      lanes: this.#lanes,
      taken: new Map(),
      size: 0,
    };
  }

  /** Waiting and taken trial runs of a tenant. */
  readonly trials = (tenant: string): { readonly waiting: number; readonly underWay: number } => {
    const line = this.#lines.trial.get(tenant);
    if (line === undefined) return { waiting: 0, underWay: 0 };
    return { waiting: waitingIn(line), underWay: line.underWay };
  };

  get size(): number {
    return this.#state.size;
  }

  /** Whether a live run of the tenant waits. */
  hasLive(tenant: string): boolean {
    const line = this.#lines.live.get(tenant);
    return line !== undefined && waitingIn(line) > 0;
  }

  /** True if the lane of slow tenants or of trials has a run to take. */
  get hasSlow(): boolean {
    return this.#lanes.slow.ring.size + this.#lanes.trial.ring.size > 0;
  }

  /** Adds a run at the end of its tenant's line. */
  push(run: Run): 'taken' | 'tenantFull' | 'full' {
    return push(this.#state, run);
  }

  /**
   * Puts back runs that were taken and not started, at the front of their tenants' lines and in
   * their old order. Tenants that already wait keep their turns.
   */
  putBack(runs: readonly Run[]): void {
    for (const run of runs.toReversed()) putBack(this.#state, run);
  }

  /** Takes up to `count` quick runs, or one other run if `alsoSlow` allows it and its lane is next. */
  take(count: number, alsoSlow: boolean): { readonly lane: Lane; readonly runs: readonly Run[] } {
    return take(this.#state, count, alsoSlow);
  }

  /** Charges a taken run to its tenant. Runs that are put back are not charged. */
  settle(run: Run, ms: number): void {
    settle(this.#state, run, ms);
  }

  /** Charges time to the tenant of a run that did not wait here. */
  charge(run: Run, ms: number): void {
    charge(this.#state, run, ms);
  }

  /** Removes a waiting run. False if it no longer waits. */
  remove(run: Run): boolean {
    return remove(this.#state, run);
  }

  /** Takes everything. */
  drain(): Run[] {
    return drain(this.#state);
  }
}

function push<Run extends Waiting>(state: QueueState<Run>, run: Run) {
  const { limits } = state;
  if (state.size >= limits.queueMax) return 'full';
  const line = lineOf(state, run);
  const isFull =
    run.kind === 'trial' ? isTrialFull(line, run, limits) : isLiveFull(line, state.size, limits);
  if (isFull) return 'tenantFull';
  wake(state, line);
  line.runs.push(run);
  line.bytes += run.bytes;
  state.size += 1;
  updateRing(state, line);
  return 'taken';
}

/** Several tenants with full lines leave room for others. */
function isLiveFull(
  line: Line<Waiting>,
  size: number,
  { tenantQueueMax, queueMax }: QueueLimits,
): boolean {
  const waiting = waitingIn(line);
  return waiting >= tenantQueueMax || !leavesRoom(waiting, size, queueMax);
}

/**
 * Those that run count with those that wait: how many of a burst have begun depends on the threads. A
 * single run may be larger than the limit of bytes.
 */
function isTrialFull(line: Line<Waiting>, run: Waiting, limits: QueueLimits): boolean {
  const admitted = waitingIn(line) + line.underWay;
  if (admitted >= limits.trialsRunningMax + limits.trialsWaitingMax) return true;
  return line.bytes > 0 && line.bytes + run.bytes > limits.trialBytesMax;
}

function putBack<Run extends Waiting>(state: QueueState<Run>, run: Run): void {
  const line = uncharge(state, run);
  if (line.head === 0) line.runs.unshift(run);
  else line.runs[--line.head] = run;
  line.bytes += run.bytes;
  state.size += 1;
  updateRing(state, line);
}

const everyLane: readonly Lane[] = ['quick', 'slow', 'trial'];
const quickLane: readonly Lane[] = ['quick'];

function take<Run extends Waiting>(state: QueueState<Run>, count: number, alsoSlow: boolean) {
  const { lanes } = state;
  const allowed = alsoSlow ? everyLane : quickLane;
  const open = allowed.filter((name) => lanes[name].ring.size > 0);
  if (open.length === 0) return { lane: 'quick' as const, runs: [] };
  const lane = open.reduce((least, name) =>
    lanes[name].spent < lanes[least].spent ? name : least,
  );
  const { ring } = lanes[lane];
  const most = lane === 'quick' ? count : 1;
  const runs: Run[] = [];
  while (runs.length < most) {
    const line = nextIn(ring);
    if (line === undefined) break;
    runs.push(takeFirst(state, line));
  }
  return { lane, runs };
}

/**
 * The line whose turn it is. A line that used its share gets the next one and goes to the end of
 * the ring.
 */
function nextIn<Run>(ring: Map<string, Line<Run>>): Line<Run> | undefined {
  // A line that is moved to the end of the map is visited again.
  for (const line of ring.values()) {
    if (line.balanceMs > 0) return line;
    line.balanceMs += quantumMs;
    ring.delete(line.tenant);
    ring.set(line.tenant, line);
  }
  return undefined;
}

const movedMs = 1_000;

/** Runs that were taken stay in the array of a line up to this number. */
const headMax = 1_024;

/** A line in a ring has a waiting run. */
function takeFirst<Run extends Waiting>(state: QueueState<Run>, line: Line<Run>): Run {
  const run = line.runs[line.head]!;
  line.head += 1;
  state.size -= 1;
  line.bytes -= run.bytes;
  if (line.head === line.runs.length || line.head >= headMax) {
    line.runs = line.runs.slice(line.head);
    line.head = 0;
  }
  line.underWay += 1;
  line.balanceMs -= line.expectedMs;
  state.taken.set(run, { line, ms: line.expectedMs });
  updateRing(state, line);
  return run;
}

function charge<Run extends Waiting>(state: QueueState<Run>, run: Run, ms: number): void {
  const line = lineOf(state, run);
  wake(state, line);
  chargeTo(state, line, ms);
}

function settle<Run extends Waiting>(state: QueueState<Run>, run: Run, ms: number): void {
  chargeTo(state, uncharge(state, run), ms);
}

function chargeTo<Run extends Waiting>(state: QueueState<Run>, line: Line<Run>, ms: number): void {
  const { lanes, lines } = state;
  line.balanceMs -= ms;
  line.expectedMs = expectedAfter(line.expectedMs, ms);
  changeLane(state, line);
  // Charged to the tenant's present lane: quick tenants do not pay for the run that showed this one
  // to be slow.
  lanes[line.lane].spent += ms / weights[line.lane];
  updateRing(state, line);
  if (waitingIn(line) > 0 || line.underWay > 0) return;
  line.idleSince = state.now();
  // The longest idle line is the first of the map, to the second: a map compacts itself after so
  // many moves.
  if (line.idleSince - line.movedAt < movedMs) return;
  line.movedAt = line.idleSince;
  if (lines[line.kind].delete(line.tenant)) lines[line.kind].set(line.tenant, line);
}

function remove<Run extends Waiting>(state: QueueState<Run>, run: Run): boolean {
  const line = state.lines[run.kind].get(run.tenant);
  const at = line?.runs.indexOf(run, line.head) ?? -1;
  if (line === undefined || at < 0) return false;
  line.runs.splice(at, 1);
  line.bytes -= run.bytes;
  state.size -= 1;
  updateRing(state, line);
  return true;
}

function drain<Run extends Waiting>(state: QueueState<Run>): Run[] {
  const { lines, lanes, taken } = state;
  const every = [lines.live, lines.trial].flatMap((kind) => [...kind.values()]);
  const all = every.flatMap((line) => line.runs.slice(line.head));
  lines.live.clear();
  lines.trial.clear();
  for (const { ring } of Object.values(lanes)) ring.clear();
  taken.clear();
  state.size = 0;
  return all;
}
