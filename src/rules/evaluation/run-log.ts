// Run log: the last runs of each rule, stored as verdicts and converted when they are read.
import type { EpochMs } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';
import { type RunOutcome, runOutcomes } from '../../model/rule.ts';
import type { CompiledRule } from './compiled-rule.ts';
import type { RuleEvaluation } from './rule-reading.ts';
import { type EvaluatedRun, type RuleRun, runOf, runView } from './rule-run.ts';

const runLogLimits = { runsMax: 50 } as const;

export interface LastRun {
  readonly at: EpochMs;
  readonly outcome: RunOutcome;
}

export interface RunLog {
  add(compiled: CompiledRule, run: RuleRun): void;
  /** Adds a run whose parts are copied into a reused entry. */
  addEvaluated(run: EvaluatedRun): void;
  /**
   * Returns the runs as answers show them, newest first; undefined without a run since the start.
   */
  runsOf(ruleId: string): Json[] | undefined;
  /** The newest run, as answers show it; undefined without a run since the start. */
  lastOf(ruleId: string): LastRun | undefined;
  /** Adds the runs of before the start, newest first. */
  load(ruleId: string, runs: readonly Json[]): void;
  /** Whether the runs of before the start were added. */
  isLoaded(ruleId: string): boolean;
  /** Returns at most `max` rules with unsaved runs, and marks them as saved. */
  takeChanged(max: number): readonly string[];
  forget(ruleId: string): void;
  /** Runs since the start by outcome. */
  readonly counts: Readonly<Record<RunOutcome, number>>;
}

type ReusedRun = { -readonly [K in keyof EvaluatedRun]: EvaluatedRun[K] };
type CompleteRun = { readonly compiled: CompiledRule; readonly run: RuleRun };

interface Ring {
  readonly runs: (ReusedRun | CompleteRun)[];
  next: number;
  /** Undefined until they are loaded. */
  before: readonly Json[] | undefined;
  /** Whether it waits to be saved. */
  isChanged: boolean;
}

/** Notified of runs as they are added. */
export interface RunListener {
  readonly wants: (workspaceId: string) => boolean;
  readonly ran: (compiled: CompiledRule, run: RuleRun) => void;
}

export function createRunLog(listener?: RunListener): RunLog {
  const rings = new Map<string, Ring>();
  const changed = new Set<string>();
  const counts = Object.fromEntries(runOutcomes.map((outcome) => [outcome, 0])) as Record<
    RunOutcome,
    number
  >;

  function ringOf(ruleId: string): Ring {
    let ring = rings.get(ruleId);
    if (ring === undefined)
      rings.set(ruleId, (ring = { runs: [], next: 0, before: undefined, isChanged: false }));
    return ring;
  }

  function changedRing(ruleId: string): Ring {
    const ring = ringOf(ruleId);
    if (!ring.isChanged) {
      ring.isChanged = true;
      changed.add(ruleId);
    }
    return ring;
  }

  return {
    counts,
    add(compiled, run) {
      counts[run.outcome] += 1;
      const ring = changedRing(compiled.rule.id);
      ring.runs[nextIndex(ring)] = { compiled, run };
      if (listener?.wants(compiled.rule.workspaceId) === true) listener.ran(compiled, run);
    },
    addEvaluated(run) {
      counts[outcomeOf(run.verdict)] += 1;
      const { compiled } = run;
      reuseNext(changedRing(compiled.rule.id), run);
      if (listener?.wants(compiled.rule.workspaceId) === true) listener.ran(compiled, runOf(run));
    },
    runsOf(ruleId) {
      const ring = rings.get(ruleId);
      return ring && viewsOf(ring);
    },
    lastOf(ruleId) {
      const ring = rings.get(ruleId);
      if (ring === undefined || ring.next === 0) return undefined;
      const newest = ring.runs[(ring.next - 1) % runLogLimits.runsMax];
      return newest && lastRunOf(newest);
    },
    load(ruleId, runs) {
      ringOf(ruleId).before = runs;
    },
    isLoaded: (ruleId) => rings.get(ruleId)?.before !== undefined,
    takeChanged(max) {
      const taken = [...changed.values().take(max)];
      for (const id of taken) {
        changed.delete(id);
        const ring = rings.get(id);
        if (ring !== undefined) ring.isChanged = false;
      }
      return taken;
    },
    forget(ruleId) {
      rings.delete(ruleId);
      changed.delete(ruleId);
    },
  };
}

function nextIndex(ring: Ring): number {
  const index = ring.next % runLogLimits.runsMax;
  ring.next += 1;
  return index;
}

/** Overwrites the oldest run, so that a verdict without effect leaves no object behind. */
function reuseNext(ring: Ring, run: EvaluatedRun): void {
  const index = nextIndex(ring);
  const oldest = ring.runs[index];
  if (oldest === undefined || 'run' in oldest) ring.runs[index] = { ...run };
  else Object.assign(oldest, run);
}

function lastRunOf(entry: ReusedRun | CompleteRun): LastRun {
  if ('run' in entry) return { at: entry.run.at, outcome: entry.run.outcome };
  return { at: entry.origin.at, outcome: outcomeOf(entry.verdict) };
}

/** Newest first, with the runs of before the start last. */
function viewsOf(ring: Ring): Json[] {
  const oldest = ring.next % ring.runs.length || 0;
  const inOrder = [...ring.runs.slice(oldest), ...ring.runs.slice(0, oldest)];
  const views = inOrder.reverse().map((entry) => runView(entry.compiled, completeRun(entry)));
  return [...views, ...(ring.before ?? [])].slice(0, runLogLimits.runsMax);
}

function completeRun(entry: ReusedRun | CompleteRun): RuleRun {
  if ('run' in entry) return entry.run;
  return runOf(entry);
}

function outcomeOf({ firings, suppressed }: RuleEvaluation): RunOutcome {
  if (firings.length > 0) return 'FIRED';
  if (suppressed) return 'SUPPRESSED';
  return 'NOT_FIRED';
}
