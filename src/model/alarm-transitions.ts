// Alarm transitions: an alarm after a trigger, an acknowledgement, a comment, an escalation or its end (contract 37).
import type { Author } from './principal.ts';
import {
  type Alarm,
  type AlarmClearing,
  type AlarmMute,
  alarmLimits,
  type AlarmTrigger,
  severityRank,
} from './alarm.ts';
import type { EpochMs } from './instant.ts';
import type { JsonObject } from './json.ts';

export function openedAlarm(id: string, trigger: AlarmTrigger): Alarm {
  const { organizationId, workspaceId, key, name, severity, source, device, at } = trigger;
  const { ruleName, correlationId, orderedBy, clearAfterMs, escalateAfterMs, remindEveryMs } =
    trigger;
  return {
    id,
    organizationId,
    workspaceId,
    name,
    severity,
    state: 'OPEN',
    key,
    connectorId: source.connectorId,
    device,
    rule: { id: source.ruleId, name: ruleName },
    count: trigger.times,
    firstTriggered: at,
    lastTriggered: at,
    sampleTime: spanWith(null, trigger.sampleTime),
    acknowledged: null,
    cleared: null,
    escalatedAt: null,
    data: boundedData(trigger.data),
    correlationId,
    clearAt: after(at, clearAfterMs),
    escalateAt: after(at, escalateAfterMs),
    remindAt: after(at, remindEveryMs),
    remindEveryMs,
    escalateAfterMs,
    muted: null,
    sources: 0,
    commentCount: 0,
    orderedBy,
    version: 0,
  };
}

/** A further trigger. The severity and the name follow a trigger that is more severe. */
export function triggeredAlarm(alarm: Alarm, trigger: AlarmTrigger): Alarm {
  const { name, severity, source, at, data, correlationId, clearAfterMs } = trigger;
  const rises = severityRank(severity) > severityRank(alarm.severity);
  return {
    ...alarm,
    ...(rises && { severity, name, connectorId: source.connectorId }),
    count: alarm.count + trigger.times,
    lastTriggered: Math.max(at, alarm.lastTriggered),
    sampleTime: spanWith(alarm.sampleTime, trigger.sampleTime),
    data: boundedData(data),
    correlationId,
    clearAt: after(at, clearAfterMs),
    version: alarm.version + 1,
  };
}

function spanWith(span: Alarm['sampleTime'], time: EpochMs | null): Alarm['sampleTime'] {
  if (time === null) return span;
  const { first, last } = span ?? { first: time, last: time };
  return { first: Math.min(first, time), last: Math.max(last, time) };
}

/** An open alarm, acknowledged. Nothing escalates or reminds then. */
export function acknowledgedAlarm(alarm: Alarm, at: EpochMs, by: Author): Alarm {
  return {
    ...alarm,
    state: 'ACKNOWLEDGED',
    acknowledged: { at, by },
    escalateAt: null,
    remindAt: null,
    version: alarm.version + 1,
  };
}

export function clearedAlarm(alarm: Alarm, cleared: AlarmClearing): Alarm {
  return {
    ...alarm,
    state: 'CLEARED',
    cleared,
    clearAt: null,
    escalateAt: null,
    remindAt: null,
    muted: null,
    sources: 0,
    version: alarm.version + 1,
  };
}

export function escalatedAlarm(alarm: Alarm, at: EpochMs): Alarm {
  return { ...alarm, escalatedAt: at, escalateAt: null, version: alarm.version + 1 };
}

/**
 * With another mute or none. One that tells again escalates after its whole time, because people
 * learn of it only now.
 */
export function mutedAlarm(alarm: Alarm, muted: AlarmMute | null, at: EpochMs): Alarm {
  const { escalateAfterMs, escalateAt, version } = alarm;
  const from = muted === null ? at : muted.until;
  return {
    ...alarm,
    muted,
    escalateAt: escalateAt === null ? null : from + (escalateAfterMs ?? 0),
    version: version + 1,
  };
}

/** The next reminder keeps the rhythm of the first; those missed by a stopped platform are not sent. */
export function remindedAlarm(alarm: Alarm, at: EpochMs): Alarm {
  const { remindAt, remindEveryMs, version } = alarm;
  if (remindAt === null || remindEveryMs === null) return { ...alarm, remindAt: null };
  const passed = Math.floor((at - remindAt) / remindEveryMs) + 1;
  return { ...alarm, remindAt: remindAt + passed * remindEveryMs, version: version + 1 };
}

export function commentedAlarm(alarm: Alarm): Alarm {
  return { ...alarm, commentCount: alarm.commentCount + 1, version: alarm.version + 1 };
}

function after(at: EpochMs, ms: number | null): EpochMs | null {
  if (ms === null) return null;
  return at + ms;
}

/** Data above the limit would be written again with every trigger. */
function boundedData(data: JsonObject): JsonObject {
  const characters = JSON.stringify(data).length;
  if (characters <= alarmLimits.dataCharactersMax) return data;
  return { omitted: `${characters} characters of data` };
}
