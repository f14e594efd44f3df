// Lines of waiting runs: one per tenant and kind, with its account of measured time, in the rings of three lanes.

/**
 * Devices and rules wait for `live` runs. Users try out scripts with `trial` runs, which come after
 * them.
 */
export type RunKind = 'live' | 'trial';

/** `quick` and `slow` are lanes of live runs, by the duration of the tenant's recent runs. */
export type Lane = 'quick' | 'slow' | 'trial';

export interface Waiting {
  readonly tenant: string;
  readonly kind: RunKind;
  /** Its size in memory while it waits. */
  readonly bytes: number;
}

export interface QueueLimits {
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
export interface Line<Run> {
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
}

interface LaneState<Run> {
  /** Lines with a run that may start, in the order of their turns. */
  readonly ring: Map<string, Line<Run>>;
  /** Time used by this lane, divided by its weight. The lane with the least is next. */
  spent: number;
}

/** Shares of the threads' time when every lane has work. */
export const weights: Readonly<Record<Lane, number>> = { quick: 8, slow: 4, trial: 1 };
export const quantumMs = 1;
const expectedMsAtFirst = 0.5;
/** Lines of a kind in memory. The longest idle are evicted, with their negative balances. */
const linesMax = 10_000;

export type Kinds<Run> = Readonly<Record<RunKind, Map<string, Line<Run>>>>;
export type Lanes<Run> = Readonly<Record<Lane, LaneState<Run>>>;

export interface QueueState<Run> {
  readonly limits: QueueLimits;
  readonly now: () => number;
  /** By kind, then tenant. A combined key would have to be built for every run. */
  readonly lines: Kinds<Run>;
  readonly lanes: Lanes<Run>;
  /** Taken runs, with their line and the milliseconds that were deducted from its balance. */
  readonly taken: Map<Run, { readonly line: Line<Run>; readonly ms: number }>;
  size: number;
}

export function waitingIn(line: Line<unknown>): number {
  return line.runs.length - line.head;
}

export function lineOf<Run extends Waiting>(
  state: QueueState<Run>,
  { tenant, kind }: Run,
): Line<Run> {
  const lines = state.lines[kind];
  const known = lines.get(tenant);
  if (known !== undefined) return known;
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
    idleSince: state.now(),
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
export function updateRing<Run>({ lanes, limits }: QueueState<Run>, line: Line<Run>): void {
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

export function changeLane<Run>({ lanes, limits }: QueueState<Run>, line: Line<Run>): void {
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
export function wake({ now }: { readonly now: () => number }, line: Line<unknown>): void {
  if (waitingIn(line) > 0 || line.underWay > 0) return;
  line.balanceMs = Math.min(quantumMs, line.balanceMs + now() - line.idleSince);
}

/** Undoes the charge of taking a run. */
export function uncharge<Run extends Waiting>(state: QueueState<Run>, run: Run): Line<Run> {
  const charged = state.taken.get(run);
  if (charged === undefined) return lineOf(state, run);
  const { line, ms } = charged;
  state.taken.delete(run);
  line.underWay -= 1;
  line.balanceMs += ms;
  return line;
}

/** One long run counts immediately. Many short ones are needed to compensate for it. */
export function expectedAfter(expectedMs: number, ms: number): number {
  if (ms > expectedMs) return (expectedMs + ms) / 2;
  return expectedMs * 0.9 + ms * 0.1;
}
