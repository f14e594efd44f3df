// Workspace overview: the figures of a workspace, from counters and indexes (contract 37).
import { sql } from 'kysely';
import { dayMs, type EpochMs, formatInstant, hourMs, minuteMs } from '../../model/instant.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { batteryPercents, type UplinkMetrics } from '../../model/uplink-metrics.ts';
import { fromJsonText } from '../../storage/records/columns.ts';
import type { Records, RecordsDb } from '../../storage/records/records.ts';
import { countAlarms } from '../../storage/records/rows/alarms.ts';
import { stateCounts } from '../../storage/records/rows/device-totals.ts';
import { outputConnectorRows } from '../../storage/records/rows/data-flows.ts';
import {
  periodCountsOf,
  periodOf,
  sumPeriodCounts,
} from '../../storage/records/rows/period-counts.ts';
import { reportRows } from '../../storage/records/rows/reports.ts';
import { isAtPlaces, placeRows } from '../../storage/records/rows/places.ts';
import type { WorkspaceUsage } from '../../storage/samples/sample-store.ts';
import type { WaitingOf } from '../health/health.ts';
import { found } from '../record-change.ts';

export interface OverviewSources {
  /** By workspace. */
  readonly usage: () => Promise<ReadonlyMap<string, WorkspaceUsage>>;
  /** What waits, of output connectors with such deliveries. */
  readonly waitingOf: WaitingOf;
}

/** Devices in each list. */
const shownMax = 10;
const minutes = 60;
const ofDay = ['delivered', 'failed', 'scriptErrors'] as const;

/**
 * Devices are listed only for those who may read them. With a place, devices, alarms and lists are of
 * what is there and below. Throws 404 for a place of another workspace.
 */
export async function readOverview(
  records: Records,
  principal: Principal,
  { workspaceId, placeId }: { readonly workspaceId: string; readonly placeId?: string | undefined },
  { usage, waitingOf }: OverviewSources,
) {
  const { organizationId } = principal;
  const db = records.elsewhere(organizationId);
  const now = records.now();
  const mayList = holds(principal, 'asset', 'read', workspaceId);
  const max = mayList ? shownMax : 0;
  if (placeId !== undefined) {
    const place = await placeRows.find(db, placeId);
    found(place?.workspaceId === workspaceId ? place : undefined, 'place', placeId);
  }
  const from = periodOf('delivered', now - dayMs + 1);
  const sum = await sumPeriodCounts(db, [workspaceId], ofDay, from);
  const { samples = 0, bytes = 0 } = (await usage()).get(workspaceId) ?? {};
  const low = await lowBatteries(db, { workspaceId, placeId }, max);
  const silent = await silentDevices(db, { workspaceId, placeId }, max);
  const mayReadReports =
    placeId === undefined && holds(principal, 'dashboard', 'read', workspaceId);
  const stopped = mayReadReports ? await reportRows.stopped(db, workspaceId, shownMax) : [];
  const waiting = await waitingOf(await outputConnectorRows.idsOf(db, workspaceId));
  return {
    devices:
      placeId === undefined
        ? await stateCounts(db, workspaceId, now)
        : await placeRows.stateCountsAt(db, placeId, now),
    samplesPerMinute: await samplesPerMinute(db, workspaceId, now),
    samples,
    bytes,
    deliveries: {
      delivered: sum(workspaceId, 'delivered'),
      waiting: [...waiting.values()].reduce((total, one) => total + one.waiting, 0),
      failed: sum(workspaceId, 'failed'),
    },
    alarms: await countAlarms(db, workspaceId, placeId),
    scriptErrors: sum(workspaceId, 'scriptErrors'),
    stoppedReports: stopped.flatMap(({ id, name, dashboardId, problem }) =>
      problem === null ? [] : [{ id, name, dashboardId, reason: problem.reason }],
    ),
    lowBattery: low.map(({ batteryAt, ...device }) => ({
      ...device,
      batteryTimestamp: formatInstant(batteryAt),
    })),
    silent: silent.map(({ lastUplinkAt, onlineUntil, ...device }) => ({
      ...device,
      lastUplink: formatInstant(lastUplinkAt),
      online: onlineUntil !== null && onlineUntil > now,
    })),
  };
}

async function samplesPerMinute(
  db: RecordsDb,
  workspaceId: string,
  now: EpochMs,
): Promise<number[]> {
  const last = periodOf('samples', now);
  const from = last - hourMs + minuteMs;
  const counts = await periodCountsOf(db, workspaceId, 'samples', from);
  return Array.from({ length: minutes }, (_, minute) => counts.get(from + minute * minuteMs) ?? 0);
}

// Devices that need attention: low batteries and silence, read from indexes (contract 37).

interface NamedDevice {
  readonly id: string;
  readonly name: string;
  /** Physical id. */
  readonly deviceId: string;
}

interface LowBattery extends NamedDevice {
  readonly batteryLevel: number;
  readonly batteryAt: EpochMs;
}

interface SilentDevice extends NamedDevice {
  readonly lastUplinkAt: EpochMs;
  /** Null for a device that its network server does not know. */
  readonly onlineUntil: EpochMs | null;
}

interface Listed {
  readonly workspaceId: string;
  readonly placeId?: string | undefined;
}

function statusesIn(db: RecordsDb, { workspaceId, placeId }: Listed) {
  const statuses = db
    .selectFrom('deviceStatus')
    .innerJoin('devices', 'devices.id', 'deviceStatus.deviceId')
    .select(['devices.id', 'devices.name', 'devices.deviceId'])
    .where('deviceStatus.workspaceId', '=', workspaceId);
  return placeId === undefined ? statuses : statuses.where(isAtPlaces([placeId]));
}

/** Devices with a low battery, the lowest first. */
async function lowBatteries(
  db: RecordsDb,
  of: Listed,
  max: number,
): Promise<readonly LowBattery[]> {
  const rows = await statusesIn(db, of)
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

/** Devices by their last uplink, the oldest first. Others never sent one. */
function silentDevices(db: RecordsDb, of: Listed, max: number): Promise<readonly SilentDevice[]> {
  return statusesIn(db, of)
    .select(['deviceStatus.lastUplinkAt', 'deviceStatus.onlineUntil'])
    .orderBy('deviceStatus.lastUplinkAt')
    .limit(max)
    .execute();
}
