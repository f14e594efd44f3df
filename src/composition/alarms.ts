// Connects alarms: rules, people and time change them; outputs and live clients are notified.
import { setImmediate as pause } from 'node:timers/promises';
import type { Parts } from './platform-parts.ts';
import { dropOldAlarms, runDueAlarms } from '../flows/alarm-clock.ts';
import { type AlarmDesk, createAlarmDesk } from '../flows/alarm-desk.ts';
import {
  type AlarmEffectParts,
  type ApplyAlarms,
  createApplyAlarms,
} from '../flows/alarm-effects.ts';
import { createRuleTimers } from '../flows/rule-timers.ts';
import type { EnqueueDeliveries } from '../flows/rule-writes.ts';
import { type AlarmChange, alarmChanges, type AlarmCounts } from '../model/alarm.ts';
import { countAlarms, nextAlarmTime } from '../records/rows/alarms.ts';
import { setTimer } from '../structures/timers.ts';

export interface Alarms {
  readonly applyAlarms: ApplyAlarms;
  readonly desk: AlarmDesk;
  /** Alarms of the workspace that are not cleared, by severity. */
  readonly countsOf: (workspaceId: string) => Promise<AlarmCounts>;
  /** Clears and escalates now what is due, as happens when it becomes due. */
  readonly runDue: () => Promise<void>;
  readonly runMaintenance: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export function composeAlarms(parts: Parts, enqueueDeliveries: EnqueueDeliveries): Alarms {
  const { records, telemetry, now, alarmFeed } = parts;
  const { db, sealer } = records;
  const counts = Object.fromEntries(
    [...alarmChanges, 'REFUSED'].map((change) => [change, 0]),
  ) as Record<AlarmChange | 'REFUSED', number>;
  telemetry.counts('alarm_changes_total', 'Changes of alarms.', 'change', () => counts);
  /** Workspaces in which alarms were cleared since their number was limited last. */
  const grown = new Set<string>();
  const effectParts: AlarmEffectParts = {
    sealer,
    pause,
    enqueueDeliveries,
    changed(events, shown, refused) {
      counts.REFUSED += refused;
      for (const { change, alarm } of events) {
        counts[change] += 1;
        if (change === 'CLEARED') grown.add(alarm.workspaceId);
      }
      const isTimed = events.some(({ alarm }) => (alarm.clearAt ?? alarm.escalateAt) !== null);
      if (isTimed) timers.changed();
      alarmFeed.publish(shown);
    },
  };
  const runDue = () => runDueAlarms({ ...effectParts, db, now });
  const timers = createRuleTimers({
    nextTime: () => nextAlarmTime(db),
    runDue,
    now,
    setTimer,
    failed: (error) => telemetry.backgroundFailed('clearing and escalating alarms', error),
  });
  timers.changed();
  return {
    applyAlarms: createApplyAlarms(effectParts),
    desk: createAlarmDesk({ ...effectParts, records }),
    countsOf: (workspaceId) => countAlarms(db, workspaceId),
    runDue,
    async runMaintenance() {
      const workspaceIds = [...grown];
      grown.clear();
      await dropOldAlarms({ db, now, pause }, workspaceIds);
    },
    close: () => timers.close(),
  };
}
