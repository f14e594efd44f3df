// API schema of the overview of a workspace (contract 37).
import Type from 'typebox';
import { alarmSeverities } from '../model/alarm.ts';
import { namedObject } from './named.ts';
import { id, list, orNull, text, time } from './record-fields.ts';

const count = Type.Integer({ minimum: 0 });
const bySeverity = Type.Object(
  Object.fromEntries(alarmSeverities.map((severity) => [severity, count])),
);
const device = { id, name: text, deviceId: Type.String({ description: 'Device ID.' }) };

export const workspaceOverviewSchema = namedObject('WorkspaceOverview', {
  devices: Type.Object(
    { total: count, online: count, offline: count, unknown: count },
    {
      description:
        'Device counts by state. `unknown` counts devices without an uplink; deregistered devices count as `offline`.',
    },
  ),
  samplesPerMinute: Type.Array(count, {
    minItems: 60,
    maxItems: 60,
    description: 'Samples received per minute over the last 60 minutes, oldest first.',
  }),
  samples: Type.Integer({ minimum: 0, description: 'Number of stored samples.' }),
  bytes: Type.Integer({ minimum: 0, description: 'Stored bytes.' }),
  deliveries: Type.Object(
    { delivered: count, waiting: count, failed: count },
    { description: 'Deliveries completed in the last 24 hours, and pending deliveries.' },
  ),
  alarms: Type.Object(
    { open: bySeverity, acknowledged: bySeverity },
    { description: 'Alarms that are not cleared, by severity.' },
  ),
  scriptErrors: Type.Integer({
    minimum: 0,
    description: 'Uplink script failures in the last 24 hours.',
  }),
  lowBattery: list(
    Type.Object(
      { ...device, batteryLevel: Type.Number(), batteryTimestamp: orNull(time) },
      { description: 'The 10 lowest batteries below 40 percent. Empty without `asset` `read`.' },
    ),
  ),
  silent: list(
    Type.Object(
      { ...device, lastUplink: time, online: Type.Boolean() },
      { description: 'The 10 devices with the oldest last uplink. Empty without `asset` `read`.' },
    ),
  ),
});
