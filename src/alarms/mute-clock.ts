// Mute clock: looks at open alarms when mutes begin or change, and removes old mutes (contract 39.4).
import { type Mute, muteLimits, nextMuteStart } from '../model/mute.ts';
import type { EpochMs } from '../model/instant.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { openAlarmsAfter, saveAlarms } from '../storage/records/rows/alarms.ts';
import { muteRows, removeMutesEndedBefore, setMuteTime } from '../storage/records/rows/mutes.ts';
import { transaction } from '../storage/records/transaction.ts';
import { isMutedAs, mutesAt, remuted, zoneOf } from './alarm-mutes.ts';
import { notifyOfAlarms } from './alarm-notifications.ts';
import type { AlarmClockParts } from './alarm-timers.ts';

const alarmsPerStep = 200;
const mutesPerLook = 50;

/** Looks at the open alarms of workspaces in which a mute begins or has changed. */
export async function runDueMutes(parts: AlarmClockParts): Promise<void> {
  const { db, now, pause } = parts;
  for (;;) {
    const at = now();
    const due = await muteRows.due(db, at, mutesPerLook);
    for (const workspaceId of new Set(due.map((mute) => mute.workspaceId))) {
      await lookAtWorkspace(parts, workspaceId);
      const own = due.filter((mute) => mute.workspaceId === workspaceId);
      await transaction(db, (step) => planNext(step.db, own, at));
    }
    if (due.length < mutesPerLook) return;
    await pause();
  }
}

/** What became due during the look is looked at again. */
async function planNext(db: RecordsDb, looked: readonly Mute[], at: EpochMs): Promise<void> {
  for (const mute of looked) await setMuteTime(db, mute, nextMuteStart(mute, zoneOf, at));
}

/** A look that ends early is repeated, and changes nothing of what it has changed. */
async function lookAtWorkspace(parts: AlarmClockParts, workspaceId: string): Promise<void> {
  const { db, now, pause } = parts;
  let after = '';
  for (;;) {
    const at = now();
    const looked = await transaction(db, async (step) => {
      const alarms = await openAlarmsAfter(step.db, workspaceId, after, alarmsPerStep);
      const muteOf = await mutesAt(step.db, alarms, at);
      const changed = alarms
        .filter((alarm) => !isMutedAs(alarm, muteOf(alarm)))
        .map((alarm) => remuted(alarm, muteOf(alarm), at));
      await saveAlarms(
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
}: Pick<AlarmClockParts, 'db' | 'now' | 'pause'>): Promise<void> {
  const before = now() - muteLimits.keptMs;
  while ((await removeMutesEndedBefore(db, before, alarmsPerStep)) === alarmsPerStep) await pause();
}
