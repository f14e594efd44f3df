// The last runs of each rule, kept as they happened and told when somebody asks: most are pushed out before anybody does.
import type { Json } from '../model/json.ts';
import type { CompiledRule } from './compiled-rule.ts';
import type { Verdict } from './firing.ts';
import {
  type EvaluatedRun,
  type RuleRun,
  runOf,
  type RunOrigin,
  runOutcomes,
  type RunOutcome,
  runView,
} from './rule-run.ts';

const runLogLimits = { runsMax: 50 } as const;

export interface RunLog {
  add(compiled: CompiledRule, run: RuleRun): void;
  /** A run by its parts, of which it makes nothing new. */
  addEvaluated(
    compiled: CompiledRule,
    origin: RunOrigin,
    samples: RuleRun['samples'],
    places: readonly number[],
    verdict: Verdict,
  ): void;
  /** Newest first, as answers show them; undefined when none has happened since the start. */
  runsOf(ruleId: string): Json[] | undefined;
  /** Begins a rule with runs of before, newest first. */
  load(ruleId: string, runs: readonly Json[]): void;
  has(ruleId: string): boolean;
  /** Rules with runs that were not saved yet, at most so many; they count as saved. */
  takeChanged(max: number): readonly string[];
  forget(ruleId: string): void;
  /** Runs since the start by outcome. */
  readonly counts: Readonly<Record<RunOutcome, number>>;
}

type Kept = { -readonly [K in keyof EvaluatedRun]: EvaluatedRun[K] };
type Told = { readonly compiled: CompiledRule; readonly run: RuleRun };

interface Ring {
  readonly runs: (Kept | Told)[];
  next: number;
  before: readonly Json[];
  /** Whether it is among those that are to be saved. */
  isChanged: boolean;
}

export function createRunLog(): RunLog {
  const rings = new Map<string, Ring>();
  const changed = new Set<string>();
  const counts = Object.fromEntries(runOutcomes.map((outcome) => [outcome, 0])) as Record<
    RunOutcome,
    number
  >;
  const ringOf = (ruleId: string): Ring => {
    let ring = rings.get(ruleId);
    if (ring === undefined)
      rings.set(ruleId, (ring = { runs: [], next: 0, before: [], isChanged: false }));
    return ring;
  };
  /** The place of the next run. */
  const step = (ring: Ring, ruleId: string): number => {
    const place = ring.next % runLogLimits.runsMax;
    ring.next += 1;
    if (!ring.isChanged) {
      ring.isChanged = true;
      changed.add(ruleId);
    }
    return place;
  };
  return {
    counts,
    add(compiled, run) {
      counts[run.outcome] += 1;
      const ring = ringOf(compiled.rule.id);
      ring.runs[step(ring, compiled.rule.id)] = { compiled, run };
    },
    addEvaluated(compiled, origin, samples, places, verdict) {
      counts[outcomeOf(verdict)] += 1;
      const ring = ringOf(compiled.rule.id);
      const place = step(ring, compiled.rule.id);
      const kept = ring.runs[place];
      if (kept === undefined || 'run' in kept) {
        ring.runs[place] = { compiled, origin, samples, places, verdict };
        return;
      }
      kept.compiled = compiled;
      kept.origin = origin;
      kept.samples = samples;
      kept.places = places;
      kept.verdict = verdict;
    },
    runsOf(ruleId) {
      const ring = rings.get(ruleId);
      if (ring === undefined) return undefined;
      const told: Json[] = [];
      const first = Math.max(0, ring.next - runLogLimits.runsMax);
      for (let at = ring.next - 1; at >= first; at--) {
        const kept = ring.runs[at % runLogLimits.runsMax]!;
        told.push(runView(kept.compiled, 'run' in kept ? kept.run : runOf(kept)));
      }
      return [...told, ...ring.before].slice(0, runLogLimits.runsMax);
    },
    load(ruleId, runs) {
      const ring = ringOf(ruleId);
      ring.before = runs;
    },
    has: (ruleId) => rings.has(ruleId),
    takeChanged(max) {
      const taken: string[] = [];
      for (const id of changed) {
        if (taken.length === max) break;
        taken.push(id);
      }
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

function outcomeOf({ firings, suppressed }: Verdict): RunOutcome {
  if (firings.length > 0) return 'FIRED';
  if (suppressed) return 'SUPPRESSED';
  return 'NOT_FIRED';
}
