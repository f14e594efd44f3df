// Connects alarms: rules, people and time change them; outputs and live clients are notified.
import { setImmediate as pause } from 'node:timers/promises';
import type { Parts } from './platform-parts.ts';
import {
  dropOldAlarms,
  dropOldMutes,
  dropSurplusAlarms,
  runDueAlarms,
  runDueMutes,
} from '../rules/alarms/alarm-timers.ts';
import { AlarmEnds } from '../rules/alarms/alarm-ends.ts';
import { AlarmDesk } from '../rules/alarms/alarm-actions.ts';
import { type ApplyAlarms, createApplyAlarms } from '../rules/alarms/alarm-effects.ts';
import type { AlarmEffectParts } from '../rules/alarms/alarm-notifications.ts';
import { RuleTimers, watchClockSteps } from '../operations/clock.ts';
import type { EnqueueDeliveries } from '../rules/rule-writes.ts';
import { type AlarmChange, alarmChanges, type AlarmCounts } from '../model/alarm.ts';
import { alarmRows } from '../storage/records/rows/alarms.ts';
import { muteRows } from '../storage/records/rows/mutes.ts';
import { transaction } from '../storage/records/records.ts';
import { setRepeatingTimer, setTimer } from '../structures/timers.ts';

/** How often the node that looks after time looks for alarms that others have changed. */
const sharedLookEveryMs = 1_000;

export interface Alarms {
  readonly applyAlarms: ApplyAlarms;
  readonly desk: AlarmDesk;
  /** Alarms of the workspace that are not cleared, by severity. */
  readonly countsOf: (workspaceId: string) => Promise<AlarmCounts>;
  /** Clears and escalates now what is due, as happens when it becomes due. */
  readonly runDue: () => Promise<void>;
  /** Resolves when what is gone has ended its alarms, as far as this node does it. */
  readonly settled: () => Promise<void>;
  /** Removes old alarms, and ends those of what is gone, for all nodes. */
  readonly dropOld: () => Promise<void>;
  /** Removes those beyond the limit in workspaces that this node has changed. */
  readonly dropSurplus: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export function composeAlarms(parts: Parts, enqueueDeliveries: EnqueueDeliveries): Alarms {
  const { config, records, telemetry, now, alarmFeed, sharedWork } = parts;
  const { db, sealer } = records;
  const counts = Object.fromEntries(
    [...alarmChanges, 'REFUSED'].map((change) => [change, 0]),
  ) as Record<AlarmChange | 'REFUSED', number>;
  telemetry.counts('alarm_changes_total', 'Alarm state changes.', 'change', () => counts);
  /** Workspaces in which alarms were cleared since their number was limited last. */
  const grown = new Set<string>();
  const effectParts: AlarmEffectParts = {
    sealer,
    pause,
    now,
    enqueueDeliveries,
    linkTo: (workspaceId, alarmId) => `${config.publicUrl}/w/${workspaceId}/alarms/${alarmId}`,
    changed(events, shown, refused) {
      counts.REFUSED += refused;
      for (const { change, alarm } of events) {
        counts[change] += 1;
        if (change === 'CLEARED') grown.add(alarm.workspaceId);
      }
      const isTimed = events.some(
        ({ alarm }) =>
          (alarm.clearAt ?? alarm.escalateAt ?? alarm.remindAt ?? alarm.muted) !== null,
      );
      if (isTimed) timers.changed();
      alarmFeed.publish(shown);
    },
  };
  const holds = () => sharedWork?.holds('maintenance') ?? true;
  const runDue = async () => {
    if (!holds()) return;
    await runDueMutes(db, effectParts);
    await runDueAlarms(db, effectParts);
  };
  const timers = new RuleTimers({
    async nextTime() {
      if (!holds()) return undefined;
      const times = [await muteRows.nextTime(db), await alarmRows.nextTime(db)];
      const known = times.filter((time) => time !== undefined);
      return known.length === 0 ? undefined : Math.min(...known);
    },
    runDue,
    now,
    setTimer,
    failed: (error) =>
      telemetry.backgroundFailed('clearing, escalating and reminding of alarms', error),
  });
  timers.changed();
  const stopWatching = watchClockSteps({
    now,
    clock: () => performance.now(),
    setRepeatingTimer,
    setBack(byMs) {
      if (!holds()) return;
      transaction(db, async (step) => {
        await alarmRows.moveTimes(step.db, { now: now(), byMs });
        await muteRows.lookAgain(step.db, now());
      }).then(timers.changed, (error) =>
        telemetry.backgroundFailed('moving the times of alarms', error),
      );
    },
  });
  const applyAlarms = createApplyAlarms(effectParts, config.quotas.openAlarms);
  const ends = new AlarmEnds({
    db,
    sealer,
    applyAlarms,
    now,
    pause,
    setTimer,
    holds,
    failed: (error) => telemetry.backgroundFailed('ending alarms of what is gone', error),
  });
  parts.followChanges(ends);
  parts.followChanges({
    recordChanged({ kind }) {
      if (kind === 'mute') timers.changed();
    },
    changesMissed: timers.changed,
  });
  ends.wake();
  // Other nodes change alarms too.
  const stopLooking =
    sharedWork &&
    setRepeatingTimer(() => {
      if (!holds()) return;
      timers.changed();
      ends.wake();
    }, sharedLookEveryMs);
  return {
    applyAlarms,
    settled: ends.settled,
    desk: new AlarmDesk(records, effectParts),
    countsOf: (workspaceId) => alarmRows.count(db, workspaceId),
    runDue,
    async dropOld() {
      await ends.lookAtAll();
      await dropOldAlarms({ db, now, pause });
      await dropOldMutes({ db, now, pause });
    },
    async dropSurplus() {
      const workspaceIds = [...grown];
      grown.clear();
      await dropSurplusAlarms({ db, pause }, workspaceIds);
    },
    async close() {
      stopLooking?.();
      stopWatching();
      await ends.close();
      await timers.close();
    },
  };
}
