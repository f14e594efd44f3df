// Alarm mutes: which alarms tell nobody at a moment (contract 39.4).
import { type Alarm, type AlarmEvent, type AlarmMute, mutedAlarm } from '../../model/alarm.ts';
import type { EpochMs } from '../../model/instant.ts';
import { mutes, muteWindowAt } from '../../model/mute.ts';
import { openTimeZones } from '../../model/time-zone.ts';
import type { RecordsDb } from '../../storage/records/records.ts';
import { muteRows } from '../../storage/records/rows/mutes.ts';
import { placeRows } from '../../storage/records/rows/places.ts';

/** Zones of weekly mutes, each read once. */
export const zoneOf = openTimeZones();

/** Returns the mute that keeps an alarm quiet at the moment, the one that ends last; null for none. */
type MuteOf = (alarm: Alarm) => AlarmMute | null;

/**
 * Reads what mutes the alarms at the moment, in the transaction that changes them: a mute is in
 * effect with its commit.
 */
export async function mutesAt(
  db: RecordsDb,
  alarms: readonly Alarm[],
  at: EpochMs,
): Promise<MuteOf> {
  const workspaceIds = [...new Set(alarms.map(({ workspaceId }) => workspaceId))];
  const current = await muteRows.current(db, workspaceIds, at);
  const inEffect = current.flatMap((mute) => {
    const window = muteWindowAt(mute, zoneOf, at);
    return window === undefined ? [] : [{ mute, until: window.to }];
  });
  if (inEffect.length === 0) return () => null;
  const groups = inEffect.some(({ mute: { what } }) => 'tagIds' in what || 'placeIds' in what)
    ? await placeRows.groupsOfDevices(db, [
        ...new Set(alarms.flatMap(({ device }) => device?.id ?? [])),
      ])
    : new Map<string, ReadonlySet<string>>();
  const latestFirst = inEffect.toSorted((a, b) => b.until - a.until);
  return (alarm) => {
    const own = groups.get(alarm.device?.id ?? '') ?? new Set();
    const found = latestFirst.find(
      ({ mute }) => mute.workspaceId === alarm.workspaceId && mutes(mute, alarm, own),
    );
    return found === undefined ? null : { muteId: found.mute.id, until: found.until };
  };
}

/**
 * The alarm as the mutes of the moment make it, with the event of one that tells again: it is open
 * and nobody has acknowledged it.
 */
export function remuted(
  alarm: Alarm,
  muted: AlarmMute | null,
  at: EpochMs,
): { readonly alarm: Alarm; readonly event: AlarmEvent | undefined } {
  const next = mutedAlarm(alarm, muted, at);
  const tells = alarm.muted !== null && muted === null && alarm.state === 'OPEN';
  const sampleTime = alarm.sampleTime?.last ?? null;
  const event = tells
    ? ({ change: 'OPENED', alarm: next, at, hops: 0, sampleTime } as const)
    : undefined;
  return { alarm: next, event };
}

export function isMutedAs({ muted }: Alarm, other: AlarmMute | null): boolean {
  return muted?.muteId === other?.muteId && muted?.until === other?.until;
}
