// The last runs of each rule: what triggered it, what it saw, what came of it. Kept as they happened; told when somebody asks.
import { type EpochMs, formatInstant } from '../model/instant.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { CompiledRule } from './compiled-rule.ts';
import { readingOf, ownValue, type SeenSample } from './reading.ts';

export const runCauses = ['UPLINK', 'TIMER', 'SCRIPT_TIMER'] as const;
export type RunCause = (typeof runCauses)[number];

export const runOutcomes = ['FIRED', 'NOT_FIRED', 'SUPPRESSED', 'ABORTED', 'FAILED', 'DROPPED'] as const;
export type RunOutcome = (typeof runOutcomes)[number];

export interface RuleRun {
  readonly at: EpochMs;
  readonly cause: RunCause;
  /** Empty for timed runs. */
  readonly deviceId: string;
  readonly correlationId: string;
  readonly samples: readonly (SeenSample | undefined)[];
  /** Places of the data sources that triggered it. */
  readonly places: readonly number[];
  readonly outcome: RunOutcome;
  readonly reason: string;
  /** Ids of the actions that fired, each as often as it did. */
  readonly actionIds: readonly string[];
}

const runLogLimits = { runsMax: 50 } as const;

export interface RunLog {
  /** `run` may be made when somebody asks: most runs are pushed out before anybody does. */
  add(compiled: CompiledRule, run: RuleRun | (() => RuleRun)): void;
  /** Newest first, as answers show them; undefined when none has happened since the start. */
  runsOf(ruleId: string): Json[] | undefined;
  /** Begins a rule with runs of before, newest first. */
  load(ruleId: string, runs: readonly Json[]): void;
  has(ruleId: string): boolean;
  /** Rules with runs that were not saved yet, at most so many; they count as saved. */
  takeChanged(max: number): readonly string[];
  forget(ruleId: string): void;
}

interface Ring {
  readonly runs: ({ readonly run: RuleRun | (() => RuleRun); readonly compiled: CompiledRule } | undefined)[];
  next: number;
  before: readonly Json[];
}

export function createRunLog(): RunLog {
  const rings = new Map<string, Ring>();
  const changed = new Set<string>();
  const ringOf = (ruleId: string): Ring => {
    let ring = rings.get(ruleId);
    if (ring === undefined) rings.set(ruleId, (ring = { runs: [], next: 0, before: [] }));
    return ring;
  };
  return {
    add(compiled, run) {
      const { id } = compiled.rule;
      const ring = ringOf(id);
      ring.runs[ring.next % runLogLimits.runsMax] = { run, compiled };
      ring.next += 1;
      changed.add(id);
    },
    runsOf(ruleId) {
      const ring = rings.get(ruleId);
      if (ring === undefined) return undefined;
      const told: Json[] = [];
      const first = Math.max(0, ring.next - runLogLimits.runsMax);
      for (let at = ring.next - 1; at >= first; at--) {
        const kept = ring.runs[at % runLogLimits.runsMax]!;
        told.push(runView(kept.compiled, typeof kept.run === 'function' ? kept.run() : kept.run));
      }
      return [...told, ...ring.before].slice(0, runLogLimits.runsMax);
    },
    load(ruleId, runs) {
      const ring = ringOf(ruleId);
      ring.before = runs;
    },
    has: (ruleId) => rings.has(ruleId),
    takeChanged(max) {
      const taken = [...changed].slice(0, max);
      for (const id of taken) changed.delete(id);
      return taken;
    },
    forget(ruleId) {
      rings.delete(ruleId);
      changed.delete(ruleId);
    },
  };
}

/** A run as answers show it. */
export function runView(compiled: CompiledRule, run: RuleRun): JsonObject {
  const reading = readingOf(run.samples);
  return {
    timestamp: formatInstant(run.at),
    trigger: run.cause,
    deviceId: run.deviceId === '' ? null : run.deviceId,
    correlationId: run.correlationId === '' ? null : run.correlationId,
    inputs: compiled.sources.map(({ source }, place) => {
      const sample = run.samples[place];
      return {
        dataSourceId: source.id,
        variableName: source.variableName,
        trigger: run.places.includes(place),
        deviceId: sample?.deviceId ?? null,
        topic: sample?.topic ?? null,
        timestamp: sample === undefined ? null : formatInstant(sample.timestamp),
        dataKey: source.dataKey,
        value: ownValue(reading, compiled.sources, place) ?? null,
      };
    }),
    outcome: run.outcome,
    reason: run.reason,
    actionIds: run.actionIds,
  };
}
