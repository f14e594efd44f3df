// Alarm: opens an alarm, as the action of a rule (contract 37).
import Type from 'typebox';
import {
  alarmDurations,
  alarmLimits,
  type AlarmNotification,
  type AlarmProperties,
  alarmSeverities,
  defaultAlarmKey,
  notifiedChanges,
} from '../../../model/alarm.ts';
import { fixedDurationMs } from '../../../model/iso-duration.ts';
import { isJsonObject, type Json } from '../../../model/json.ts';
import { isMailAddress } from '../../../model/mail.ts';
import { problem } from '../../../model/problem.ts';
import { alarmTemplates, renderAlarm } from '../../templates/alarm-templates.ts';
import { connectorType } from '../connector-type.ts';
import {
  anyText,
  oneOf,
  optional,
  optionalText,
  type PropertyReader,
  text,
} from '../properties.ts';
import type { Target } from '../target.ts';

// Alarm properties: schemas and parser (contract 37).

const clearings = ['RULE_FALSE', 'NEVER'] as const;

const alarmProperties = {
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
  remindEvery: optionalText(
    'ISO-8601 duration, from PT1M to P30D. As long as the alarm is open and not acknowledged, the outputs with `on: REMINDER` are notified again each time this much has passed.',
  ),
  notify: optional(
    Type.Array(
      Type.Object({
        on: oneOf(notifiedChanges),
        outputConnectorId: Type.Optional(anyText),
        emails: Type.Optional(
          Type.Array(anyText, { minItems: 1, maxItems: alarmLimits.emailsMax }),
        ),
        onCallId: Type.Optional(anyText),
      }),
      {
        maxItems: alarmLimits.notificationsMax,
        description:
          'Who is notified of which change. Each item has one of `outputConnectorId`, `emails` and `onCallId`.',
      },
    ),
  ),
};

type AlarmReader = PropertyReader<keyof AlarmProperties>;

function parseAlarm(reader: AlarmReader): AlarmProperties {
  return {
    name: reader.needed('name'),
    key: reader.text('key') || defaultAlarmKey,
    severity: reader.oneOf('severity', alarmSeverities, 'MAJOR'),
    clearWhen: reader.oneOf('clearWhen', clearings, 'RULE_FALSE'),
    clearAfter: parseDuration(reader, 'clearAfter', alarmDurations.after),
    escalateAfter: parseDuration(reader, 'escalateAfter', alarmDurations.after),
    remindEvery: parseDuration(reader, 'remindEvery', alarmDurations.every),
    notify: parseNotifications(reader),
  };
}

function parseDuration(
  reader: AlarmReader,
  member: 'clearAfter' | 'escalateAfter' | 'remindEvery',
  limits: Parameters<typeof fixedDurationMs>[1],
): string | null {
  const duration = reader.text(member) || null;
  if (duration === null) return null;
  const read = fixedDurationMs(duration, limits);
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
  const { outputConnectorId = null, emails = null, onCallId = null } = sent;
  if (on === undefined)
    return reader.refuse(`notify.${place}.on`, `must be one of ${notifiedChanges.join(', ')}`);
  const recipients = [outputConnectorId, emails, onCallId];
  if (recipients.filter((recipient) => recipient !== null).length !== 1)
    return reader.refuse(
      `notify.${place}`,
      'must have exactly one of outputConnectorId, emails and onCallId',
    );
  if (emails !== null) return { on, emails: parseEmails(reader, emails, place) };
  if (onCallId !== null) {
    if (typeof onCallId !== 'string' || onCallId === '')
      return reader.refuse(`notify.${place}.onCallId`, 'must be the ID of an on-call order');
    return { on, onCallId };
  }
  if (typeof outputConnectorId !== 'string' || outputConnectorId === '')
    return reader.refuse(
      `notify.${place}.outputConnectorId`,
      'must be the ID of an output connector',
    );
  return { on, outputConnectorId };
}

/** Each address once. */
function parseEmails(reader: AlarmReader, sent: Json, place: number): readonly string[] {
  const where = `notify.${place}.emails` as const;
  const { emailsMax } = alarmLimits;
  if (!Array.isArray(sent) || sent.length === 0 || sent.length > emailsMax)
    return reader.refuse(where, `must be an array of 1 to ${emailsMax} email addresses`);
  const addresses = (sent as readonly Json[]).map((one, i) => {
    if (typeof one === 'string' && isMailAddress(one)) return one;
    return reader.refuse(`${where}.${i}`, 'must be an email address');
  });
  return [...new Set(addresses)];
}

export const alarm = connectorType({
  vendorName: null,
  propertiesKey: 'alarmProperties',
  properties: alarmProperties,
  secrets: [],
  defaultScope: 'RULE_ACTION',
  // An alarm counts its triggers.
  defaultSendConsecutiveAlerts: true,
  connectorIds: namedIn('outputConnectorId'),
  onCallIds: namedIn('onCallId'),
  parse: parseAlarm,
  check({ name, key, notify }, checks, { mails }) {
    checks.template('name', name);
    checks.template('key', key);
    const usesMail = notify.some((one) => !('outputConnectorId' in one));
    if (usesMail && 'missingSetting' in mails)
      throw problem('outputNotConfigured', { type: 'MAIL', setting: mails.missingSetting });
  },
  checkRecord({ scope }) {
    if (scope === 'RULE_ACTION') return;
    throw problem('invalidRequest', {
      reason: 'body scope: must be RULE_ACTION for type ALARM',
    });
  },
  open: createAlarmTarget,
});

// Alarm target: the test of an alarm output, which shows the alarm and opens none (contract 37).
// Rules open alarms in the transaction of their state, without a delivery.

function createAlarmTarget(properties: AlarmProperties): Target {
  const templates = alarmTemplates(properties);
  return {
    async send({ context }) {
      const { name, key } = renderAlarm(templates, context);
      const { severity } = properties;
      const sent = JSON.stringify({ name, severity, key });
      return { ok: true, answer: 'would open or retrigger this alarm', sent };
    },
    close: async () => {},
  };
}

// Alarm notifications: the records that the properties name, also those of a document that was not parsed.

/** Of the output connectors, or of the on-call orders. */
function namedIn(member: 'outputConnectorId' | 'onCallId') {
  return {
    named: ({ notify }: AlarmProperties) =>
      sentNotifications(notify).flatMap((one, place) => {
        const id = isJsonObject(one) ? one[member] : undefined;
        return typeof id === 'string' ? [{ member: `notify.${place}.${member}`, id }] : [];
      }),
    renamed<P extends AlarmProperties>(properties: P, rename: (id: string) => string): P {
      const { notify } = properties;
      if (!Array.isArray(notify)) return properties;
      const renamed = sentNotifications(notify).map((one) => {
        const id = isJsonObject(one) ? one[member] : undefined;
        return isJsonObject(one) && typeof id === 'string' ? { ...one, [member]: rename(id) } : one;
      });
      return { ...properties, notify: renamed };
    },
  };
}

function sentNotifications(notify: unknown): readonly Json[] {
  if (!Array.isArray(notify)) return [];
  return notify as readonly Json[];
}
