// Devices that need attention: low batteries and silence, read from indexes (contract 37).
import { sql } from 'kysely';
import type { EpochMs } from '../../model/instant.ts';
import { batteryPercents, type UplinkMetrics } from '../../model/uplink-metrics.ts';
import { fromJsonText } from '../columns.ts';
import type { RecordsDb } from '../records.ts';

interface NamedDevice {
  readonly id: string;
  readonly name: string;
  /** Physical id. */
  readonly deviceId: string;
}

export interface LowBattery extends NamedDevice {
  readonly batteryLevel: number;
  readonly batteryAt: EpochMs;
}

export interface SilentDevice extends NamedDevice {
  readonly lastUplinkAt: EpochMs;
  /** Null for a device that its network server does not know. */
  readonly onlineUntil: EpochMs | null;
}

function statusesIn(db: RecordsDb, workspaceId: string) {
  return db
    .selectFrom('deviceStatus')
    .innerJoin('devices', 'devices.id', 'deviceStatus.deviceId')
    .select(['devices.id', 'devices.name', 'devices.deviceId'])
    .where('deviceStatus.workspaceId', '=', workspaceId);
}

/** Devices of the workspace with a low battery, the lowest first. */
export async function lowBatteries(
  db: RecordsDb,
  workspaceId: string,
  max: number,
): Promise<readonly LowBattery[]> {
  const rows = await statusesIn(db, workspaceId)
    .select('deviceStatus.uplinkMetrics')
    // The constant lets the partial index answer.
    .where('deviceStatus.batteryLevel', '<', sql.lit(batteryPercents.medium))
    .orderBy('deviceStatus.batteryLevel')
    .limit(max)
    .execute();
  return rows.map(({ uplinkMetrics, ...device }) => {
    const {
      batteryLevel = 0,
      batteryTimestamp,
      timestamp,
    } = fromJsonText<UplinkMetrics>(uplinkMetrics);
    return { ...device, batteryLevel, batteryAt: batteryTimestamp ?? timestamp };
  });
}

/** Devices of the workspace by their last uplink, the oldest first. Others never sent one. */
export function silentDevices(
  db: RecordsDb,
  workspaceId: string,
  max: number,
): Promise<readonly SilentDevice[]> {
  return statusesIn(db, workspaceId)
    .select(['deviceStatus.lastUplinkAt', 'deviceStatus.onlineUntil'])
    .orderBy('deviceStatus.lastUplinkAt')
    .limit(max)
    .execute();
}
