// Rules behind the journal: each sample meets its rules once; what they cause is written together with how far they came.
import { type EpochMs, hourMs } from '../model/instant.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import { latestDue, nextDue } from '../model/rule-schedule.ts';
import type { StoredSample } from '../model/sample.ts';
import type { CompiledRule } from '../rules/compiled-rule.ts';
import {
  judgeSample,
  judgeTimed,
  rememberSample,
  type Triggered,
  type Visit,
  type VisitFailed,
} from '../rules/evaluation.ts';
import type { RuleBook } from '../rules/rule-registry.ts';
import type { RunLog } from '../rules/run-log.ts';
import type { RecordsDb } from '../records/records.ts';
import { rulesFollower } from '../records/rows/recorded-positions.ts';
import { findDueRules, findDueScriptTimers, type ScriptTimer } from '../records/rows/rule-state.ts';
import { saveFollowerPosition } from '../records/rows/follower-positions.ts';
import { saveNextExecution } from '../records/rows/rules.ts';
import { type LookUpDevice, type Origin, ruleContext } from './rule-effects.ts';
import { isolated, type Misses, missesOf } from './rule-misses.ts';
import { firedEffects, hopsNote, isBeyondHops, seenSampleOf, waitingRun } from './rule-triggers.ts';
import {
  type CollectedWrite,
  emptyWrite,
  type EnqueueDeliveries,
  writeRuleEffects,
} from './rule-writes.ts';

const ruleFlowLimits = {
  /** Script runs of one rule that wait; what comes on top is told and left out. */
  waitingMax: 1_000,
  /** Judging at a stretch, and then devices have their turn, so that no acknowledgement waits for long. */
  sliceMs: 0.5,
  /** Longer than one turn of the event loop: an answer to a device takes several. */
  pauseMs: 1,
  /** When that took longer, because there was much to answer: so many times as long again. */
  busyShare: 2,
  busyPauseMsMax: 10,
  /** A write of so many changes is followed by a rest of so many times its length. */
  restRows: 100,
  restShare: 8,
  restMsMax: 100,
  /** Timers looked at in one go. */
  dueMax: 100,
  /** When a timer is tried again whose next due time cannot be told. */
  brokenTimerMs: hourMs,
} as const;

export interface RuleFollowerParts {
  readonly db: RecordsDb;
  readonly book: RuleBook;
  readonly log: RunLog;
  readonly lookUp: LookUpDevice;
  readonly enqueueDeliveries: EnqueueDeliveries;
  /** Script runs of the rule that wait; told when more do. */
  readonly waiting: { count(ruleId: string): number; added(ruleIds: readonly string[]): void };
  readonly now: () => EpochMs;
  readonly newId: () => string;
  /** Milliseconds from anywhere, for slices of work. */
  readonly clock: () => number;
  readonly pause: (ms: number) => Promise<void>;
  /** The position that was saved last. */
  readonly position: number;
  /** Told of a rule that failed, once a batch; it is noted, and the others go on. */
  readonly failed: (error: Error) => void;
}

export interface RuleFollower {
  /** For the journal follower: resolves when the effects are durable. Entries that come again change nothing. */
  handle(entries: readonly DurableEntry[]): Promise<void>;
  /** Runs what is due; resolves when its effects are durable. */
  runDue(): Promise<void>;
  /** Runs something while neither of them is under way, with the rules as they are now. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

type Triggers = { readonly triggered: Triggered; readonly origin: Origin }[];

export function createRuleFollower(parts: RuleFollowerParts): RuleFollower {
  const { db, book, log, now } = parts;
  let done = parts.position;
  let turn: Promise<unknown> = Promise.resolve();

  function alone<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(async () => {
      // What was evaluated without effect left no mark: a rule that is new must not see it after a crash.
      if ((await book.refresh()) && done >= 0) await saveFollowerPosition(db, rulesFollower, done);
      return work();
    });
    turn = result.catch(() => undefined);
    return result;
  }

  async function write(collected: CollectedWrite): Promise<void> {
    collected.holds.push(
      ...book.memory.holds.takeChanged().flatMap((held) => {
        const activation = book.rule(held.ruleId)?.rule.activation;
        return activation === undefined ? [] : [{ ...held, activation }];
      }),
    );
    collected.lastSamples.push(...book.memory.last.takeChanged());
    try {
      await writeRuleEffects(db, collected, parts.enqueueDeliveries);
    } catch (error) {
      // Memory is ahead of what is durable: it is read again before anything else is judged.
      book.reset();
      throw error;
    }
    if (collected.triggers.length > 0)
      parts.waiting.added(collected.triggers.map(({ ruleId }) => ruleId));
  }

  async function judgeEntries(entries: readonly DurableEntry[]): Promise<void> {
    const fresh = entries.filter(({ position }) => position > done);
    const last = fresh.at(-1);
    if (last === undefined) return;
    const collected = { ...emptyWrite(), position: last.position };
    const misses = missesOf(collected, parts);
    if (book.size() > 0) {
      await book.prepare(fresh, misses);
      const triggers: Triggers = [];
      let sliceEndMs = parts.clock() + ruleFlowLimits.sliceMs;
      for (const entry of fresh) {
        if (isBeyondHops(entry)) collected.notes.push(hopsNote(entry, now()));
        const isPassedOver = entry.trace?.rulesSkipped === true || isBeyondHops(entry);
        for (const sample of entry.samples) {
          if (isPassedOver) rememberOne(sample, misses);
          else judgeOne(entry, sample, triggers, misses);
          if (parts.clock() < sliceEndMs) continue;
          await leaveTurn();
          sliceEndMs = parts.clock() + ruleFlowLimits.sliceMs;
        }
      }
      await cause(triggers, collected, misses);
    }
    const startedMs = parts.clock();
    await write(collected);
    done = last.position;
    if (collected.holds.length < ruleFlowLimits.restRows) return;
    // What is held is written once for all samples that come in meanwhile: writing keeps answers waiting.
    await parts.pause(
      Math.min(ruleFlowLimits.restMsMax, (parts.clock() - startedMs) * ruleFlowLimits.restShare),
    );
  }

  /** Answers come first: a loop that others kept busy gets a longer turn of its own. */
  async function leaveTurn(): Promise<void> {
    const { pauseMs, busyShare, busyPauseMsMax } = ruleFlowLimits;
    const leftMs = parts.clock();
    await parts.pause(pauseMs);
    const busyMs = parts.clock() - leftMs - pauseMs;
    if (busyMs > pauseMs) await parts.pause(Math.min(busyPauseMsMax, busyMs * busyShare));
  }

  function judgeOne(
    entry: DurableEntry,
    sample: StoredSample,
    triggers: Triggers,
    misses: Misses,
  ): void {
    const plan = book.planOf(sample.deviceId);
    if (plan === undefined) return;
    const seen = seenSampleOf(sample);
    const origin: Origin = {
      cause: 'UPLINK',
      key: sample.cursor,
      deviceId: sample.deviceId,
      correlationId: sample.correlationId,
      hops: entry.trace?.ruleHops ?? 0,
      at: now(),
      sample: seen,
      entry,
    };
    const judged: Visit = (compiled, reading, places, verdict) => {
      if (verdict !== undefined) log.judged(compiled, origin, reading.samples, places, verdict);
      if (verdict?.firings.length === 0) return;
      triggers.push({ triggered: { compiled, reading, places, verdict }, origin });
    };
    const failed: VisitFailed = (compiled, places, error) =>
      misses.failed(compiled, origin, places, error);
    try {
      judgeSample(plan, seen, book.memory, judged, failed);
    } catch (error) {
      misses.sampleFailed(sample, origin.at, error);
    }
  }

  /** A sample that triggers nothing is still the last one: what a rule answers must not depend on how it is looked up. */
  function rememberOne(sample: StoredSample, misses: Misses): void {
    const plan = book.planOf(sample.deviceId);
    try {
      if (plan !== undefined) rememberSample(plan, seenSampleOf(sample), book.memory);
    } catch (error) {
      misses.sampleFailed(sample, now(), error);
    }
  }

  /** Makes deliveries of firings and waiting runs of scripts. */
  async function cause(
    triggers: Triggers,
    collected: CollectedWrite,
    misses: Misses,
  ): Promise<void> {
    const added = new Map<string, number>();
    for (const { triggered, origin } of triggers) {
      const { compiled, places, verdict } = triggered;
      const { id: ruleId, activation } = compiled.rule;
      if (verdict === undefined) {
        const waiting = parts.waiting.count(ruleId) + (added.get(ruleId) ?? 0);
        if (waiting >= ruleFlowLimits.waitingMax) {
          misses.dropped(triggered, origin, ruleFlowLimits.waitingMax);
          continue;
        }
      }
      const failed = (error: unknown): void => misses.failed(compiled, origin, places, error);
      await isolated(parts.lookUp, failed, async (lookUp) => {
        if (verdict !== undefined) {
          const fired = firedEffects(
            triggered,
            origin,
            await ruleContext(triggered, origin, lookUp),
          );
          collected.deliveries.push(...fired.deliveries);
          collected.notes.push(...fired.notes);
          return;
        }
        const trigger = await waitingRun(triggered, origin, lookUp);
        added.set(ruleId, (added.get(ruleId) ?? 0) + 1);
        collected.triggers.push({ ruleId, activation, trigger });
      });
    }
  }

  async function runDueRules(at: EpochMs): Promise<boolean> {
    const rules = await findDueRules(db, at, ruleFlowLimits.dueMax);
    const collected = emptyWrite();
    const misses = missesOf(collected, parts);
    const triggers: Triggers = [];
    for (const { id, due } of rules) {
      const compiled = book.rule(id);
      const { schedule } = compiled ?? {};
      if (compiled === undefined || schedule === undefined) {
        // Nothing will ever run it, so it is due no more.
        await saveNextExecution(db, id, null);
        continue;
      }
      await book.prepareRule(compiled, done + 1, misses);
      let nextExecution: EpochMs | null = at + ruleFlowLimits.brokenTimerMs;
      let origin = timedOrigin('TIMER', `timer ${due}`, at);
      try {
        // Those missed while the platform was stopped or the clock jumped are one run, for the latest due time.
        const latest = latestDue(schedule, due, at);
        nextExecution = nextDue(schedule, latest, at) ?? null;
        origin = { ...origin, key: `timer ${latest}` };
        const triggered = judgeTimed(compiled, book.memory);
        if (triggered === undefined) misses.aborted(compiled, origin);
        else if (triggered.verdict === undefined) triggers.push({ triggered, origin });
        else {
          log.judged(
            compiled,
            origin,
            triggered.reading.samples,
            triggered.places,
            triggered.verdict,
          );
          if (triggered.verdict.firings.length > 0) triggers.push({ triggered, origin });
        }
      } catch (error) {
        misses.failed(compiled, origin, [], error);
      }
      collected.due.push({ ruleId: id, activation: compiled.rule.activation, nextExecution });
    }
    await cause(triggers, collected, misses);
    await write(collected);
    return collected.due.length === ruleFlowLimits.dueMax;
  }

  async function runDueScriptTimers(at: EpochMs): Promise<boolean> {
    const timers = await findDueScriptTimers(db, at, ruleFlowLimits.dueMax);
    const collected = emptyWrite();
    const misses = missesOf(collected, parts);
    for (const timer of timers) {
      collected.firedTimers.push(timer.id);
      const compiled = book.rule(timer.ruleId);
      if (compiled === undefined || compiled.rule.activation !== timer.activation) continue;
      await scriptTimerRun(compiled, timer, at, collected, misses);
    }
    await write(collected);
    return timers.length === ruleFlowLimits.dueMax;
  }

  async function scriptTimerRun(
    compiled: CompiledRule,
    { id, ruleId, activation, meta }: ScriptTimer,
    at: EpochMs,
    collected: CollectedWrite,
    misses: Misses,
  ): Promise<void> {
    await book.prepareRule(compiled, done + 1, misses);
    const origin = timedOrigin('SCRIPT_TIMER', `timer ${id}`, at);
    const failed = (error: unknown): void => misses.failed(compiled, origin, [], error);
    await isolated(parts.lookUp, failed, async (lookUp) => {
      const triggered = judgeTimed({ ...compiled, byTag: false }, book.memory)!;
      const trigger = await waitingRun({ ...triggered, compiled }, origin, lookUp, meta);
      collected.triggers.push({ ruleId, activation, trigger });
    });
  }

  function timedOrigin(cause: Origin['cause'], key: string, at: EpochMs): Origin {
    return { cause, key, deviceId: '', correlationId: parts.newId(), hops: 0, at };
  }

  return {
    handle: (entries) => alone(() => judgeEntries(entries)),
    async runDue() {
      const at = now();
      while (await alone(() => runDueRules(at)));
      while (await alone(() => runDueScriptTimers(at)));
    },
    alone,
  };
}
