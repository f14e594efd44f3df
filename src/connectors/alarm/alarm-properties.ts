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
  name: text('Template of the alarm name.'),
  severity: oneOf(alarmSeverities),
  key: optionalText(
    `Template of the alarm key. Only one alarm per key can be open. Defaults to ${defaultAlarmKey}.`,
  ),
  clearWhen: optional(
    Type.Unsafe<(typeof clearings)[number]>({
      type: 'string',
      enum: clearings,
      description:
        "When the alarm clears. Defaults to `RULE_FALSE`: when the rule's condition is no longer met.",
    }),
  ),
  clearAfter: optionalText('ISO-8601 duration without a trigger after which the alarm clears.'),
  escalateAfter: optionalText(
    'ISO-8601 duration after which the alarm escalates unless it is acknowledged.',
  ),
  notify: optional(
    Type.Array(Type.Object({ on: oneOf(notifiedChanges), outputConnectorId: anyText }), {
      maxItems: alarmLimits.notificationsMax,
      description: 'Output connectors in the workspace to notify.',
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
  if (!Array.isArray(sent)) return reader.refuse('notify', 'must be an array');
  if (sent.length > alarmLimits.notificationsMax)
    return reader.refuse('notify', `must have at most ${alarmLimits.notificationsMax} items`);
  return (sent as readonly Json[]).map((one, place) => parseNotification(reader, one, place));
}

function parseNotification(reader: AlarmReader, sent: Json, place: number): AlarmNotification {
  if (!isJsonObject(sent)) return reader.refuse(`notify.${place}`, 'must be an object');
  const on = notifiedChanges.find((change) => change === sent['on']);
  const { outputConnectorId } = sent;
  if (on === undefined)
    return reader.refuse(`notify.${place}.on`, `must be one of ${notifiedChanges.join(', ')}`);
  if (typeof outputConnectorId !== 'string' || outputConnectorId === '')
    return reader.refuse(`notify.${place}.outputConnectorId`, 'is required');
  return { on, outputConnectorId };
}
