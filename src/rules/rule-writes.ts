// Rule writes: state, deliveries, queued script runs, timers, notes and the position, in one transaction.
import type { ApplyAlarms } from './alarms/alarm-effects.ts';
import type { AlarmEffect } from '../model/alarm.ts';
import type { DeliveryDraft } from '../model/delivery.ts';
import type { EpochMs } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import type { ProcessingLogEntry } from '../model/entry-trace.ts';
import type { CommitPlace } from '../storage/records/commit-order.ts';
import { type RecordsDb, transaction, type TransactionStep } from '../storage/records/records.ts';
import { type PeriodCount, periodCountRows } from '../storage/records/rows/period-counts.ts';
import { processingLogRows } from '../storage/records/rows/payload-notes.ts';
import {
  type ActivationRef,
  activationsOf,
  type DeviceConditionState,
  type JudgedDevice,
  type ScriptTimer,
  conditionStateRows,
  scriptTimerRows,
  triggerRows,
  judgedTimeRows,
  lastSampleRows,
  scriptStateRows,
} from '../storage/records/rows/rule-state.ts';
import { ruleRows } from '../storage/records/rows/rules.ts';
import { PeriodCounter } from '../uplinks/followers/period-counter.ts';
import type { RuleSample } from './evaluation/rule-reading.ts';
import type { RuleDelivery } from './rule-effects.ts';

export interface RuleWrite {
  readonly deliveries: readonly (RuleDelivery & ActivationRef)[];
  /** In the order of their runs. */
  readonly alarms: readonly (ActivationRef & { readonly effect: AlarmEffect })[];
  /** Runs that fired, some of them merged; `times` is their number. */
  readonly fired: readonly (ActivationRef & { readonly at: EpochMs; readonly times: number })[];
  readonly notes: readonly ProcessingLogEntry[];
  readonly holds: readonly DeviceConditionState[];
  /** States whose logic blocks wait for a rule or device that is gone. */
  readonly ended: readonly {
    readonly ruleId: string;
    readonly deviceId: string;
    readonly activation: number;
  }[];
  /** States that are looked at again at `dueAt`. */
  readonly postponed: readonly (DeviceConditionState & { readonly dueAt: EpochMs })[];
  readonly judged: readonly JudgedDevice[];
  readonly lastSamples: readonly { readonly watchId: string; readonly sample: RuleSample }[];
  readonly triggers: readonly (ActivationRef & { readonly trigger: JsonObject })[];
  readonly timers: readonly ScriptTimer[];
  readonly states: readonly (ActivationRef & { readonly state: JsonObject })[];
  readonly firedTimers: readonly string[];
  /** The next due time of rules whose timer was due. */
  readonly due: readonly (ActivationRef & { readonly nextExecution: EpochMs | null })[];
  /** Completed script runs, up to a place in the queue of each rule. */
  readonly done: readonly { readonly ruleId: string; readonly upTo: CommitPlace }[];
  /** Position of the last entry that was evaluated for this write. */
  readonly upTo?: number;
  /** Saves how far the journal is evaluated with this write. */
  readonly savePositions?: (step: RecordsDb) => Promise<void>;
}

const nothingToWrite: RuleWrite = {
  deliveries: [],
  alarms: [],
  fired: [],
  notes: [],
  holds: [],
  ended: [],
  postponed: [],
  judged: [],
  lastSamples: [],
  triggers: [],
  timers: [],
  states: [],
  firedTimers: [],
  due: [],
  done: [],
};

/** Effects of a write in progress. */
export type CollectedWrite = {
  -readonly [K in keyof RuleWrite]: RuleWrite[K] extends readonly (infer T)[] ? T[] : RuleWrite[K];
};

export function emptyWrite(): CollectedWrite {
  return Object.fromEntries(
    Object.keys(nothingToWrite).map((part) => [part, []]),
  ) as unknown as CollectedWrite;
}

export type EnqueueDeliveries = (
  deliveries: readonly DeliveryDraft[],
  step: TransactionStep,
) => Promise<unknown>;

/** Where effects go within the transaction of the rule. */
export interface RuleOutlets {
  readonly enqueueDeliveries: EnqueueDeliveries;
  readonly applyAlarms: ApplyAlarms;
}

const lightParts: ReadonlySet<keyof RuleWrite> = new Set(['judged', 'lastSamples']);

/** Writes the effects. Skips effects of rules that were deactivated or deleted in the meantime. */
export async function writeRuleEffects(
  db: RecordsDb,
  write: RuleWrite,
  outlets: RuleOutlets,
): Promise<void> {
  const isLight = (Object.keys(nothingToWrite) as (keyof typeof nothingToWrite)[]).every(
    (part) => lightParts.has(part) || (write[part] as readonly unknown[]).length === 0,
  );
  if (isLight && write.lastSamples.length === 0 && write.judged.length === 0) return;
  // What the journal or the store repeats after a crash does not wait for the disk.
  const durability = isLight ? 'lazy' : 'synced';
  await transaction(db, (step) => writeAll(step, write, outlets), durability);
}

async function writeAll(
  step: TransactionStep,
  write: RuleWrite,
  { enqueueDeliveries, applyAlarms }: RuleOutlets,
): Promise<void> {
  const { db } = step;
  const { deliveries, alarms, fired, triggers, timers, states, holds, due } = write;
  const acts = [...deliveries, ...alarms, ...fired];
  const effects = [...acts, ...triggers, ...timers, ...states, ...holds, ...due];
  const ruleIds = [...new Set(effects.map(({ ruleId }) => ruleId))];
  const activations = await activationsOf(db, ruleIds);
  const counts = ({ ruleId, activation }: ActivationRef): boolean =>
    activations.get(ruleId) === activation;
  await conditionStateRows.save(db, holds.filter(counts));
  for (const state of write.ended) await conditionStateRows.endWaits(db, state);
  for (const state of write.postponed)
    await conditionStateRows.postponeWaits(db, state, state.dueAt);
  await judgedTimeRows.save(db, write.judged);
  await lastSampleRows.save(
    db,
    write.lastSamples.map(({ watchId, sample }) => {
      const [topic = '', ...keys] = watchId.split('\n');
      return {
        deviceId: sample.deviceId,
        topic,
        dataKey: keys.join('\n'),
        sample: { ...sample } as unknown as JsonObject,
      };
    }),
  );
  for (const { ruleId, upTo } of write.done) await triggerRows.removeUpTo(db, ruleId, upTo);
  await triggerRows.insert(
    db,
    triggers
      .filter(counts)
      .map(({ ruleId, activation, trigger }) => ({ ruleId, activation, trigger })),
  );
  await scriptTimerRows.remove(db, write.firedTimers);
  await scriptTimerRows.insert(db, timers.filter(counts));
  for (const saved of states.filter(counts)) await scriptStateRows.save(db, saved, saved.state);
  for (const { ruleId, nextExecution } of due.filter(counts))
    await ruleRows.saveNextExecution(db, ruleId, nextExecution);
  const wanted = deliveries.filter(counts).map(({ activation: _, ...delivery }) => delivery);
  if (wanted.length > 0) await enqueueDeliveries(wanted, step);
  const alarmNotes = await applyAlarms(
    step,
    alarms.filter(counts).map(({ effect }) => effect),
  );
  await periodCountRows.add(db, firedCounts(fired.filter(counts)));
  await processingLogRows.append(db, [...write.notes, ...alarmNotes]);
  await write.savePositions?.(db);
}

function firedCounts(fired: RuleWrite['fired']): readonly PeriodCount[] {
  const counter = new PeriodCounter();
  for (const { ruleId, at, times } of fired) counter.add(ruleId, 'fired', at, times);
  return counter.take();
}
