// Alarm view: an alarm with its comments as answers, messages and live events show it (contract 37).
import type { Alarm, AlarmComment } from '../../model/alarm.ts';
import { formatInstant, formatInstantOrNull } from '../../model/instant.ts';
import type { RecordsDb } from '../../storage/records/records.ts';
import { commentsOfAlarms } from '../../storage/records/rows/alarms.ts';

export type AlarmView = ReturnType<typeof alarmView>;

function alarmView(alarm: Alarm, comments: readonly AlarmComment[]) {
  const { acknowledged, cleared, device, rule, sampleTime } = alarm;
  return {
    id: alarm.id,
    workspaceId: alarm.workspaceId,
    organizationId: alarm.organizationId,
    name: alarm.name,
    severity: alarm.severity,
    state: alarm.state,
    key: alarm.key,
    device: device && { id: device.id, name: device.name, deviceId: device.deviceId },
    rule: { id: rule.id, name: rule.name },
    outputConnectorId: alarm.connectorId,
    count: alarm.count,
    firstTriggered: formatInstant(alarm.firstTriggered),
    lastTriggered: formatInstant(alarm.lastTriggered),
    sampleTime: sampleTime && {
      first: formatInstant(sampleTime.first),
      last: formatInstant(sampleTime.last),
    },
    acknowledged: acknowledged && { at: formatInstant(acknowledged.at), by: acknowledged.by },
    cleared: cleared && {
      at: formatInstant(cleared.at),
      by: cleared.by,
      reason: cleared.reason,
    },
    escalated: formatInstantOrNull(alarm.escalatedAt),
    data: alarm.data,
    correlationId: alarm.correlationId,
    comments: comments.map(({ id, at, by, text }) => ({ id, at: formatInstant(at), by, text })),
    version: alarm.version,
  };
}

/** In their order. */
export async function alarmViews(db: RecordsDb, alarms: readonly Alarm[]): Promise<AlarmView[]> {
  const commented = alarms.filter(({ commentCount }) => commentCount > 0).map(({ id }) => id);
  const comments = await commentsOfAlarms(db, [...new Set(commented)]);
  return alarms.map((alarm) => alarmView(alarm, comments.get(alarm.id) ?? []));
}
