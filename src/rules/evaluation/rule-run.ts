// Rule run: its trigger, its samples, its outcome and the reason, as stored and as answers show it.
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import type { RunOutcome } from '../../model/rule.ts';
import { sayingsOf } from './comparison.ts';
import type { CompiledRule } from './compiled-rule.ts';
import type { Unjudged } from './evaluation.ts';
import { unjudgedReason } from './operands.ts';
import {
  type Firing,
  ownValue,
  Reading,
  type RuleEvaluation,
  type RuleSample,
} from './rule-reading.ts';

const runCauses = ['UPLINK', 'TIMER', 'SCRIPT_TIMER'] as const;
type RunCause = (typeof runCauses)[number];

/** What triggered a run. */
export interface RunOrigin {
  readonly cause: RunCause;
  /** Empty for timed runs. */
  readonly deviceId: string;
  readonly correlationId: string;
  /** Time of the evaluation. */
  readonly at: EpochMs;
}

export interface RuleRun extends RunOrigin {
  readonly samples: readonly (RuleSample | undefined)[];
  /** Indexes of the data sources that triggered it. */
  readonly places: readonly number[];
  readonly outcome: RunOutcome;
  readonly reason: string;
  /** Ids of the actions that fired, one per firing. */
  readonly actionIds: readonly string[];
}

/** An evaluated rule, not yet converted into a run. */
export interface EvaluatedRun {
  readonly compiled: CompiledRule;
  readonly origin: RunOrigin;
  readonly samples: RuleRun['samples'];
  readonly places: readonly number[];
  readonly verdict: RuleEvaluation;
}

/** Returns the complete run. */
export function runOf({ compiled, origin, samples, places, verdict }: EvaluatedRun): RuleRun {
  const { at, cause, deviceId, correlationId } = origin;
  const { firings, suppressed } = verdict;
  const base = { at, cause, deviceId, correlationId, samples, places };
  if (firings.length > 0) {
    const reasons = firings.map((firing) => reasonOf(firing.cause, compiled, samples));
    const reason = [...new Set(reasons)].join(', ');
    return {
      ...base,
      outcome: 'FIRED',
      reason,
      actionIds: firings.map(({ actionId }) => actionId),
    };
  }
  if (suppressed) {
    const reason = 'still true; actions fire only when it becomes true';
    return { ...base, outcome: 'SUPPRESSED', reason, actionIds: [] };
  }
  const reason = reasonNotFired(compiled, verdict, samples);
  return { ...base, outcome: 'NOT_FIRED', reason, actionIds: [] };
}

/** The run of a rule that did not judge the sample. */
export function unjudgedRun(
  { sources }: CompiledRule,
  { at, cause, deviceId, correlationId }: RunOrigin,
  sample: RuleSample,
  places: readonly number[],
  why: Unjudged,
  firings: readonly Firing[] = [],
): RuleRun {
  const time = formatInstant(sample.timestamp);
  const ahead = `the sample timestamp ${time} is more than a day in the future; check the device's clock`;
  const late = `the sample is of ${time}, older than the newest one that the rule judged`;
  return {
    at,
    cause,
    deviceId,
    correlationId,
    places,
    actionIds: firings.map(({ actionId }) => actionId),
    samples: sources.map((_, place) => (places.includes(place) ? sample : undefined)),
    outcome: why === 'LATE' ? 'LATE' : 'NOT_FIRED',
    reason: why === 'LATE' ? late : ahead,
  };
}

/** Comparisons of a run that its reason lists. */
const comparedMax = 5;

const fenceReasons: Readonly<Record<string, string>> & { readonly '0': string } = {
  '0': 'outside the geofence',
  '1': 'inside the geofence',
};

function reasonNotFired(
  compiled: CompiledRule,
  { holds, missing, waits }: RuleEvaluation,
  samples: RuleRun['samples'],
): string {
  const { logic, rule } = compiled;
  if (missing.length > 0) {
    const why = samples.flatMap((sample) => (sample && unjudgedReason(sample)) ?? []);
    if (why.length > 0) return `not judged: ${why[0]}`;
    return `no value for ${missing.join('; ')}`;
  }
  if (logic.type === 'SILENCE') return 'an uplink was received';
  if (logic.type !== 'COMPARISON') return fenceReasons[holds] ?? fenceReasons['0'];
  const place = waits?.findIndex((wait) => wait !== null) ?? -1;
  const wait = waits?.[place];
  if (wait) {
    const { holdsFor, clearsFor } = rule.logic.logicBlocks?.[place] ?? {};
    const since = formatInstant(wait.since);
    return holds[place] === '1'
      ? `logic block ${place + 1} is not met since ${since}; it is false after ${clearsFor}`
      : `logic block ${place + 1} is met since ${since}; it is true after ${holdsFor}`;
  }
  if (holds.includes('1')) return 'true, but no action is configured';
  const compared = (rule.logic.logicBlocks ?? []).flatMap((_, i) => compares(compiled, i, samples));
  return `no condition was met: ${compared.slice(0, comparedMax).join('; ')}`;
}

/** What the conditions of the logic block compared. */
function compares(
  { logic, rule }: CompiledRule,
  index: number,
  samples: RuleRun['samples'],
): readonly string[] {
  const { conditions } = rule.logic.logicBlocks?.[index] ?? { conditions: [] };
  if (logic.type !== 'COMPARISON') return [];
  return sayingsOf(conditions, rule.logic.dataSources, logic.formulas, new Reading(samples));
}

function reasonOf(cause: string, compiled: CompiledRule, samples: RuleRun['samples']): string {
  const { rule } = compiled;
  const block = /^block (\d+)$/.exec(cause);
  if (cause === 'silence') return 'no uplink for longer than the rule allows';
  if (block === null) return `${cause} the geofence`;
  const index = Number(block[1]);
  const { holdsFor } = rule.logic.logicBlocks?.[index] ?? {};
  const isTrue = `logic block ${index + 1} was true`;
  if (holdsFor !== undefined) return `${isTrue} for ${holdsFor}`;
  return `${isTrue}: ${compares(compiled, index, samples).join('; ')}`;
}

/** A run as answers show it. */
export function runView(compiled: CompiledRule, run: RuleRun): JsonObject {
  const reading = new Reading(run.samples);
  return {
    timestamp: formatInstant(run.at),
    trigger: run.cause,
    deviceId: run.deviceId || null,
    correlationId: run.correlationId || null,
    inputs: compiled.sources.map(({ source }, place) => {
      const sample = run.samples[place];
      return {
        dataSourceId: source.id,
        variableName: source.variableName,
        trigger: run.places.includes(place),
        deviceId: sample?.deviceId ?? null,
        topic: sample?.topic ?? null,
        timestamp: (sample && formatInstant(sample.timestamp)) ?? null,
        dataKey: source.dataKey,
        value: ownValue(reading, compiled.sources, place) ?? null,
      };
    }),
    outcome: run.outcome,
    reason: run.reason,
    actionIds: run.actionIds,
  };
}
