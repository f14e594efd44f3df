// API schema of the overview of a workspace (contract 37).
import Type from 'typebox';
import { alarmSeverities } from '../model/alarm.ts';
import { namedObject } from './named.ts';
import { id, list, orNull, text, time } from './record-fields.ts';

const count = Type.Integer({ minimum: 0 });
const bySeverity = Type.Object(
  Object.fromEntries(alarmSeverities.map((severity) => [severity, count])),
);
const device = { id, name: text, deviceId: Type.String({ description: 'Physical id' }) };

export const workspaceOverviewSchema = namedObject('WorkspaceOverview', {
  devices: Type.Object(
    { total: count, online: count, offline: count, unknown: count },
    { description: '`unknown` never sent an uplink; deregistered devices are `offline`' },
  ),
  samplesPerMinute: Type.Array(count, {
    minItems: 60,
    maxItems: 60,
    description: 'Samples received in each of the last 60 minutes (UTC), the current one last',
  }),
  samples: Type.Integer({ minimum: 0, description: 'Stored samples' }),
  bytes: Type.Integer({ minimum: 0, description: 'Bytes that they occupy' }),
  deliveries: Type.Object(
    { delivered: count, waiting: count, failed: count },
    { description: 'Deliveries that ended within 24 hours, and those that wait now' },
  ),
  alarms: Type.Object(
    { open: bySeverity, acknowledged: bySeverity },
    { description: 'Alarms that are not cleared, by severity' },
  ),
  scriptErrors: Type.Integer({
    minimum: 0,
    description: 'Failures of uplink scripts within 24 hours',
  }),
  lowBattery: list(
    Type.Object(
      { ...device, batteryLevel: Type.Number(), batteryTimestamp: orNull(time) },
      { description: 'The ten lowest below 40 percent; empty without `asset` `read`' },
    ),
  ),
  silent: list(
    Type.Object(
      { ...device, lastUplink: time, online: Type.Boolean() },
      { description: 'The ten with the oldest last uplink; empty without `asset` `read`' },
    ),
  ),
});
