// Evaluation: the rules of a sample or a due timer, each once, with the last samples; performs no action.
import { isJsonObject } from '../model/json.ts';
import type { CompiledRule } from './compiled-rule.ts';
import { type DevicePlan, matchSample, type PlannedRule } from './device-plan.ts';
import type { Verdict } from './firing.ts';
import type { ConditionStates } from './condition-states.ts';
import type { LastSamples } from './last-samples.ts';
import { type Reading, readingOf, type RuleSample } from './rule-reading.ts';
import { evaluateRule } from './verdict.ts';

/** State of the rules by device. Timed runs have the device ''. */
export interface RuleMemory {
  readonly last: LastSamples;
  readonly states: ConditionStates;
}

/** A rule that was triggered. */
export interface Triggered {
  readonly compiled: CompiledRule;
  readonly reading: Reading;
  /** Indexes of the data sources that triggered it; empty for timed runs. */
  readonly places: readonly number[];
  /** Undefined for custom logic, which its script evaluates. */
  readonly verdict: Verdict | undefined;
  /** Outputs whose alarms the verdict ends. */
  readonly ended?: readonly string[];
}

/**
 * Called with the parts of `Triggered`, because most verdicts change nothing and need no object.
 */
export type Visit = (
  compiled: CompiledRule,
  reading: Reading,
  places: readonly number[],
  verdict: Verdict | undefined,
) => void;

/**
 * Called for a rule that threw. An internal error must not prevent the evaluation of other rules.
 */
export type VisitFailed = (
  compiled: CompiledRule,
  places: readonly number[],
  error: unknown,
) => void;

export interface SampleVisitor {
  readonly visit: Visit;
  /** Rethrows by default. */
  readonly failed?: VisitFailed;
}

/**
 * Calls `visit` for every rule that the sample triggers, then keeps the sample. Throws when the
 * sample cannot be matched.
 */
export function evaluateSample(
  plan: DevicePlan,
  sample: RuleSample,
  memory: RuleMemory,
  { visit, failed = rethrow }: SampleVisitor,
): void {
  const { remembered, uses } = matchSample(plan, sample.topic, sample.data);
  const alone = readingOf([sample]);
  for (const { planned, places, triggers } of uses) {
    if (!triggers) continue;
    const { compiled } = planned;
    try {
      let reading = alone;
      if (compiled.needsLastSamples) reading = readingFor(planned, places, sample, memory.last);
      visit(
        compiled,
        reading,
        places,
        verdictFor(planned, reading, sample.deviceId, memory.states),
      );
    } catch (error) {
      failed(compiled, places, error);
    }
  }
  for (const watch of remembered) memory.last.put(watch.id, sample);
}

const rethrow: VisitFailed = (_compiled, _places, error) => {
  throw error;
};

/** Keeps a sample that must not trigger rules as the last one of its watches. */
export function keepSample(plan: DevicePlan, sample: RuleSample, { last }: RuleMemory): void {
  for (const watch of matchSample(plan, sample.topic, sample.data).remembered)
    last.put(watch.id, sample);
}

/**
 * Evaluates the rule at a due time. Returns undefined if an input is a tag, because no single
 * device is known then (contract 13).
 */
export function evaluateTimed(compiled: CompiledRule, memory: RuleMemory): Triggered | undefined {
  if (compiled.byTag) return undefined;
  return evaluateWithoutDevice(compiled, memory);
}

/** Evaluates the rule with the last samples of the devices that its data sources name. */
export function evaluateWithoutDevice(compiled: CompiledRule, memory: RuleMemory): Triggered {
  const samples = compiled.sources.map(({ watch, deviceIds }) =>
    newest(memory.last, deviceIds, watch.id),
  );
  const reading = readingOf(samples);
  const verdict = verdictFor({ compiled }, reading, '', memory.states);
  return { compiled, reading, places: [], verdict };
}

function verdictFor(
  planned: Pick<PlannedRule, 'compiled' | 'cell'>,
  reading: Reading,
  deviceId: string,
  holds: ConditionStates,
): Verdict | undefined {
  const { compiled } = planned;
  if (compiled.logic.type === 'CUSTOM_LOGIC') return undefined;
  let { cell } = planned;
  if (cell === undefined || !holds.isCurrent(cell)) {
    cell = holds.cell(compiled.rule.id, deviceId);
    planned.cell = cell;
  }
  const verdict = evaluateRule(compiled, reading, cell.holds);
  if (verdict.holds !== cell.holds) holds.change(cell, verdict.holds);
  return verdict;
}

/**
 * A data source reads the triggering sample if it takes it, or the previous one if it asks for the
 * last sample. Else it reads the last sample of the same device. If that device is not an input, it
 * reads the newest sample of the devices it names.
 */
function readingFor(
  { compiled, contains }: PlannedRule,
  places: readonly number[],
  sample: RuleSample,
  last: LastSamples,
): Reading {
  const samples = compiled.sources.map(({ source, watch, deviceIds }, place) => {
    if (places.includes(place) && !source.lastSample) return sample;
    if (contains[place]) return last.get(sample.deviceId, watch.id);
    return newest(last, deviceIds, watch.id);
  });
  return readingOf(samples);
}

function newest(
  last: LastSamples,
  deviceIds: readonly string[],
  watchId: string,
): RuleSample | undefined {
  let found: RuleSample | undefined;
  for (const deviceId of deviceIds) {
    const sample = last.get(deviceId, watchId);
    if (sample !== undefined && (found === undefined || sample.timestamp > found.timestamp))
      found = sample;
  }
  return found;
}

/** Returns a sample that was stored in the records; undefined when the value is not a sample. */
export function ruleSampleFrom(value: unknown): RuleSample | undefined {
  if (!isJsonObject(value) || !isJsonObject(value['data'])) return undefined;
  return value as unknown as RuleSample;
}
