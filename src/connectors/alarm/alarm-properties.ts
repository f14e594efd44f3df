// Alarm properties: schemas and parser (contract 37).
import Type from 'typebox';
import {
  alarmLimits,
  type AlarmNotification,
  type AlarmProperties,
  alarmSeverities,
  defaultAlarmKey,
  notifiedChanges,
} from '../../model/alarm.ts';
import { durationMsOf } from '../../model/alarm-duration.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import type { PropertyReader } from '../property-parser.ts';
import { anyText, oneOf, optional, optionalText, text } from '../property-schemas.ts';

const clearings = ['RULE_FALSE', 'NEVER'] as const;

export const alarmProperties = {
  name: text('A template'),
  severity: oneOf(alarmSeverities),
  key: optionalText(`A template; ${defaultAlarmKey} when absent. One alarm of a key is open`),
  clearWhen: optional(
    Type.Unsafe<(typeof clearings)[number]>({
      type: 'string',
      enum: clearings,
      description: 'RULE_FALSE when absent: cleared when the rule is not true any longer',
    }),
  ),
  clearAfter: optionalText('Cleared after this ISO-8601 duration without a further trigger'),
  escalateAfter: optionalText('Escalated after this ISO-8601 duration, unless acknowledged'),
  notify: optional(
    Type.Array(Type.Object({ on: oneOf(notifiedChanges), outputConnectorId: anyText }), {
      maxItems: alarmLimits.notificationsMax,
      description: 'Output connectors of the workspace that get a message',
    }),
  ),
};

type AlarmReader = PropertyReader<keyof AlarmProperties>;

export function parseAlarm(reader: AlarmReader): AlarmProperties {
  return {
    name: reader.needed('name'),
    key: reader.text('key') || defaultAlarmKey,
    severity: reader.oneOf('severity', alarmSeverities, 'MAJOR'),
    clearWhen: reader.oneOf('clearWhen', clearings, 'RULE_FALSE'),
    clearAfter: parseDuration(reader, 'clearAfter'),
    escalateAfter: parseDuration(reader, 'escalateAfter'),
    notify: parseNotifications(reader),
  };
}

function parseDuration(reader: AlarmReader, member: 'clearAfter' | 'escalateAfter') {
  const duration = reader.text(member) || null;
  if (duration === null) return null;
  const read = durationMsOf(duration);
  if (typeof read === 'string') return reader.refuse(member, read);
  return duration;
}

function parseNotifications(reader: AlarmReader): readonly AlarmNotification[] {
  const sent = reader.sent['notify'] ?? [];
  if (!Array.isArray(sent)) return reader.refuse('notify', 'must be a list');
  if (sent.length > alarmLimits.notificationsMax)
    return reader.refuse('notify', `has at most ${alarmLimits.notificationsMax} elements`);
  return (sent as readonly Json[]).map((one, place) => parseNotification(reader, one, place));
}

function parseNotification(reader: AlarmReader, sent: Json, place: number): AlarmNotification {
  if (!isJsonObject(sent)) return reader.refuse(`notify.${place}`, 'must be an object');
  const on = notifiedChanges.find((change) => change === sent['on']);
  const { outputConnectorId } = sent;
  if (on === undefined)
    return reader.refuse(`notify.${place}.on`, `must be one of ${notifiedChanges.join(', ')}`);
  if (typeof outputConnectorId !== 'string' || outputConnectorId === '')
    return reader.refuse(`notify.${place}.outputConnectorId`, 'is needed');
  return { on, outputConnectorId };
}
