// Alarm: opens an alarm, as the action of a rule (contract 37).
import { problem } from '../../model/problem.ts';
import { connectorType } from '../connector-type.ts';
import { namedOutputs, renamedOutputs } from './alarm-notifications.ts';
import { alarmProperties, parseAlarm } from './alarm-properties.ts';
import { createAlarmTarget } from './alarm-target.ts';

export const alarm = connectorType({
  vendorName: null,
  propertiesKey: 'alarmProperties',
  properties: alarmProperties,
  secrets: [],
  defaultScope: 'RULE_ACTION',
  // An alarm counts its triggers.
  defaultSendConsecutiveAlerts: true,
  connectorIds: { named: namedOutputs, renamed: renamedOutputs },
  parse: parseAlarm,
  check({ name, key }, checks) {
    checks.template('name', name);
    checks.template('key', key);
  },
  checkRecord({ scope }) {
    if (scope === 'RULE_ACTION') return;
    throw problem('invalidRequest', {
      reason: 'body scope: must be RULE_ACTION for type ALARM',
    });
  },
  open: createAlarmTarget,
});
