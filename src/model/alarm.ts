// Alarm: a state that people must know of, from its first trigger to its end (contract 37).
import type { Author } from './principal.ts';
import { dayMs, type EpochMs } from './instant.ts';
import type { JsonObject } from './json.ts';

/** From the least to the most severe. */
export const alarmSeverities = ['INFO', 'WARNING', 'MINOR', 'MAJOR', 'CRITICAL'] as const;
export type AlarmSeverity = (typeof alarmSeverities)[number];

export const alarmStates = ['OPEN', 'ACKNOWLEDGED', 'CLEARED'] as const;
export type AlarmState = (typeof alarmStates)[number];

/** The changes that outputs can be notified of. */
export const notifiedChanges = [
  'OPENED',
  'ACKNOWLEDGED',
  'CLEARED',
  'ESCALATED',
  'REMINDER',
] as const;
export type NotifiedChange = (typeof notifiedChanges)[number];

/** What can happen to an alarm; UPDATED are further triggers. */
export const alarmChanges = [...notifiedChanges, 'UPDATED', 'COMMENTED'] as const;
export type AlarmChange = (typeof alarmChanges)[number];

export const alarmLimits = {
  /** Alarms of a workspace that are not cleared. Further keys open no alarm. */
  openPerWorkspaceMax: 10_000,
  /** Cleared alarms of a workspace; the oldest are removed. */
  clearedPerWorkspaceMax: 50_000,
  clearedKeptMs: 90 * dayMs,
  /** Devices and outputs that one alarm waits for until it is cleared by itself. */
  sourcesMax: 10_000,
  commentsMax: 100,
  commentCharactersMax: 2_000,
  reasonCharactersMax: 500,
  nameCharactersMax: 500,
  keyCharactersMax: 500,
  /** Of the data of the last trigger, as JSON; larger data is replaced by its size. */
  dataCharactersMax: 16_384,
  notificationsMax: 20,
  /** Addresses of one notification. */
  emailsMax: 20,
  bulkIdsMax: 1_000,
} as const;

/** Who did something by hand. */
export interface AlarmComment {
  readonly id: string;
  readonly at: EpochMs;
  readonly by: Author;
  readonly text: string;
}

export interface Alarm {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly severity: AlarmSeverity;
  readonly state: AlarmState;
  /** Of a workspace, one alarm of a key is open at most. */
  readonly key: string;
  /** The output connector that opened it, or that raised its severity last. */
  readonly connectorId: string;
  /** The device and the rule as they were at the first trigger. */
  readonly device: AlarmDevice | null;
  readonly rule: { readonly id: string; readonly name: string };
  /** Triggers since it was opened. */
  readonly count: number;
  readonly firstTriggered: EpochMs;
  readonly lastTriggered: EpochMs;
  /** Times of the first and last sample that triggered it; null for timed runs without one. */
  readonly sampleTime: { readonly first: EpochMs; readonly last: EpochMs } | null;
  readonly acknowledged: { readonly at: EpochMs; readonly by: Author } | null;
  readonly cleared: AlarmClearing | null;
  readonly escalatedAt: EpochMs | null;
  /** What triggered last: the data of the sample, or what the script emitted. */
  readonly data: JsonObject;
  readonly correlationId: string;
  /** When it is cleared without a further trigger. */
  readonly clearAt: EpochMs | null;
  /** When it is escalated, unless a user acknowledges it. */
  readonly escalateAt: EpochMs | null;
  /** When its outputs are next reminded of it, as long as it is open and not acknowledged. */
  readonly remindAt: EpochMs | null;
  /** Time between reminders; null without any. */
  readonly remindEveryMs: number | null;
  /** Time until it escalates, from when people learn of it; null for never. */
  readonly escalateAfterMs: number | null;
  /** The mute that keeps it quiet, until its time; null for one that tells. */
  readonly muted: AlarmMute | null;
  /** Rules, outputs and devices that keep it open. */
  readonly sources: number;
  readonly commentCount: number;
  /** Its notifications keep the order of this device; empty for a key without a device. */
  readonly orderedBy: string;
  readonly version: number;
}

export interface AlarmMute {
  readonly muteId: string;
  readonly until: EpochMs;
}

export interface AlarmDevice {
  readonly id: string;
  readonly name: string;
  /** Physical id. */
  readonly deviceId: string;
}

export interface AlarmClearing {
  readonly at: EpochMs;
  /** Null when the platform did. */
  readonly by: Author | null;
  /** One of `sourceEndReasons`, CLEAR_AFTER or SCRIPT, or what a user or a script wrote. */
  readonly reason: string | null;
}

/** The stored properties of an output connector of type ALARM. */
export type AlarmProperties = {
  /** Templates. */
  readonly name: string;
  readonly key: string;
  readonly severity: AlarmSeverity;
  readonly clearWhen: 'RULE_FALSE' | 'NEVER';
  /** ISO-8601 durations. */
  readonly clearAfter: string | null;
  readonly escalateAfter: string | null;
  readonly remindEvery: string | null;
  readonly notify: readonly AlarmNotification[];
};

/**
 * Who is notified of one kind of change: an output, or addresses or whoever is on call, by the mail
 * of the installation.
 */
export type AlarmNotification =
  | { readonly on: NotifiedChange; readonly outputConnectorId: string }
  | { readonly on: NotifiedChange; readonly emails: readonly string[] }
  | { readonly on: NotifiedChange; readonly onCallId: string };

export const defaultAlarmKey = '{{rule.id}}:{{device.id}}';

/** Who keeps an alarm open: an output of a rule, and the device it is true for. */
export interface AlarmSource {
  readonly ruleId: string;
  readonly connectorId: string;
  /** Empty for timed runs, `*` for one that no evaluation ends. */
  readonly deviceId: string;
}

/** The device of a source that only people, time or scripts end. */
export const endlessSource = '*';

/** What a run of a rule does to the alarms of its workspace. */
export type AlarmEffect = AlarmTrigger | AlarmSourceEnd | AlarmKeyEnd;

interface EffectFields {
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly at: EpochMs;
  /** How many rules handed the sample on so far. */
  readonly hops: number;
  /** Time of the sample; null for a timed run that read none. */
  readonly sampleTime: EpochMs | null;
}

export interface AlarmTrigger extends EffectFields {
  readonly kind: 'TRIGGER';
  /** Triggers that this represents: the last ones of a batch, of which the last one is described. */
  readonly times: number;
  readonly key: string;
  readonly name: string;
  readonly severity: AlarmSeverity;
  readonly source: AlarmSource;
  /** Whether no evaluation of the rule ends the alarm. */
  readonly isEndless: boolean;
  readonly device: AlarmDevice | null;
  readonly ruleName: string;
  readonly data: JsonObject;
  readonly correlationId: string;
  readonly orderedBy: string;
  readonly clearAfterMs: number | null;
  readonly escalateAfterMs: number | null;
  readonly remindEveryMs: number | null;
}

/** Why a source ends: the rule is not true any longer, or what made the alarm is gone. */
export const sourceEndReasons = [
  'RULE_FALSE',
  'DEVICE_DELETED',
  'DEVICE_MOVED',
  'RULE_DELETED',
  'RULE_DEACTIVATED',
  'INPUT_REMOVED',
  'OUTPUT_DELETED',
] as const;

export interface AlarmSourceEnd extends EffectFields {
  readonly kind: 'SOURCE_ENDED';
  readonly reason: (typeof sourceEndReasons)[number];
  readonly source: AlarmSource;
}

/** A script asked to clear the alarm of the key. */
export interface AlarmKeyEnd extends EffectFields {
  readonly kind: 'KEY_ENDED';
  readonly key: string;
  readonly reason: string;
}

/** A change that is durable, or will be with its transaction. */
export interface AlarmEvent {
  readonly change: AlarmChange;
  readonly alarm: Alarm;
  readonly at: EpochMs;
  readonly hops: number;
  /** Of the sample that made the change, or else of the last trigger. */
  readonly sampleTime: EpochMs | null;
}

/** Open alarms of a workspace, for its overview. */
export type AlarmCounts = {
  readonly [S in 'open' | 'acknowledged']: Readonly<Record<AlarmSeverity, number>>;
};

export function severityRank(severity: AlarmSeverity): number {
  return alarmSeverities.indexOf(severity);
}

/** Limits of `clearAfter` and `escalateAfter`, and of `remindEvery`. */
export const alarmDurations = {
  after: { min: 'PT1S', max: 'P366D' },
  every: { min: 'PT1M', max: 'P30D' },
} as const;

// Alarm transitions: an alarm after a trigger, an acknowledgement, a comment, an escalation or its end (contract 37).

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
