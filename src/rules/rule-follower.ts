// Rule follower: evaluates each durable sample once and writes the effects with its journal position.
import { type EpochMs, hourMs } from '../model/instant.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import { nextDueOf } from '../model/rule.ts';
import { latestDue, nextDue, type RuleSchedule } from '../model/rule-schedule.ts';
import type { StoredSample } from '../model/sample.ts';
import { type RecordsDb, transaction } from '../storage/records/records.ts';
import { rulePositionRows } from '../storage/records/rows/positions.ts';
import {
  type DeviceConditionState,
  type ScriptTimer,
  conditionStateRows,
  ruleTimes,
  scriptTimerRows,
} from '../storage/records/rows/rule-state.ts';
import { ruleRows } from '../storage/records/rows/rules.ts';
import type { CompiledRule } from './evaluation/compiled-rule.ts';
import {
  evaluateDue,
  evaluateSample,
  evaluateTimed,
  evaluateWithoutDevice,
  formulasNeeded,
  formulasNeededWithoutDevice,
  keepSample,
  type SampleVisitor,
  type Visit,
  type VisitFailed,
} from './evaluation/evaluation.ts';
import type { FormulaValues } from './evaluation/operands.ts';

import type { RuleSample } from './evaluation/rule-reading.ts';
import { unjudgedRun } from './evaluation/rule-run.ts';

import { createSerialQueue } from '../structures/work-queues.ts';
import { trackAlarms } from './rule-alarms.ts';
import {
  hopsNote,
  isBeyondHops,
  RuleBatch,
  type RuleBatchParts,
  ruleSampleOf,
} from './rule-batch.ts';
import type { Origin } from './rule-effects.ts';
import {
  LaneWorker,
  neededFrom,
  type RuleLaneParts,
  RuleLanes,
  type RuleTurn,
} from './rule-lanes.ts';
import { type RuleOutlets, writeRuleEffects } from './rule-writes.ts';

// Rule pacing: slices of evaluation and rests after writes, so that devices and requests are answered first.

const pacingLimits = {
  /** Evaluation without a pause: no acknowledgement waits longer. */
  sliceMs: 0.5,
  /** Longer than one turn of the event loop, because an answer to a device takes several. */
  pauseMs: 1,
  /**
   * A pause that took longer, because other work waited, is extended by this many times its delay.
   */
  busyShare: 2,
  busyPauseMsMax: 10,
  /**
   * A write of this many condition states, or effects on alarms, is followed by a rest of
   * `restShare` times its duration.
   */
  restStates: 100,
  restShare: 8,
  restMsMax: 100,
} as const;

export class RulePacing {
  readonly #clock: () => number;
  readonly #pause: (ms: number) => Promise<void>;
  #sliceEndMs = 0;

  constructor({
    clock,
    pause,
  }: {
    /** Milliseconds since any fixed moment. */
    readonly clock: () => number;
    readonly pause: (ms: number) => Promise<void>;
  }) {
    this.#clock = clock;
    this.#pause = pause;
  }

  startSlice(): void {
    this.#sliceEndMs = this.#clock() + pacingLimits.sliceMs;
  }

  /**
   * Call after each sample. Undefined within the slice; else a promise that resolves when the next
   * slice has started.
   */
  yieldWhenDue(): Promise<void> | undefined {
    if (this.#clock() < this.#sliceEndMs) return undefined;
    return this.#yieldToOthers();
  }

  /**
   * Resolves after a rest that depends on the write: one write serves all samples that arrive in
   * the meantime.
   */
  async restAfterWrite(states: number, writeMs: number): Promise<void> {
    const { restStates, restShare, restMsMax } = pacingLimits;
    if (states >= restStates) await this.#pause(Math.min(restMsMax, writeMs * restShare));
  }

  /** Answers come first: under load, evaluation pauses longer. */
  async #yieldToOthers(): Promise<void> {
    const { pauseMs, busyShare, busyPauseMsMax } = pacingLimits;
    const startedMs = this.#clock();
    await this.#pause(pauseMs);
    const delayMs = this.#clock() - startedMs - pauseMs;
    if (delayMs > pauseMs) await this.#pause(Math.min(busyPauseMsMax, delayMs * busyShare));
    this.startSlice();
  }
}

export interface RuleFollowerParts extends RuleBatchParts {
  readonly db: RecordsDb;
  readonly formulas: FormulaValues;
  readonly outlets: RuleOutlets;
  /** Waiting script runs of a rule. `added` is called when runs were added durably. */
  readonly waiting: RuleBatchParts['waiting'] & { added(ruleIds: readonly string[]): void };
  /** Called when logic blocks wait durably for a time. */
  readonly timersSet: () => void;
  /** The position that was saved last. */
  readonly position: number;
  /** For workspaces with so much to evaluate that the others do not wait; without it all wait. */
  readonly lanes?: RuleLaneParts;
  /** With several journals: what this node evaluates of them. */
  readonly shared?: {
    /** Saves how far all journals are evaluated. */
    readonly savePositions: (db: RecordsDb) => Promise<void>;
    /** The workspaces whose rules this node evaluates. */
    readonly workspaces: () => readonly string[];
  };
}

export class RuleFollower implements Pick<LaneWorker, 'caughtUp' | 'close'> {
  readonly #parts: RuleFollowerParts;
  readonly #queue = createSerialQueue();
  readonly #pacing: RulePacing;
  readonly #lanes: RuleLanes;
  readonly #dueTimers: DueTimers;
  readonly #laneWorker: LaneWorker;
  /** When the platform started, by the wall clock as it is now. */
  readonly platformStart: () => EpochMs;

  constructor(parts: RuleFollowerParts) {
    this.platformStart = platformStartOf(parts);
    this.#parts = parts;
    this.#pacing = new RulePacing(this.#parts);
    this.#lanes = new RuleLanes({
      saved: this.#parts.lanes?.saved ?? { evaluated: this.#parts.position, behind: new Map() },
      rules: this.#parts.registry.rules,
      log: this.#parts.lanes?.log,
    });
    this.#dueTimers = new DueTimers(
      this.#parts,
      () => this.#newBatch(),
      (workspaceId) => this.#lanes.evaluatedOf(workspaceId) + 1,
    );
    this.#laneWorker = new LaneWorker(this.#parts, this.#lanes, (lane) =>
      this.evaluate(() => this.#lanes.turnOfLane(lane)),
    );
  }

  /**
   * For the journal follower: resolves when the effects are durable. Entries that are repeated
   * change nothing.
   */
  readonly handle = async (entries: readonly DurableEntry[]): Promise<void> => {
    await this.evaluate(() => this.#lanes.turnOfBatch(entries));
    this.#laneWorker.wake();
  };

  /** Runs what is due. Resolves when its effects are durable. */
  readonly runDue = async (): Promise<void> => {
    const at = this.#parts.now();
    while (await this.alone(() => this.#dueTimers.runRules(at)));
    while (await this.alone(() => this.#dueTimers.runScriptTimers(at)));
    while (await this.alone(() => this.#dueTimers.changeWaitingBlocks(at)));
  };

  /** The position from which on entries are still needed. */
  readonly neededFrom = (): number => neededFrom(this.#lanes);

  /**
   * Resolves when no such workspace is behind the others; rejects when an attempt to evaluate
   * fails or the worker is closed.
   */
  readonly caughtUp = (isWanted: (workspaceId: string) => boolean): Promise<void> =>
    this.#laneWorker.caughtUp(isWanted);

  /** Waits for the turn in progress; the next start evaluates the rest. */
  readonly close = (): Promise<void> => this.#laneWorker.close();

  /**
   * Evaluates entries of any journal. Resolves when the effects are durable. Evaluates in its
   * turn, and rests while others have theirs.
   */
  async evaluate(turnOf: () => RuleTurn | undefined): Promise<void> {
    const rest = await this.alone(async () => {
      const turn = turnOf();
      if (turn === undefined) return undefined;
      const batch = this.#newBatch(turn);
      if (this.#parts.registry.size() > 0) await this.#evaluateTurn(batch, turn.entries);
      const startedMs = this.#parts.clock();
      await writeBatch(this.#parts, batch);
      turn.done();
      const { holds, alarms } = batch.write;
      const states = Math.max(holds.length, alarms.length);
      return { states, writeMs: this.#parts.clock() - startedMs };
    });
    if (rest !== undefined) await this.#pacing.restAfterWrite(rest.states, rest.writeMs);
  }

  /** Runs the work while nothing else is evaluated, and writes what it adds to the batch. */
  inBatch(work: (batch: RuleBatch) => Promise<void>): Promise<void> {
    return this.alone(async () => {
      const batch = this.#newBatch();
      await work(batch);
      await batch.addEffects();
      await writeBatch(this.#parts, batch);
    });
  }

  /** The clock was set back by so much: timers are planned anew. */
  setBack(byMs: number): Promise<void> {
    return this.alone(() => this.#dueTimers.setBack(this.#parts.now(), byMs));
  }

  /** Runs the work while nothing else is evaluated, with the current rules. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run(async () => {
      // Samples without effect left no record: after a crash, a new rule must not evaluate them.
      const hasChanged = await this.#parts.registry.refresh();
      const positions = this.#lanes.positions();
      if (hasChanged) await this.#parts.shared?.savePositions(this.#parts.db);
      if (hasChanged && positions.evaluated >= 0)
        await rulePositionRows.save(this.#parts.db, positions);
      return work();
    });
  }

  /** Evaluates what workspaces had left at the stop. */
  start(): void {
    this.#laneWorker.wake();
  }

  #newBatch(turn?: RuleTurn): RuleBatch {
    return new RuleBatch(this.#parts, this.platformStart, turn);
  }

  /** A turn that fails is evaluated again: then nothing of this attempt may count. */
  async #evaluateTurn(batch: RuleBatch, entries: readonly DurableEntry[]): Promise<void> {
    try {
      await this.#evaluateEntries(batch, entries);
    } catch (error) {
      this.#parts.registry.reset();
      throw error;
    }
  }

  async #evaluateEntries(batch: RuleBatch, entries: readonly DurableEntry[]): Promise<void> {
    await this.#parts.registry.prepare(entries, batch.failures);
    this.#pacing.startSlice();
    for (const [place, entry] of entries.entries()) {
      // Its samples come in the place of others, and are not judged.
      if (entry.replaces !== undefined) {
        this.#parts.formulas.forget(entry.deviceId);
        await this.#parts.registry.samplesRemoved(entry.deviceId);
        await this.#parts.registry.prepare(entries.slice(place + 1), batch.failures);
        continue;
      }
      if (isBeyondHops(entry)) batch.write.notes.push(hopsNote(entry, this.#parts.now()));
      // Samples that no rule asks for are not made.
      if (entry.summary !== undefined && this.#parts.registry.planOf(entry.deviceId) === undefined)
        continue;
      const isSkipped = entry.trace?.rulesSkipped === true || isBeyondHops(entry);
      const samples = inOrderOfTime(entry.samples);
      if (samples.length === 0) continue;
      const plan = this.#parts.registry.planOf(entry.deviceId);
      const needsFormulas = plan?.needsFormulas === true;
      if (needsFormulas) this.#parts.formulas.stored(entry.deviceId, samples[0]?.timestamp ?? 0);
      for (const [i, stored] of samples.entries()) {
        const sample = ruleSampleOf(stored);
        if (needsFormulas && !isSkipped) {
          const needed = formulasNeeded(plan, sample, this.#parts.registry.memory);
          if (needed.length > 0)
            await this.#parts.formulas.compute(needed, readAheadOf(samples, i));
        }
        if (isSkipped) this.#keepSample(batch, stored, sample);
        else this.#evaluateSample(batch, entry, stored, sample);
        const pause = this.#pacing.yieldWhenDue();
        if (pause !== undefined) await pause;
      }
    }
    await batch.addEffects();
  }

  #evaluateSample(
    { failures, addTriggered, keyOf }: RuleBatch,
    entry: DurableEntry,
    stored: StoredSample,
    sample: RuleSample,
  ): void {
    const { registry, log, now } = this.#parts;
    const plan = registry.planOf(stored.deviceId);
    if (plan === undefined) return;
    const origin: Origin = {
      cause: 'UPLINK',
      key: keyOf(stored),
      deviceId: stored.deviceId,
      correlationId: stored.correlationId,
      hops: entry.trace?.ruleHops ?? 0,
      at: now(),
      sample,
      entry,
    };
    const visit: Visit = (compiled, reading, places, verdict) => {
      const { samples } = reading;
      if (verdict === undefined)
        return addTriggered({ compiled, reading, places, verdict }, origin);
      log.addEvaluated({ compiled, origin, samples, places, verdict });
      const ended = trackAlarms(compiled, verdict, stored.deviceId, registry.alarmSources);
      if (verdict.firings.length === 0 && ended.length === 0) return;
      addTriggered({ compiled, reading, places, verdict, ended }, origin);
    };
    const unjudged: SampleVisitor['unjudged'] = (compiled, places, why, fired) => {
      const firings = fired?.verdict?.firings;
      log.add(compiled, unjudgedRun(compiled, origin, sample, places, why, firings));
      if (fired !== undefined) addTriggered(fired, origin);
    };
    const failed: VisitFailed = (compiled, places, error) =>
      failures.failed(compiled, origin, places, error);
    try {
      const visitor = { visit, unjudged, failed };
      evaluateSample(plan, sample, registry.memory, visitor, entry.receivedAt);
    } catch (error) {
      failures.sampleFailed(stored, origin.at, error);
    }
  }

  /**
   * A sample that triggers no rule is a last sample all the same, so that a rule does not depend on
   * how the last one is found.
   */
  #keepSample({ failures }: RuleBatch, stored: StoredSample, sample: RuleSample): void {
    const { registry, now } = this.#parts;
    const plan = registry.planOf(stored.deviceId);
    try {
      if (plan !== undefined) keepSample(plan, sample, registry.memory);
    } catch (error) {
      failures.sampleFailed(stored, now(), error);
    }
  }
}

/** A wall clock that was set back must not have the platform start in the future. */
function platformStartOf({ now, clock }: RuleFollowerParts): () => EpochMs {
  const [startedAt, startedMs] = [now(), clock()];
  return () => Math.min(startedAt, Math.round(now() - (clock() - startedMs)));
}

/** How much later samples may be whose values are read at once. */
const readAheadMs = hourMs;

/** Up to which time values are read for the sample and those that follow. */
function readAheadOf(samples: readonly StoredSample[], index: number): EpochMs {
  const { timestamp } = samples[index] ?? { timestamp: 0 };
  const next = samples[Math.min(index + 1, samples.length - 1)]?.timestamp ?? timestamp;
  const last = samples.at(-1)?.timestamp ?? timestamp;
  // Between samples that are far apart there may be many of others.
  return next - timestamp > readAheadMs ? timestamp : Math.min(last, timestamp + readAheadMs);
}

/** Of one time, in the order of emission. */
function inOrderOfTime(samples: readonly StoredSample[]): readonly StoredSample[] {
  const isOrdered = samples.every(
    ({ timestamp }, i) => i === 0 || (samples[i - 1]?.timestamp ?? timestamp) <= timestamp,
  );
  return isOrdered ? samples : samples.toSorted((a, b) => a.timestamp - b.timestamp);
}

async function writeBatch(
  { db, registry, outlets, waiting, timersSet }: RuleFollowerParts,
  { write }: RuleBatch,
): Promise<void> {
  const { states, last } = registry.memory;
  for (const state of states.takeChanged()) {
    const activation = registry.rule(state.ruleId)?.rule.activation;
    if (activation !== undefined) write.holds.push({ ...state, activation });
  }
  write.judged.push(...registry.takeJudged());
  write.lastSamples.push(...last.takeChanged());
  try {
    await writeRuleEffects(db, write, outlets);
  } catch (error) {
    // Memory is ahead of the records. It is read again before the next evaluation.
    registry.reset();
    throw error;
  }
  if (write.triggers.length > 0) waiting.added(write.triggers.map(({ ruleId }) => ruleId));
  if (write.holds.some(({ waits }) => waits !== null)) timersSet();
}

// Due timers of rules: scheduled rules, timers that scripts have set, and logic blocks that wait.

/** Timers per transaction. */
const dueMax = 100;
/** Delay until a timer is tried again whose next due time cannot be computed. */
const brokenTimerMs = hourMs;
/** Delay until waiting logic blocks of a workspace with samples to evaluate are looked at again. */
const behindRetryMs = 500;

/** Both resolve when the effects are durable: to true when more may be due. */
class DueTimers {
  readonly #parts: RuleFollowerParts;
  readonly #newBatch: () => RuleBatch;
  readonly #nextPosition: (workspaceId: string) => number;
  /** By workspace, the position up to which entries have to be evaluated first. */
  readonly #awaited = new Map<string, number>();

  /** `nextPosition` is that of the next journal entry of the workspace to evaluate. */
  constructor(
    parts: RuleFollowerParts,
    newBatch: () => RuleBatch,
    nextPosition: (workspaceId: string) => number,
  ) {
    this.#parts = parts;
    this.#newBatch = newBatch;
    this.#nextPosition = nextPosition;
  }

  /** The workspaces whose timers run here; undefined for all. */
  #workspaces(): readonly string[] | undefined {
    return this.#parts.shared?.workspaces();
  }

  async runRules(at: EpochMs): Promise<boolean> {
    const batch = this.#newBatch();
    for (const { id, due } of await ruleTimes.due(this.#parts.db, at, dueMax, this.#workspaces())) {
      const compiled = this.#parts.registry.rule(id);
      // A rule that is not active, or has no schedule, does not become due again.
      if (compiled?.schedule === undefined)
        await ruleRows.saveNextExecution(this.#parts.db, id, null);
      else await this.#runScheduled({ compiled, schedule: compiled.schedule, due }, at, batch);
    }
    await batch.addEffects();
    await writeBatch(this.#parts, batch);
    return batch.write.due.length === dueMax;
  }

  /** The clock was set back: what is planned too late for it is planned anew. */
  async setBack(at: EpochMs, byMs: number): Promise<void> {
    const workspaces = this.#workspaces();
    await transaction(this.#parts.db, async (step) => {
      for (const { id, due } of await ruleTimes.planned(step.db, at, workspaces)) {
        const schedule = this.#parts.registry.rule(id)?.schedule;
        const next = schedule && nextDue(schedule, at, at);
        if (next !== undefined && next < due) await ruleRows.saveNextExecution(step.db, id, next);
      }
      await scriptTimerRows.move(step.db, { now: at, byMs }, workspaces);
      await conditionStateRows.moveWaits(step.db, { now: at, byMs }, workspaces);
    });
    this.#parts.registry.reset();
  }

  /** Changes the logic blocks that have waited long enough, each with the last samples. */
  async changeWaitingBlocks(at: EpochMs): Promise<boolean> {
    const { registry } = this.#parts;
    const workspaces = this.#workspaces();
    const due = await conditionStateRows.findDue(this.#parts.db, at, dueMax, workspaces);
    const batch = this.#newBatch();
    for (const state of due) {
      const compiled = registry.rule(state.ruleId);
      const isOver = compiled?.rule.activation !== state.activation;
      if (!isOver && this.#isBehind(compiled.rule.workspaceId)) {
        batch.write.postponed.push({ ...state, dueAt: at + behindRetryMs });
        continue;
      }
      if (isOver || !(await this.#changeWaiting(compiled, state, at, batch)))
        batch.write.ended.push(state);
    }
    await batch.addEffects();
    await writeBatch(this.#parts, batch);
    return due.length === dueMax;
  }

  /**
   * Whether samples that were stored when it was asked first are not evaluated yet: one of them may
   * end what is waited for.
   */
  #isBehind(workspaceId: string): boolean {
    const stored = this.#parts.lanes?.log.position ?? 0;
    const target = this.#awaited.get(workspaceId) ?? stored;
    const isBehind = this.#nextPosition(workspaceId) < target;
    if (isBehind) this.#awaited.set(workspaceId, target);
    else this.#awaited.delete(workspaceId);
    return isBehind;
  }

  /** False when the rule does not wait for the device. */
  async #changeWaiting(
    compiled: CompiledRule,
    { deviceId, waits }: DeviceConditionState,
    at: EpochMs,
    batch: RuleBatch,
  ): Promise<boolean> {
    const { registry, newId } = this.#parts;
    const { id, workspaceId } = compiled.rule;
    const devices = new Map([[deviceId, workspaceId]]);
    await registry.prepareDevices(devices, this.#nextPosition(workspaceId), batch.failures);
    const planned = registry.planOf(deviceId)?.rules.find((one) => one.compiled.rule.id === id);
    const triggered = planned && evaluateDue(planned, deviceId, registry.memory);
    if (triggered === undefined) return false;
    const sample = triggered.reading.samples.find((read) => read?.deviceId === deviceId);
    const correlationId = sample?.correlationId ?? newId();
    const key = `wait ${deviceId} ${waits && nextDueOf(waits)}`;
    const origin = { cause: 'TIMER', key, deviceId, correlationId, hops: 0, at } as const;
    batch.addJudged(triggered, { ...origin, ...(sample !== undefined && { sample }) });
    return true;
  }

  async runScriptTimers(at: EpochMs): Promise<boolean> {
    const batch = this.#newBatch();
    const timers = await scriptTimerRows.findDue(this.#parts.db, at, dueMax, this.#workspaces());
    for (const timer of timers) await this.#runScriptTimer(timer, at, batch);
    await writeBatch(this.#parts, batch);
    return timers.length === dueMax;
  }

  async #runScheduled(
    rule: {
      readonly compiled: CompiledRule;
      readonly schedule: RuleSchedule;
      /** Since when it is due. */
      readonly due: EpochMs;
    },
    at: EpochMs,
    batch: RuleBatch,
  ): Promise<void> {
    const { compiled, schedule, due } = rule;
    const next = this.#nextPosition(compiled.rule.workspaceId);
    await this.#parts.registry.prepareRule(compiled, next, batch.failures);
    let nextExecution: EpochMs | null = at + brokenTimerMs;
    let origin = this.#originOf('TIMER', `timer ${due}`, at);
    try {
      // Missed earlier times are merged into one run, for the latest due time.
      const latest = latestDue(schedule, due, at);
      nextExecution = nextDue(schedule, latest, at) ?? null;
      origin = { ...origin, key: `timer ${latest}` };
      if (compiled.formulas.length > 0)
        await this.#parts.formulas.compute(
          formulasNeededWithoutDevice(compiled, this.#parts.registry.memory),
          at,
        );
      this.#addTimed(compiled, origin, batch);
    } catch (error) {
      batch.failures.failed(compiled, origin, [], error);
    }
    const { id: ruleId, activation } = compiled.rule;
    batch.write.due.push({ ruleId, activation, nextExecution });
  }

  #addTimed(compiled: CompiledRule, origin: Origin, batch: RuleBatch): void {
    const triggered = evaluateTimed(compiled, this.#parts.registry.memory);
    if (triggered === undefined) return batch.failures.aborted(compiled, origin);
    batch.addJudged(triggered, origin);
  }

  async #runScriptTimer(timer: ScriptTimer, at: EpochMs, batch: RuleBatch): Promise<void> {
    batch.write.firedTimers.push(timer.id);
    const compiled = this.#parts.registry.rule(timer.ruleId);
    if (compiled === undefined || compiled.rule.activation !== timer.activation) return;
    const next = this.#nextPosition(compiled.rule.workspaceId);
    await this.#parts.registry.prepareRule(compiled, next, batch.failures);
    await batch.addTimerRun({
      compiled,
      origin: this.#originOf('SCRIPT_TIMER', `timer ${timer.id}`, at),
      timerMeta: timer.meta,
      evaluate: () => evaluateWithoutDevice(compiled, this.#parts.registry.memory),
    });
  }

  #originOf(cause: Origin['cause'], key: string, at: EpochMs): Origin {
    return { cause, key, deviceId: '', correlationId: this.#parts.newId(), hops: 0, at };
  }
}
