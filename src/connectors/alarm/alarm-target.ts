// Alarm target: the test of an alarm output, which shows the alarm and opens none (contract 37).
// Rules open alarms in the transaction of their state, without a delivery.
import type { AlarmProperties } from '../../model/alarm.ts';
import { alarmTemplates, renderAlarm } from '../../templates/alarm-templates.ts';
import type { Target } from '../target.ts';

export function createAlarmTarget(properties: AlarmProperties): Target {
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
