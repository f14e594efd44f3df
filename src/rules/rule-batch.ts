// Rule batch: the triggered rules of one transaction and their effects.
import type { AlarmSources } from './evaluation/alarm-sources.ts';
import { type EpochMs, formatInstant } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import type { StoredSample } from '../model/sample.ts';
import type { CompiledRule } from './evaluation/compiled-rule.ts';
import type { Triggered } from './evaluation/evaluation.ts';
import type { SearchGap } from './evaluation/last-samples.ts';
import type { PreparationFailures, RuleRegistry } from './evaluation/rule-registry.ts';
import type { RuleRun } from './evaluation/rule-run.ts';
import type { RunLog } from './evaluation/run-log.ts';
import {
  type LookUpDevice,
  type Origin,
  ruleContext,
  ruleDelivery,
  type RuleDelivery,
  ruleNote,
  type RuleNote,
} from './rule-effects.ts';
import { alarmEnds, alarmTrigger, sampleTimeOf, trackAlarms } from './rule-alarms.ts';
import type { RuleTurn } from './rule-lanes.ts';
import { type CollectedWrite, emptyWrite } from './rule-writes.ts';
import type { AlarmEffect } from '../model/alarm.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import type { ProcessingLogEntry } from '../model/entry-trace.ts';
import type { TemplateContext } from '../model/template-context.ts';
import type { ActivationRef } from '../storage/records/rows/rule-state.ts';
import type { RuleSample } from './evaluation/rule-reading.ts';
import { scriptCauses, scriptEvent } from './evaluation/script-run.ts';

// Rule triggers: the queued script runs and notes of triggered rules, and the limit of consecutive rules.

/** Maximum number of rules that forward a sample, one after the other (contract 13). */
const hopsMax = 10;

/** Returns a run of a script for the queue: everything except the state of the rule. */
async function waitingRun(
  triggered: Triggered,
  origin: Origin,
  lookUp: LookUpDevice,
  platformStart: EpochMs,
  timerMeta: JsonObject | null = null,
): Promise<JsonObject> {
  const { compiled, reading, places } = triggered;
  const context = await ruleContext(triggered, origin, lookUp);
  const type = scriptCauses[origin.cause];
  const { hops: numberOfInvocations, at } = origin;
  const cause = { type, timerMeta, numberOfInvocations, at, platformStart } as const;
  const event = scriptEvent(compiled, reading, cause, context);
  const { entry: _, sample: __, ...stored } = origin;
  return {
    origin: stored,
    event,
    context,
    samples: reading.samples.map((sample) => sample ?? null),
    places,
  } as unknown as JsonObject;
}

/**
 * Returns the deliveries and alarms of the firings of a verdict, and a note of them. `times` is the
 * number of equal triggers of alarms.
 */
function firedEffects(
  { compiled, reading, places, verdict, ended = [] }: Triggered,
  origin: Origin,
  context: TemplateContext,
  times = 1,
) {
  const { activation, id: ruleId } = compiled.rule;
  const firings = verdict?.firings ?? [];
  const sampleTime = sampleTimeOf(reading.samples, places);
  const run = { compiled, origin, context, times, sampleTime };
  const alarms: AlarmEffect[] = [];
  const deliveries: (RuleDelivery & ActivationRef)[] = [];
  for (const firing of firings) {
    const output = compiled.alarms.get(firing.actionId);
    if (output !== undefined) alarms.push(alarmTrigger(run, output, firing.actionId));
    else deliveries.push({ ...ruleDelivery(compiled, origin, firing, context), activation });
  }
  // Ends follow triggers, so that an alarm with two outputs stays open when one replaces the other.
  alarms.push(...alarmEnds(run, ended));
  // Alarms are noted when they open and end, not with each trigger.
  const actionIds = deliveries.map(({ connectorId }) => connectorId);
  const noted = actionIds.length > 0 ? notedDevices(compiled, origin) : [];
  return {
    deliveries,
    alarms: alarms.map((effect) => ({ ruleId, activation, effect })),
    notes: noted.map((deviceId) => ruleNote(compiled, origin, deviceId, firedNote(actionIds))),
  };
}

export function firedNote(actionIds: readonly string[]): RuleNote {
  let message = `fired, ${actionIds.length} actions`;
  if (actionIds.length === 1) message = 'fired, 1 action';
  return { level: 'INFO', message, details: { actionIds } };
}

/** Whether too many rules forwarded the samples, so that no further rule is evaluated. */
export function isBeyondHops({ trace }: DurableEntry): boolean {
  return (trace?.ruleHops ?? 0) > hopsMax;
}

/** Returns the note of such samples. Repeating it changes nothing. */
export function hopsNote(
  { deviceId, position, samples, receivedAt }: DurableEntry,
  at: EpochMs,
): ProcessingLogEntry {
  return {
    id: `rules-hops-${position}`,
    deviceId,
    timestamp: at,
    correlationId: samples[0]?.correlationId ?? String(receivedAt),
    level: 'ERROR',
    source: 'RULE',
    message: `Rules already forwarded a sample ${hopsMax} times; no further rule is evaluated`,
  };
}

/**
 * Returns the device whose processing log gets the note: the triggering one, or the first one that
 * a timed rule names.
 */
function notedDevices({ sources }: CompiledRule, { deviceId }: Origin): readonly string[] {
  if (deviceId !== '') return [deviceId];
  return sources.flatMap(({ deviceIds }) => deviceIds).slice(0, 1);
}

/** Returns the sample as rules keep it. */
export function ruleSampleOf({
  deviceId,
  topic,
  timestamp,
  data,
  meta,
  correlationId,
}: StoredSample): RuleSample {
  return {
    deviceId,
    topic,
    timestamp,
    data,
    ...(meta !== undefined && { meta }),
    correlationId,
  };
}

/** Waiting script runs of one rule. Further runs are reported and dropped. */
const waitingRunsMax = 1_000;
/** Work on effects without a pause. */
const effectsSliceMs = 5;

/** What each batch needs. */
export interface RuleBatchParts {
  readonly log: RunLog;
  readonly registry: RuleRegistry;
  readonly lookUp: LookUpDevice;
  /** Waiting script runs of the rule, without those of the batch. */
  readonly waiting: { count(ruleId: string): number };
  readonly now: () => EpochMs;
  /** Milliseconds since any fixed moment. */
  readonly clock: () => number;
  readonly pause: (ms: number) => Promise<void>;
  readonly newId: () => string;
  /**
   * Called for a rule that failed, once per batch. The failure is noted and the other rules
   * continue.
   */
  readonly failed: (error: Error) => void;
}

export class RuleBatch {
  readonly #parts: RuleBatchParts;
  readonly #platformStart: () => EpochMs;
  readonly #turn: RuleTurn | undefined;
  readonly #write = emptyWrite();
  readonly #failures: RunFailures;
  readonly #alarmSources: AlarmSources;
  readonly #triggers = new TriggerList();
  readonly #addedRuns = new Map<string, number>();

  /**
   * `platformStart` is when the platform started, by the wall clock as it is now. `turn` is what the
   * batch is of; undefined for timers.
   */
  constructor(parts: RuleBatchParts, platformStart: () => EpochMs, turn?: RuleTurn) {
    this.#parts = parts;
    this.#platformStart = platformStart;
    this.#turn = turn;
    if (turn !== undefined)
      Object.assign(this.#write, { savePositions: turn.save, upTo: turn.upTo });
    this.#failures = new RunFailures(this.#write, parts);
    const { alarmSources } = parts.registry;
    this.#alarmSources = alarmSources;
  }

  /** Identifies a trigger by the sample permanently. */
  readonly keyOf = ({ cursor }: StoredSample): string =>
    this.#turn?.journal === undefined ? cursor : `${this.#turn.journal} ${cursor}`;

  /** Keeps a triggered rule until `addEffects` builds its effects. */
  readonly addTriggered = (triggered: Triggered, origin: Origin): void =>
    this.#triggers.add(triggered, origin);

  /** Keeps a rule that was evaluated without an entry, with its run and what it does to alarms. */
  addJudged(triggered: Triggered, origin: Origin): void {
    const { compiled, reading, places, verdict } = triggered;
    if (verdict === undefined) return this.addTriggered(triggered, origin);
    this.#parts.log.addEvaluated({ compiled, origin, samples: reading.samples, places, verdict });
    const ended = trackAlarms(compiled, verdict, origin.deviceId, this.#alarmSources);
    if (verdict.firings.length > 0 || ended.length > 0)
      this.addTriggered({ ...triggered, ended }, origin);
  }

  get write(): CollectedWrite {
    return this.#write;
  }

  get failures(): RunFailures {
    return this.#failures;
  }

  /**
   * Builds deliveries, alarms and notes of firings, and waiting runs of scripts, in slices.
   * Rejects when the records cannot be read.
   */
  async addEffects(): Promise<void> {
    let sliceEndMs = this.#parts.clock() + effectsSliceMs;
    for (const entry of this.#triggers.all()) {
      await this.#addEffectsOf(entry);
      if (this.#parts.clock() < sliceEndMs) continue;
      await this.#parts.pause(1);
      sliceEndMs = this.#parts.clock() + effectsSliceMs;
    }
  }

  /**
   * Adds a run that a timer of the rule's script triggered. There is no limit on waiting runs for
   * these.
   */
  addTimerRun({
    compiled,
    origin,
    timerMeta,
    evaluate,
  }: {
    readonly compiled: CompiledRule;
    readonly origin: Origin;
    /** What the script set the timer with. */
    readonly timerMeta: JsonObject | null;
    readonly evaluate: () => Triggered;
  }): Promise<void> {
    const failed = (error: unknown): void => this.#failures.failed(compiled, origin, [], error);
    return isolated(this.#parts.lookUp, failed, async (lookUp) => {
      const triggered = evaluate();
      this.#addWaitingRun(
        triggered,
        await waitingRun(triggered, origin, lookUp, this.#platformStart(), timerMeta),
      );
    });
  }

  #hasRoom(ruleId: string): boolean {
    return this.#parts.waiting.count(ruleId) + (this.#addedRuns.get(ruleId) ?? 0) < waitingRunsMax;
  }

  async #addFirings(entry: TriggerEntry, lookUp: LookUpDevice) {
    const { triggered, origin, times } = entry;
    const context = await ruleContext(triggered, origin, lookUp);
    const { deliveries, alarms, notes } = firedEffects(triggered, origin, context, times);
    const { id: ruleId, activation } = triggered.compiled.rule;
    if ((triggered.verdict?.firings.length ?? 0) > 0)
      this.#write.fired.push({ ruleId, activation, at: origin.at, times });
    this.#write.deliveries.push(...deliveries);
    this.#write.alarms.push(...alarms);
    this.#write.notes.push(...notes);
  }

  #addWaitingRun({ compiled: { rule } }: Triggered, trigger: JsonObject): void {
    this.#addedRuns.set(rule.id, (this.#addedRuns.get(rule.id) ?? 0) + 1);
    this.#write.triggers.push({ ruleId: rule.id, activation: rule.activation, trigger });
  }

  async #addEffectsOf(entry: TriggerEntry): Promise<void> {
    const { triggered, origin } = entry;
    const { compiled, places, verdict } = triggered;
    if (verdict === undefined && !this.#hasRoom(compiled.rule.id)) {
      this.#failures.dropped(triggered, origin, waitingRunsMax);
      return;
    }
    const failed = (error: unknown): void => {
      // The next evaluation that is false ends them.
      for (const connectorId of triggered.ended ?? [])
        this.#alarmSources.add({
          ruleId: compiled.rule.id,
          connectorId,
          deviceId: origin.deviceId,
        });
      this.#failures.failed(compiled, origin, places, error);
    };
    await isolated(this.#parts.lookUp, failed, async (lookUp) => {
      if (verdict !== undefined) await this.#addFirings(entry, lookUp);
      else
        this.#addWaitingRun(
          triggered,
          await waitingRun(triggered, origin, lookUp, this.#platformStart()),
        );
    });
  }
}

// Trigger list: the triggered rules of a batch in their order; equal triggers of alarms become one entry.

interface TriggerEntry {
  readonly triggered: Triggered;
  readonly origin: Origin;
  /** Triggers that it represents; the last one is `triggered`. */
  readonly times: number;
}

/**
 * In a storm most triggers are of the same alarm: of a rule, device and output after the first
 * one, only their number and the last one matter.
 */
class TriggerList {
  readonly #entries = new Map<number, TriggerEntry>();
  /** By rule and device, then by outputs: the place of the entry of further triggers, if any. */
  readonly #repeats = new Map<string, Map<string, number | undefined>>();
  #next = 0;

  readonly add = (triggered: Triggered, origin: Origin): void => {
    const id = `${triggered.compiled.rule.id}\n${origin.deviceId}`;
    const outputs = repeatedOutputs(triggered);
    const places = this.#repeats.get(id) ?? new Map<string, number | undefined>();
    if (outputs === undefined || !places.has(outputs)) this.#push({ triggered, origin, times: 1 });
    // An end is between the triggers before and after it.
    if (outputs === undefined) return void this.#repeats.delete(id);
    this.#repeats.set(id, places);
    if (!places.has(outputs)) return void places.set(outputs, undefined);
    const place = places.get(outputs) ?? -1;
    const times = (this.#entries.get(place)?.times ?? 0) + 1;
    // It is behind all others now, because it describes the last trigger.
    this.#entries.delete(place);
    places.set(outputs, this.#push({ triggered, origin, times }));
  };

  all(): Iterable<TriggerEntry> {
    return this.#entries.values();
  }

  #push(entry: TriggerEntry): number {
    this.#entries.set(this.#next, entry);
    return this.#next++;
  }
}

/** The outputs that are triggered; undefined for what is not only alarms with steady keys. */
function repeatedOutputs({ compiled, verdict, ended = [] }: Triggered): string | undefined {
  if (verdict === undefined || ended.length > 0) return undefined;
  const { firings } = verdict;
  if (!firings.every(({ actionId }) => hasSteadyAlarm(compiled, actionId))) return undefined;
  return firings.map(({ actionId }) => actionId).join();
}

/** Whether the action triggers the same alarm for all samples of a device. */
function hasSteadyAlarm({ alarms }: CompiledRule, actionId: string): boolean {
  return alarms.get(actionId)?.templates.isSteady === true;
}

// Failed runs of rules: dropped, aborted or failed; each is logged and noted without stopping other runs.

/** For the tenant. The log of the platform has the error, for the operator. */
const failedText = 'an internal error (see the platform log) prevented';

const uncertainTexts = {
  unreadable: 'stored samples are unreadable, so the last sample may be outdated or missing',
  backlog:
    'rule evaluation is behind, so the last sample was looked up by timestamp; a late sample may be missing',
} as const;

/**
 * For one write, which has one note per rule and device, regardless of the number of samples
 * that fail.
 */
class RunFailures implements PreparationFailures {
  readonly #collected: CollectedWrite;
  readonly #parts: RuleBatchParts;
  /** Keys of what this write has noted or logged. */
  readonly #reported = new Set<string>();

  constructor(collected: CollectedWrite, parts: RuleBatchParts) {
    this.#collected = collected;
    this.#parts = parts;
  }

  /**
   * The rule threw while the device was planned: in this batch it does not evaluate samples of the
   * device.
   */
  readonly planningFailed = (compiled: CompiledRule, deviceId: string, error: unknown): void => {
    const key = `device ${deviceId} up to entry ${this.#collected.upTo}`;
    this.failed(compiled, this.#originOf(deviceId, key), [], error);
  };

  /**
   * The last sample that the rule reads of the device may be another than the newest. May be
   * called several times.
   */
  readonly lastSampleUncertain = (
    compiled: CompiledRule,
    deviceId: string,
    gap: SearchGap,
  ): void => {
    const { id, activation } = compiled.rule;
    const key = `${gap.kind} ${deviceId} ${activation}`;
    if (!this.#isFirst(`${id} ${key}`)) return;
    const note = {
      level: 'WARN',
      message: uncertainTexts[gap.kind],
      details: rangeOf(gap),
    } as const;
    // The id of the note is the same each time, so that the processing log keeps one.
    this.#collected.notes.push(ruleNote(compiled, this.#originOf(deviceId, key), deviceId, note));
  };

  /** The rule threw during its evaluation or while its effects were collected. */
  failed(compiled: CompiledRule, origin: Origin, places: readonly number[], error: unknown): void {
    const samples = compiled.sources.map((_, place) => {
      if (places.includes(place)) return origin.sample;
      return undefined;
    });
    const reason = `${failedText} its evaluation`;
    this.#addRun(compiled, origin, { samples, places, outcome: 'FAILED', reason });
    this.#addNote(compiled, origin, reason);
    const { id } = compiled.rule;
    if (this.#isFirst(`log ${id}`))
      this.#parts.failed(new Error(`Rule ${id} failed for ${origin.key}`, { cause: error }));
  }

  /** The maximum number of runs of its script already waits. */
  dropped({ compiled, reading, places }: Triggered, origin: Origin, waitingMax: number): void {
    const reason = `${waitingMax} script runs are already queued; this run was skipped`;
    const { samples } = reading;
    this.#addRun(compiled, origin, { samples, places, outcome: 'DROPPED', reason });
    this.#addNote(compiled, origin, reason);
  }

  /** The timer of a rule with tags as inputs was due. */
  aborted(compiled: CompiledRule, origin: Origin): void {
    const samples = compiled.sources.map(() => undefined);
    const reason = 'timers do not support tag inputs because there is no triggering device';
    this.#addRun(compiled, origin, { samples, places: [], outcome: 'ABORTED', reason });
  }

  /** The sample threw before the first rule. */
  sampleFailed(
    { deviceId, cursor, correlationId }: StoredSample,
    at: EpochMs,
    error: unknown,
  ): void {
    if (!this.#isFirst(`sample ${deviceId}`)) return;
    this.#collected.notes.push({
      id: `rules-failed-${cursor}`,
      deviceId,
      timestamp: at,
      correlationId,
      level: 'ERROR',
      source: 'RULE',
      message: `Rules: ${failedText} the evaluation of a sample`,
    });
    const message = `Rules were not evaluated for sample ${cursor} of device ${deviceId}`;
    this.#parts.failed(new Error(message, { cause: error }));
  }

  #addRun(
    compiled: CompiledRule,
    origin: Origin,
    run: Pick<RuleRun, 'samples' | 'places' | 'outcome' | 'reason'>,
  ): void {
    this.#parts.log.add(compiled, { ...runBy(origin), ...run, actionIds: [] });
  }

  #originOf(deviceId: string, key: string): Origin {
    const { newId, now } = this.#parts;
    return { cause: 'UPLINK', key, deviceId, correlationId: newId(), hops: 0, at: now() };
  }

  #isFirst(key: string): boolean {
    if (this.#reported.has(key)) return false;
    this.#reported.add(key);
    return true;
  }

  /** Adds a note to the processing log of the device that the run is about, if there is one. */
  #addNote(compiled: CompiledRule, origin: Origin, message: string): void {
    const [deviceId] = notedDevices(compiled, origin);
    if (deviceId === undefined) return;
    if (!this.#isFirst(`${compiled.rule.id} ${deviceId} ${message}`)) return;
    this.#collected.notes.push(ruleNote(compiled, origin, deviceId, { level: 'ERROR', message }));
  }
}

function rangeOf(gap: SearchGap): JsonObject | undefined {
  if (gap.kind !== 'unreadable') return undefined;
  return { from: formatInstant(gap.from), to: formatInstant(gap.to) };
}

function runBy({ at, cause, deviceId, correlationId }: Origin) {
  return { at, cause, deviceId, correlationId };
}

/** The records could not be read. The entire batch is retried. */
class LookUpFailed extends Error {
  override readonly name = 'LookUpFailed';
}

/** Runs `work`. Calls `failed` when it throws; rethrows when the records could not be read. */
async function isolated(
  lookUp: LookUpDevice,
  failed: (error: unknown) => void,
  work: (lookUp: LookUpDevice) => Promise<void>,
): Promise<void> {
  try {
    await work(async (deviceId) => {
      try {
        return await lookUp(deviceId);
      } catch (error) {
        throw new LookUpFailed('The records cannot be read', { cause: error });
      }
    });
  } catch (error) {
    if (error instanceof LookUpFailed) throw error.cause;
    failed(error);
  }
}
