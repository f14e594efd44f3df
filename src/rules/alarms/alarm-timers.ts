// Alarm clock: clears alarms without a further trigger, escalates them, reminds of them, and removes old ones (contract 37, 38).
import {
  type Alarm,
  type AlarmEvent,
  alarmLimits,
  type AlarmMute,
  clearedAlarm,
  escalatedAlarm,
  remindedAlarm,
} from '../../model/alarm.ts';
import type { EpochMs } from '../../model/instant.ts';
import {
  type RecordsDb,
  transaction,
  type TransactionStep,
} from '../../storage/records/records.ts';
import { alarmRows } from '../../storage/records/rows/alarms.ts';
import {
  type AlarmEffectParts,
  isMutedAs,
  mutesAt,
  notifyOfAlarms,
  remuted,
  zoneOf,
} from './alarm-notifications.ts';
import { type Mute, muteLimits, nextMuteStart } from '../../model/mute.ts';
import { muteRows } from '../../storage/records/rows/mutes.ts';

const alarmsPerStep = 200;

/** Clears, escalates and reminds of what is due, some alarms per transaction. */
export async function runDueAlarms(db: RecordsDb, parts: AlarmEffectParts): Promise<void> {
  const { now, pause } = parts;
  const at = now();
  for (;;) {
    const changed = await transaction(db, (step) => runSome(parts, step, at));
    if (changed < alarmsPerStep) return;
    await pause();
  }
}

/** Resolves to the number of alarms that were changed. */
async function runSome(
  parts: AlarmEffectParts,
  step: TransactionStep,
  at: EpochMs,
): Promise<number> {
  const due = await alarmRows.findDue(step.db, at, alarmsPerStep);
  const muteOf = await mutesAt(step.db, due, at);
  const changed = due.map((alarm) => afterDue(alarm, muteOf(alarm), at));
  await alarmRows.save(
    step.db,
    changed.map(({ alarm }) => alarm),
  );
  const events = changed.flatMap(({ event }) => event ?? []);
  const shown = await notifyOfAlarms(parts, step, events);
  step.afterCommit(() => parts.changed(events, shown, 0));
  return changed.length;
}

/**
 * An alarm that is due for several is cleared, else its mute ends, else it escalates; it is still
 * due for the rest then. A muted one neither escalates nor reminds.
 */
function afterDue(
  alarm: Alarm,
  muted: AlarmMute | null,
  at: EpochMs,
): { readonly alarm: Alarm; readonly event: AlarmEvent | undefined } {
  const isOver = alarm.clearAt !== null && alarm.clearAt <= at;
  const isMuteOver = alarm.muted !== null && alarm.muted.until <= at;
  const escalates = alarm.escalateAt !== null && alarm.escalateAt <= at;
  if (!isOver && (isMuteOver || (escalates && muted !== null))) return remuted(alarm, muted, at);
  if (!isOver && muted !== null) return { alarm: remindedAlarm(alarm, at), event: undefined };
  const event = dueEvent(alarm, at);
  return { alarm: event.alarm, event };
}

function dueEvent(alarm: Alarm, at: EpochMs): AlarmEvent {
  const sampleTime = alarm.sampleTime?.last ?? null;
  const isOver = alarm.clearAt !== null && alarm.clearAt <= at;
  const event = { at, hops: 0, sampleTime };
  if (isOver) {
    const cleared = clearedAlarm(alarm, { at, by: null, reason: 'CLEAR_AFTER' });
    return { change: 'CLEARED', alarm: cleared, ...event };
  }
  if (alarm.escalateAt !== null && alarm.escalateAt <= at)
    return { change: 'ESCALATED', alarm: escalatedAlarm(alarm, at), ...event };
  return { change: 'REMINDER', alarm: remindedAlarm(alarm, at), ...event };
}

/** Removes cleared alarms past their retention. */
export async function dropOldAlarms({ db, now, pause }: AlarmRemovalParts): Promise<void> {
  const before = now() - alarmLimits.clearedKeptMs;
  while ((await alarmRows.removeClearedBefore(db, before, alarmsPerStep)) === alarmsPerStep)
    await pause();
}

/** Removes cleared alarms of the workspaces beyond the limit. */
export async function dropSurplusAlarms(
  { db, pause }: { readonly db: RecordsDb; readonly pause: () => Promise<unknown> },
  workspaceIds: readonly string[],
): Promise<void> {
  const limits = { kept: alarmLimits.clearedPerWorkspaceMax, max: alarmsPerStep };
  for (const id of workspaceIds)
    while ((await alarmRows.removeSurplus(db, id, limits)) === alarmsPerStep) await pause();
}

type AlarmRemovalParts = {
  readonly db: RecordsDb;
  readonly now: () => EpochMs;
  readonly pause: () => Promise<unknown>;
};

// Mute clock: looks at open alarms when mutes begin or change, and removes old mutes (contract 39.4).

const mutesPerLook = 50;

/** Looks at the open alarms of workspaces in which a mute begins or has changed. */
export async function runDueMutes(db: RecordsDb, parts: AlarmEffectParts): Promise<void> {
  const { now, pause } = parts;
  for (;;) {
    const at = now();
    const due = await muteRows.due(db, at, mutesPerLook);
    for (const workspaceId of new Set(due.map((mute) => mute.workspaceId))) {
      await lookAtWorkspace(db, parts, workspaceId);
      const own = due.filter((mute) => mute.workspaceId === workspaceId);
      await transaction(db, (step) => planNext(step.db, own, at));
    }
    if (due.length < mutesPerLook) return;
    await pause();
  }
}

/** What became due during the look is looked at again. */
async function planNext(db: RecordsDb, looked: readonly Mute[], at: EpochMs): Promise<void> {
  for (const mute of looked) await muteRows.setTime(db, mute, nextMuteStart(mute, zoneOf, at));
}

/** A look that ends early is repeated, and changes nothing of what it has changed. */
async function lookAtWorkspace(
  db: RecordsDb,
  parts: AlarmEffectParts,
  workspaceId: string,
): Promise<void> {
  const { now, pause } = parts;
  let after = '';
  for (;;) {
    const at = now();
    const looked = await transaction(db, async (step) => {
      const alarms = await alarmRows.openAfter(step.db, workspaceId, after, alarmsPerStep);
      const muteOf = await mutesAt(step.db, alarms, at);
      const changed = alarms
        .filter((alarm) => !isMutedAs(alarm, muteOf(alarm)))
        .map((alarm) => remuted(alarm, muteOf(alarm), at));
      await alarmRows.save(
        step.db,
        changed.map(({ alarm }) => alarm),
      );
      const events = changed.flatMap(({ event }) => event ?? []);
      const shown = await notifyOfAlarms(parts, step, events);
      step.afterCommit(() => parts.changed(events, shown, 0));
      return alarms;
    });
    after = looked.at(-1)?.id ?? '';
    if (looked.length < alarmsPerStep) return;
    await pause();
  }
}

/** Removes mutes that are over for long. */
export async function dropOldMutes({
  db,
  now,
  pause,
}: {
  readonly db: RecordsDb;
  readonly now: () => EpochMs;
  readonly pause: () => Promise<unknown>;
}): Promise<void> {
  const before = now() - muteLimits.keptMs;
  while ((await muteRows.removeEndedBefore(db, before, alarmsPerStep)) === alarmsPerStep)
    await pause();
}
