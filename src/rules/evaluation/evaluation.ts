// Evaluation: the rules of a sample or a due timer, each once, with the last samples; performs no action.
import { type BlockWait, converted, isInside } from '../../model/rule.ts';
import type { EpochMs } from '../../model/instant.ts';
import { isJsonObject } from '../../model/json.ts';
import type { CompiledLogic, CompiledRule } from './compiled-rule.ts';
import {
  type ConditionState,
  ConditionStates,
  heldBlock,
  type Moment,
} from './condition-states.ts';
import { type DevicePlan, matchSample, type PlannedRule, triggersAt } from './device-plan.ts';
import { isNeeded, type NeededFormula } from './operands.ts';
import { LastSamples } from './last-samples.ts';
import {
  type Firing,
  ownValue,
  Reading,
  type RuleEvaluation,
  type RuleSample,
} from './rule-reading.ts';

/** State of the rules by device. Timed runs have the device ''. */
export class RuleMemory {
  /** Samples dated later than this are not for rules. */
  readonly newestUntil: () => EpochMs;
  readonly now: () => EpochMs;
  readonly states: ConditionStates;
  /** Plans whose rules judged newer samples since they were saved. */
  readonly judged: Set<DevicePlan>;
  readonly #last: LastSamples;

  /** `now` is the clock that logic blocks wait by. */
  constructor(newestUntil: () => EpochMs, now: () => EpochMs) {
    this.newestUntil = newestUntil;
    this.now = now;
    this.#last = new LastSamples(newestUntil);
    this.states = new ConditionStates();
    this.judged = new Set();
  }

  get last(): LastSamples {
    return this.#last;
  }
}

/** A rule that was triggered. */
export interface Triggered {
  readonly compiled: CompiledRule;
  readonly reading: Reading;
  /** Indexes of the data sources that triggered it; empty for timed runs. */
  readonly places: readonly number[];
  /** Undefined for custom logic, which its script evaluates. */
  readonly verdict: RuleEvaluation | undefined;
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
  verdict: RuleEvaluation | undefined,
) => void;

/**
 * Called for a rule that threw. An internal error must not prevent the evaluation of other rules.
 */
export type VisitFailed = (
  compiled: CompiledRule,
  places: readonly number[],
  error: unknown,
) => void;

/** Why a sample that a rule takes is not judged: a newer one was, or its time is in the future. */
export type Unjudged = 'LATE' | 'FUTURE';

export interface SampleVisitor {
  readonly visit: Visit;
  /**
   * Called for a rule that does not judge the sample. Neither its state nor an alarm changes.
   * `fired` has the actions with consecutive alerts that a late sample fires all the same.
   */
  readonly unjudged?: (
    compiled: CompiledRule,
    places: readonly number[],
    why: Unjudged,
    fired?: Triggered,
  ) => void;
  /** Rethrows by default. */
  readonly failed?: VisitFailed;
}

/**
 * Calls `visit` for every rule that the sample triggers, then keeps the sample. Rules judge in the
 * order of time: of a data source, none that is older than the newest judged one. Logic blocks wait
 * from `receivedAt` on. Throws when the sample cannot be matched.
 */
export function evaluateSample(
  plan: DevicePlan,
  sample: RuleSample,
  memory: RuleMemory,
  { visit, unjudged, failed = rethrow }: SampleVisitor,
  receivedAt: EpochMs = memory.now(),
): void {
  const { remembered, uses } = matchSample(plan, sample.topic, sample.data);
  const until = memory.newestUntil();
  const isFuture = sample.timestamp > until;
  const alone = new Reading([sample]);
  const moment = { time: sample.timestamp, now: receivedAt };
  for (const { planned, places, triggers } of uses) {
    if (!triggers) continue;
    const { compiled } = planned;
    if (isFuture) {
      unjudged?.(compiled, places, 'FUTURE');
      continue;
    }
    const fresh = freshPlaces(planned, places, sample.timestamp, until);
    if (!triggersAt(compiled, fresh)) {
      unjudged?.(compiled, places, 'LATE', firedLate(planned, places, sample, memory.last));
      continue;
    }
    judge(planned, fresh, sample.timestamp);
    memory.judged.add(plan);
    try {
      let reading = alone;
      if (compiled.needsLastSamples) reading = readingFor(planned, fresh, sample, memory.last);
      visit(
        compiled,
        reading,
        fresh,
        verdictFor(planned, reading, sample.deviceId, memory, moment),
      );
    } catch (error) {
      failed(compiled, fresh, error);
    }
  }
  if (!isFuture) for (const watch of remembered) memory.last.put(watch.id, sample);
}

/**
 * What has to be computed before the sample is evaluated. Nothing may be evaluated in between,
 * because the sample may be compared with those before it.
 */
export function formulasNeeded(
  plan: DevicePlan,
  sample: RuleSample,
  { last, newestUntil }: RuleMemory,
): readonly NeededFormula[] {
  const until = newestUntil();
  if (sample.timestamp > until) return nothing;
  const { uses } = matchSample(plan, sample.topic, sample.data);
  return uses.flatMap(({ planned, places, triggers }) => {
    const { compiled } = planned;
    if (!triggers || compiled.formulas.length === 0) return [];
    const fresh = freshPlaces(planned, places, sample.timestamp, until);
    const read = triggersAt(compiled, fresh) ? fresh : places;
    return neededOf(
      compiled,
      compiled.needsLastSamples
        ? readSamples(planned, read, sample.deviceId, last, sample)
        : [sample],
    );
  });
}

/** What has to be computed before the rule is evaluated with the last samples. */
export function formulasNeededWithoutDevice(
  compiled: CompiledRule,
  { last }: RuleMemory,
): readonly NeededFormula[] {
  return neededOf(compiled, newestSamples(compiled, last));
}

function neededOf(
  { formulas }: CompiledRule,
  samples: readonly (RuleSample | undefined)[],
): readonly NeededFormula[] {
  return formulas.flatMap(({ formula, place }) => {
    const sample = samples[place];
    return sample !== undefined && isNeeded({ formula, sample }) ? [{ formula, sample }] : [];
  });
}

/**
 * The actions with consecutive alerts that the sample fires although a newer one was judged, without
 * alarms; undefined when there are none. A script judges in the order of time alone.
 */
function firedLate(
  planned: PlannedRule,
  places: readonly number[],
  sample: RuleSample,
  last: LastSamples,
): Triggered | undefined {
  const { compiled } = planned;
  if (compiled.logic.type === 'CUSTOM_LOGIC') return undefined;
  const reading = compiled.needsLastSamples
    ? readingFor(planned, places, sample, last)
    : new Reading([sample]);
  // Against its own conditions nothing begins to hold, so that only consecutive alerts fire.
  const moment = { time: sample.timestamp, now: sample.timestamp };
  const { holds } = evaluateRule(compiled, reading, stateless, moment);
  const verdict = evaluateRule(compiled, reading, { holds, waits: null }, moment);
  const firings = verdict.firings.filter(({ actionId }) => !compiled.alarms.has(actionId));
  if (firings.length === 0) return undefined;
  return { compiled, reading, places, verdict: { ...verdict, firings } };
}

/** The data sources for which the sample is not older than the newest judged one. */
function freshPlaces(
  { judged }: PlannedRule,
  places: readonly number[],
  timestamp: EpochMs,
  until: EpochMs,
): readonly number[] {
  const isLate = (place: number): boolean => {
    const newest = judged[place] ?? timestamp;
    // What was judged before the clock stepped back from the future does not count.
    return timestamp < newest && newest <= until;
  };
  return places.some(isLate) ? places.filter((place) => !isLate(place)) : places;
}

function judge({ judged }: PlannedRule, places: readonly number[], timestamp: EpochMs): void {
  for (const place of places) judged[place] = timestamp;
}

const rethrow: VisitFailed = (_compiled, _places, error) => {
  throw error;
};

/** Keeps a sample that must not trigger rules as the last one of its watches. */
export function keepSample(plan: DevicePlan, sample: RuleSample, memory: RuleMemory): void {
  const { last, newestUntil } = memory;
  if (sample.timestamp > newestUntil()) return;
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
  const samples = newestSamples(compiled, memory.last);
  const reading = new Reading(samples);
  const now = memory.now();
  const verdict = verdictFor({ compiled }, reading, '', memory, { time: now, now });
  return { compiled, reading, places: [], verdict };
}

function verdictFor(
  planned: Pick<PlannedRule, 'compiled' | 'cell'>,
  reading: Reading,
  deviceId: string,
  memory: RuleMemory,
  moment: Moment,
): RuleEvaluation | undefined {
  const { compiled } = planned;
  if (compiled.logic.type === 'CUSTOM_LOGIC') return undefined;
  const { states } = memory;
  const cell = cellOf(planned, deviceId, states);
  const verdict = evaluateRule(compiled, reading, cell, moment);
  if (verdict.holds !== cell.holds || verdict.waits !== undefined)
    states.change(cell, verdict.holds, verdict.waits);
  return verdict;
}

/** What a rule of silence does when a device, or the group, becomes silent or is heard again. */
export function silenceVerdict(
  { logic, consecutive }: CompiledRule,
  isSilent: boolean,
): RuleEvaluation {
  const actionIds = logic.type === 'SILENCE' && isSilent ? logic.actionIds : [];
  const firings = actionIds
    .filter((actionId) => consecutive.has(actionId))
    .map((actionId) => ({ actionId, cause: 'silence' }));
  return { holds: String(Number(isSilent)), firings, suppressed: false, missing: nothing };
}

function cellOf(
  planned: Pick<PlannedRule, 'compiled' | 'cell'>,
  deviceId: string,
  states: ConditionStates,
): ConditionState {
  let { cell } = planned;
  if (cell === undefined || !states.isCurrent(cell)) {
    cell = states.cell(planned.compiled.rule.id, deviceId);
    planned.cell = cell;
  }
  return cell;
}

/**
 * Changes the logic blocks of the rule that have waited long enough for the device, without a
 * further sample. Undefined when none has.
 */
export function evaluateDue(
  planned: PlannedRule,
  deviceId: string,
  memory: RuleMemory,
): Triggered | undefined {
  const { compiled } = planned;
  const { logic, consecutive } = compiled;
  if (logic.type !== 'COMPARISON') return undefined;
  const cell = cellOf(planned, deviceId, memory.states);
  const now = memory.now();
  const isDue = cell.waits?.map((wait) => wait !== null && wait.due <= now) ?? [];
  if (!isDue.includes(true)) return undefined;
  const samples = readSamples(planned, [], deviceId, memory.last);
  const firings: Firing[] = [];
  let holds = '';
  for (const [i, { actionIds }] of logic.blocks.entries()) {
    const before = cell.holds[i] === '1';
    const isTrue = before !== (isDue[i] === true);
    holds += Number(isTrue);
    if (!isTrue || before) continue;
    for (const actionId of actionIds)
      if (consecutive.has(actionId)) firings.push({ actionId, cause: `block ${i}` });
  }
  const waits = cell.waits?.map((wait, i) => (isDue[i] === true ? null : wait)) ?? [];
  memory.states.change(cell, holds, waits);
  const verdict = { holds, firings, suppressed: false, missing: nothing, waits };
  return { compiled, reading: new Reading(samples), places: [], verdict };
}

/**
 * A data source reads the triggering sample if it takes it, or the previous one if it asks for the
 * last sample. Else it reads the last sample of the same device. If that device is not an input, it
 * reads the newest sample of the devices it names.
 */
function readingFor(
  planned: PlannedRule,
  places: readonly number[],
  sample: RuleSample,
  last: LastSamples,
): Reading {
  return new Reading(readSamples(planned, places, sample.deviceId, last, sample));
}

function readSamples(
  { compiled, contains }: PlannedRule,
  places: readonly number[],
  deviceId: string,
  last: LastSamples,
  sample?: RuleSample,
): (RuleSample | undefined)[] {
  return compiled.sources.map(({ source, watch, deviceIds }, place) => {
    if (places.includes(place) && !source.lastSample) return sample;
    if (contains[place]) return last.get(deviceId, watch.id);
    return newest(last, deviceIds, watch.id);
  });
}

function newestSamples({ sources }: CompiledRule, last: LastSamples): (RuleSample | undefined)[] {
  return sources.map(({ watch, deviceIds }) => newest(last, deviceIds, watch.id));
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

// RuleEvaluation evaluation: the conditions of a rule that a reading makes true, and the actions that fire.

const nothing: readonly never[] = [];

/** The state of a rule that has judged nothing of a device. */
const stateless: BlockStates = { holds: '', waits: null };

type BlockStates = Pick<ConditionState, 'holds' | 'waits'>;

/** Evaluates a comparison or a geofence. `before` is the state that the last verdict left. */
function evaluateRule(
  compiled: CompiledRule,
  reading: Reading,
  before: BlockStates,
  moment: Moment,
): RuleEvaluation {
  const { logic, consecutive } = compiled;
  if (logic.type === 'COMPARISON')
    return evaluateBlocks(logic, consecutive, reading, before, moment);
  if (logic.type === 'GEO_FENCE') return evaluateFence(compiled, logic, reading, before.holds);
  throw new Error('Custom logic is evaluated by its script');
}

function evaluateBlocks(
  logic: Extract<CompiledLogic, { type: 'COMPARISON' }>,
  consecutive: ReadonlyMap<string, boolean>,
  reading: Reading,
  before: BlockStates,
  moment: Moment,
): RuleEvaluation {
  const { blocks, absent, isHeld } = logic;
  // Most rules wait for nothing: their evaluation allocates no list.
  const waits: (BlockWait | null)[] | undefined = isHeld ? [] : undefined;
  let holds = '';
  let firings: Firing[] | undefined;
  let missing: string[] | undefined;
  let suppressed = false;
  for (const { test, actionIds, hold } of blocks) {
    const i = holds.length;
    const isNew = before.holds[i] !== '1';
    const endTest = isNew ? undefined : hold?.clearTest;
    let isTrue = endTest === undefined ? test(reading, absent) : !endTest(reading, absent);
    let isEnding = false;
    let isUnknown = false;
    if (waits !== undefined) {
      const wait = before.waits?.[i] ?? null;
      let step = { isTrue, wait };
      if (hold !== undefined) {
        // A condition without a value neither begins nor ends a block that waits.
        isUnknown = absent.length > 0;
        step = isUnknown ? { isTrue: !isNew, wait } : heldBlock(hold, !isNew, wait, isTrue, moment);
      }
      isTrue = step.isTrue;
      waits.push(step.wait);
      isEnding = isTrue && step.wait !== null;
    }
    if (absent.length > 0) {
      for (const condition of absent)
        (missing ??= []).push(`logic block ${i + 1}, condition ${condition + 1}`);
      absent.length = 0;
    }
    holds += Number(isTrue);
    // A sample that is about the end of the block, or about nothing, does not fire it again.
    if (!isTrue || isEnding || isUnknown) continue;
    for (const actionId of actionIds) {
      const again = consecutive.get(actionId);
      if (again === undefined) continue;
      if (isNew || again) (firings ??= []).push({ actionId, cause: `block ${i}` });
      else suppressed = true;
    }
  }
  if (waits !== undefined)
    return { holds, firings: firings ?? nothing, suppressed, missing: missing ?? nothing, waits };
  if (firings !== undefined || missing !== undefined) {
    return { holds, firings: firings ?? nothing, suppressed, missing: missing ?? nothing };
  }
  const { quiet } = logic;
  if (quiet?.holds === holds && quiet.suppressed === suppressed) return quiet;
  logic.quiet = { holds, firings: nothing, suppressed, missing: nothing };
  return logic.quiet;
}

/**
 * A device without a position counts as outside, so that its first position inside is a crossing.
 */
function evaluateFence(
  { sources, consecutive }: CompiledRule,
  {
    fence,
    latitude,
    longitude,
    insideActionIds,
    outsideActionIds,
  }: Extract<CompiledLogic, { type: 'GEO_FENCE' }>,
  reading: Reading,
  before: string,
): RuleEvaluation {
  const degrees = (place: number, max: number): number | undefined => {
    const value = converted(ownValue(reading, sources, place), 'NUMERICAL');
    if (typeof value === 'number' && Math.abs(value) <= max) return value;
    return undefined;
  };
  const [lat, lng] = [degrees(latitude, 90), degrees(longitude, 180)];
  if (lat === undefined || lng === undefined) {
    const missing: string[] = [];
    if (lat === undefined) missing.push('latitude');
    if (lng === undefined) missing.push('longitude');
    return { holds: before, firings: nothing, suppressed: false, missing };
  }
  const inside = isInside(fence, lng, lat);
  const crossed = inside !== (before === '1');
  const firings: Firing[] = [];
  let suppressed = false;
  const entered = { cause: 'inside', actionIds: insideActionIds };
  const left = { cause: 'outside', actionIds: outsideActionIds };
  const { cause, actionIds } = inside ? entered : left;
  for (const actionId of actionIds) {
    const again = consecutive.get(actionId);
    if (again === undefined) continue;
    if (crossed || again) firings.push({ actionId, cause });
    else suppressed = true;
  }
  return { holds: String(Number(inside)), firings, suppressed, missing: nothing };
}
