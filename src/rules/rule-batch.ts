// Rule batch: the triggered rules of one transaction and their effects.
import { type EpochMs, formatInstant } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import type { StoredSample } from '../model/sample.ts';
import type { CompiledRule } from './evaluation/compiled-rule.ts';
import type { Triggered } from './evaluation/evaluation.ts';
import type { SearchGap } from './evaluation/last-sample-search.ts';
import type { PreparationFailures, RuleRegistry } from './evaluation/rule-registry.ts';
import type { RuleRun } from './evaluation/rule-run.ts';
import type { RunLog } from './evaluation/run-log.ts';
import { type LookUpDevice, type Origin, ruleContext, ruleNote } from './rule-effects.ts';
import type { RuleTurn } from './rule-lanes.ts';
import { firedEffects, notedDevices, waitingRun } from './rule-triggers.ts';
import { type CollectedWrite, emptyWrite } from './rule-writes.ts';

/** Waiting script runs of one rule. Further runs are reported and dropped. */
const waitingRunsMax = 1_000;
/** Work on effects without a pause. */
const effectsSliceMs = 5;

export interface RuleBatchParts {
  readonly log: RunLog;
  readonly registry: RuleRegistry;
  readonly lookUp: LookUpDevice;
  /** Waiting script runs of the rule, without those of the batch. */
  readonly waiting: { count(ruleId: string): number };
  readonly now: () => EpochMs;
  /** Milliseconds since any fixed moment. */
  readonly clock: () => number;
  /** When the platform started, by the wall clock as it is now. */
  readonly platformStart: () => EpochMs;
  readonly pause: (ms: number) => Promise<void>;
  readonly newId: () => string;
  /**
   * Called for a rule that failed, once per batch. The failure is noted and the other rules
   * continue.
   */
  readonly failed: (error: Error) => void;
}

export interface RuleBatch {
  readonly write: CollectedWrite;
  /** Identifies a trigger by the sample permanently. */
  readonly keyOf: (sample: StoredSample) => string;
  readonly failures: RunFailures;
  /** Keeps a triggered rule until `addEffects` builds its effects. */
  addTriggered(triggered: Triggered, origin: Origin): void;
  /**
   * Builds deliveries, alarms and notes of firings, and waiting runs of scripts, in slices. Rejects
   * when the records cannot be read.
   */
  addEffects(): Promise<void>;
  /**
   * Adds a run that a timer of the rule's script triggered. There is no limit on waiting runs for
   * these.
   */
  addTimerRun(timed: TimedScript): Promise<void>;
}

export interface TimedScript {
  readonly compiled: CompiledRule;
  readonly origin: Origin;
  /** What the script set the timer with. */
  readonly timerMeta: JsonObject | null;
  readonly evaluate: () => Triggered;
}

/** `turn` is what the batch is of; undefined for timers. */
export function createRuleBatch(parts: RuleBatchParts, turn?: RuleTurn): RuleBatch {
  const write = emptyWrite();
  if (turn !== undefined) Object.assign(write, { savePositions: turn.save, upTo: turn.upTo });
  const failures = createRunFailures(write, parts);
  const { alarmSources } = parts.registry;
  const triggers = createTriggerList();
  const addedRuns = new Map<string, number>();

  function hasRoom(ruleId: string): boolean {
    return parts.waiting.count(ruleId) + (addedRuns.get(ruleId) ?? 0) < waitingRunsMax;
  }

  async function addFirings(entry: TriggerEntry, lookUp: LookUpDevice) {
    const { triggered, origin, times } = entry;
    const context = await ruleContext(triggered, origin, lookUp);
    const { deliveries, alarms, notes } = firedEffects(triggered, origin, context, times);
    const { id: ruleId, activation } = triggered.compiled.rule;
    if ((triggered.verdict?.firings.length ?? 0) > 0)
      write.fired.push({ ruleId, activation, at: origin.at, times });
    write.deliveries.push(...deliveries);
    write.alarms.push(...alarms);
    write.notes.push(...notes);
  }

  function addWaitingRun({ compiled: { rule } }: Triggered, trigger: JsonObject): void {
    addedRuns.set(rule.id, (addedRuns.get(rule.id) ?? 0) + 1);
    write.triggers.push({ ruleId: rule.id, activation: rule.activation, trigger });
  }

  async function addEffectsOf(entry: TriggerEntry): Promise<void> {
    const { triggered, origin } = entry;
    const { compiled, places, verdict } = triggered;
    if (verdict === undefined && !hasRoom(compiled.rule.id)) {
      failures.dropped(triggered, origin, waitingRunsMax);
      return;
    }
    const failed = (error: unknown): void => {
      // The next evaluation that is false ends them.
      for (const connectorId of triggered.ended ?? [])
        alarmSources.add({ ruleId: compiled.rule.id, connectorId, deviceId: origin.deviceId });
      failures.failed(compiled, origin, places, error);
    };
    await isolated(parts.lookUp, failed, async (lookUp) => {
      if (verdict !== undefined) await addFirings(entry, lookUp);
      else
        addWaitingRun(
          triggered,
          await waitingRun(triggered, origin, lookUp, parts.platformStart()),
        );
    });
  }

  return {
    write,
    keyOf: ({ cursor }) => (turn?.journal === undefined ? cursor : `${turn.journal} ${cursor}`),
    failures,
    addTriggered: triggers.add,
    async addEffects() {
      let sliceEndMs = parts.clock() + effectsSliceMs;
      for (const entry of triggers.all()) {
        await addEffectsOf(entry);
        if (parts.clock() < sliceEndMs) continue;
        await parts.pause(1);
        sliceEndMs = parts.clock() + effectsSliceMs;
      }
    },
    addTimerRun({ compiled, origin, timerMeta, evaluate }) {
      const failed = (error: unknown): void => failures.failed(compiled, origin, [], error);
      return isolated(parts.lookUp, failed, async (lookUp) => {
        const triggered = evaluate();
        addWaitingRun(
          triggered,
          await waitingRun(triggered, origin, lookUp, parts.platformStart(), timerMeta),
        );
      });
    },
  };
}

// Trigger list: the triggered rules of a batch in their order; equal triggers of alarms become one entry.

interface TriggerEntry {
  readonly triggered: Triggered;
  readonly origin: Origin;
  /** Triggers that it represents; the last one is `triggered`. */
  readonly times: number;
}

interface TriggerList {
  add(triggered: Triggered, origin: Origin): void;
  all(): Iterable<TriggerEntry>;
}

/**
 * In a storm most triggers are of the same alarm: of a rule, device and output after the first one,
 * only their number and the last one matter.
 */
function createTriggerList(): TriggerList {
  const entries = new Map<number, TriggerEntry>();
  /** By rule and device, then by outputs: the place of the entry of further triggers, if any. */
  const repeats = new Map<string, Map<string, number | undefined>>();
  let next = 0;

  function push(entry: TriggerEntry): number {
    entries.set(next, entry);
    return next++;
  }

  return {
    add(triggered, origin) {
      const id = `${triggered.compiled.rule.id}\n${origin.deviceId}`;
      const outputs = repeatedOutputs(triggered);
      const places = repeats.get(id) ?? new Map<string, number | undefined>();
      if (outputs === undefined || !places.has(outputs)) push({ triggered, origin, times: 1 });
      // An end is between the triggers before and after it.
      if (outputs === undefined) return void repeats.delete(id);
      repeats.set(id, places);
      if (!places.has(outputs)) return void places.set(outputs, undefined);
      const place = places.get(outputs) ?? -1;
      const times = (entries.get(place)?.times ?? 0) + 1;
      // It is behind all others now, because it describes the last trigger.
      entries.delete(place);
      places.set(outputs, push({ triggered, origin, times }));
    },
    all: () => entries.values(),
  };
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

interface RunFailures extends PreparationFailures {
  /** The maximum number of runs of its script already waits. */
  dropped(triggered: Triggered, origin: Origin, waitingMax: number): void;
  /** The timer of a rule with tags as inputs was due. */
  aborted(compiled: CompiledRule, origin: Origin): void;
  /** The rule threw during its evaluation or while its effects were collected. */
  failed(compiled: CompiledRule, origin: Origin, places: readonly number[], error: unknown): void;
  /** The sample threw before the first rule. */
  sampleFailed(sample: StoredSample, at: EpochMs, error: unknown): void;
}

interface FailureState {
  readonly collected: CollectedWrite;
  readonly parts: RunFailuresParts;
  /** Keys of what this write has noted or logged. */
  readonly reported: Set<string>;
}

interface RunFailuresParts {
  readonly log: RunLog;
  readonly failed: (error: Error) => void;
  readonly now: () => EpochMs;
  readonly newId: () => string;
}

/**
 * For one write, which has one note per rule and device, regardless of the number of samples that
 * fail.
 */
function createRunFailures(collected: CollectedWrite, parts: RunFailuresParts): RunFailures {
  const state: FailureState = { collected, parts, reported: new Set() };
  return {
    planningFailed(compiled, deviceId, error) {
      const key = `device ${deviceId} up to entry ${collected.upTo}`;
      addFailedRun(state, compiled, { origin: originOf(parts, deviceId, key), places: [], error });
    },
    lastSampleUncertain: (compiled, deviceId, gap) => noteUncertain(state, compiled, deviceId, gap),
    failed: (compiled, origin, places, error) =>
      addFailedRun(state, compiled, { origin, places, error }),
    dropped({ compiled, reading, places }, origin, waitingMax) {
      const reason = `${waitingMax} script runs are already queued; this run was skipped`;
      const { samples } = reading;
      addRun(parts.log, compiled, origin, { samples, places, outcome: 'DROPPED', reason });
      addNote(state, compiled, origin, reason);
    },
    aborted(compiled, origin) {
      const samples = compiled.sources.map(() => undefined);
      const reason = 'timers do not support tag inputs because there is no triggering device';
      addRun(parts.log, compiled, origin, { samples, places: [], outcome: 'ABORTED', reason });
    },
    sampleFailed: (sample, at, error) => noteFailedSample(state, sample, at, error),
  };
}

function isFirst({ reported }: FailureState, key: string): boolean {
  if (reported.has(key)) return false;
  reported.add(key);
  return true;
}

function originOf({ newId, now }: RunFailuresParts, deviceId: string, key: string): Origin {
  return { cause: 'UPLINK', key, deviceId, correlationId: newId(), hops: 0, at: now() };
}

function addRun(
  log: RunLog,
  compiled: CompiledRule,
  origin: Origin,
  run: Pick<RuleRun, 'samples' | 'places' | 'outcome' | 'reason'>,
): void {
  log.add(compiled, { ...runBy(origin), ...run, actionIds: [] });
}

/** Adds a note to the processing log of the device that the run is about, if there is one. */
function addNote(
  state: FailureState,
  compiled: CompiledRule,
  origin: Origin,
  message: string,
): void {
  const [deviceId] = notedDevices(compiled, origin);
  if (deviceId === undefined) return;
  if (!isFirst(state, `${compiled.rule.id} ${deviceId} ${message}`)) return;
  state.collected.notes.push(ruleNote(compiled, origin, deviceId, { level: 'ERROR', message }));
}

interface FailedRun {
  readonly origin: Origin;
  readonly places: readonly number[];
  readonly error: unknown;
}

function addFailedRun(
  state: FailureState,
  compiled: CompiledRule,
  { origin, places, error }: FailedRun,
): void {
  const { log, failed } = state.parts;
  const samples = compiled.sources.map((_, place) => {
    if (places.includes(place)) return origin.sample;
    return undefined;
  });
  const reason = `${failedText} its evaluation`;
  addRun(log, compiled, origin, { samples, places, outcome: 'FAILED', reason });
  addNote(state, compiled, origin, reason);
  const { id } = compiled.rule;
  if (isFirst(state, `log ${id}`))
    failed(new Error(`Rule ${id} failed for ${origin.key}`, { cause: error }));
}

function noteUncertain(
  state: FailureState,
  compiled: CompiledRule,
  deviceId: string,
  gap: SearchGap,
): void {
  const { id, activation } = compiled.rule;
  const key = `${gap.kind} ${deviceId} ${activation}`;
  if (!isFirst(state, `${id} ${key}`)) return;
  const note = { level: 'WARN', message: uncertainTexts[gap.kind], details: rangeOf(gap) } as const;
  // The id of the note is the same each time, so that the processing log keeps one.
  state.collected.notes.push(
    ruleNote(compiled, originOf(state.parts, deviceId, key), deviceId, note),
  );
}

function rangeOf(gap: SearchGap): JsonObject | undefined {
  if (gap.kind !== 'unreadable') return undefined;
  return { from: formatInstant(gap.from), to: formatInstant(gap.to) };
}

function noteFailedSample(
  state: FailureState,
  { deviceId, cursor, correlationId }: StoredSample,
  at: EpochMs,
  error: unknown,
): void {
  if (!isFirst(state, `sample ${deviceId}`)) return;
  state.collected.notes.push({
    id: `rules-failed-${cursor}`,
    deviceId,
    timestamp: at,
    correlationId,
    level: 'ERROR',
    source: 'RULE',
    message: `Rules: ${failedText} the evaluation of a sample`,
  });
  const message = `Rules were not evaluated for sample ${cursor} of device ${deviceId}`;
  state.parts.failed(new Error(message, { cause: error }));
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
