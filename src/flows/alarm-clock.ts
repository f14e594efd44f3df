// Alarm clock: clears alarms without a further trigger, escalates them, and removes old ones (contract 37).
import { type Alarm, type AlarmEvent, alarmLimits } from '../model/alarm.ts';
import { clearedAlarm, escalatedAlarm } from '../model/alarm-transitions.ts';
import type { EpochMs } from '../model/instant.ts';
import type { RecordsDb } from '../records/records.ts';
import { removeSourcesOfAlarms } from '../records/rows/alarm-parts.ts';
import {
  findDueAlarms,
  removeAlarmsClearedBefore,
  removeSurplusAlarms,
  saveAlarms,
} from '../records/rows/alarms.ts';
import type { AlarmEffectParts } from './alarm-effects.ts';
import { notifyOfAlarms } from './alarm-notifications.ts';

const alarmsPerStep = 200;

export interface AlarmClockParts extends AlarmEffectParts {
  readonly db: RecordsDb;
  readonly now: () => EpochMs;
}

/** Clears and escalates what is due, some alarms per transaction. */
export async function runDueAlarms(parts: AlarmClockParts): Promise<void> {
  const { db, now, pause } = parts;
  const at = now();
  for (;;) {
    const { events, shown } = await db.transaction().execute(async (step) => {
      const due = await findDueAlarms(step, at, alarmsPerStep);
      const made = due.map((alarm) => dueEvent(alarm, at));
      await saveAlarms(
        step,
        made.map(({ alarm }) => alarm),
      );
      const cleared = made.filter((event) => event.change === 'CLEARED');
      await removeSourcesOfAlarms(
        step,
        cleared.map(({ alarm }) => alarm.id),
      );
      return { events: made, shown: await notifyOfAlarms(parts, step, made) };
    });
    parts.changed(events, shown, 0);
    if (events.length < alarmsPerStep) return;
    await pause();
  }
}

/** An alarm that is due for both is cleared. */
function dueEvent(alarm: Alarm, at: EpochMs): AlarmEvent {
  const isOver = alarm.clearAt !== null && alarm.clearAt <= at;
  if (!isOver) return { change: 'ESCALATED', alarm: escalatedAlarm(alarm, at), at, hops: 0 };
  const cleared = clearedAlarm(alarm, { at, by: null, reason: 'CLEAR_AFTER' });
  return { change: 'CLEARED', alarm: cleared, at, hops: 0 };
}

/** Removes cleared alarms past their retention, and those of the workspaces beyond the limit. */
export async function dropOldAlarms(
  { db, now, pause }: Pick<AlarmClockParts, 'db' | 'now' | 'pause'>,
  workspaceIds: readonly string[],
): Promise<void> {
  const { clearedKeptMs, clearedPerWorkspaceMax: kept } = alarmLimits;
  const max = alarmsPerStep;
  while ((await removeAlarmsClearedBefore(db, now() - clearedKeptMs, max)) === max) await pause();
  for (const id of workspaceIds)
    while ((await removeSurplusAlarms(db, id, { kept, max })) === max) await pause();
}
