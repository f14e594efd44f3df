// What is known of each device's last uplink, and the state its decoder keeps.
import { type Selectable, sql } from 'kysely';
import type { EpochMs } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import {
  type DeviceMetrics,
  type UplinkMetrics,
  withLastKnown,
} from '../../model/uplink-metrics.ts';
import { fromJsonText, toJsonText } from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { padded } from './padded-ids.ts';

// One statement writes this many rows: few enough for every engine's parameter limit, many enough
// to be quick.
const rowsPerStatement = 100;

/** A device that was not online before an uplink. */
export interface CameOnline {
  readonly workspaceId: string;
  readonly deviceId: string;
  /** UNKNOWN before the first uplink. */
  readonly previousState: 'OFFLINE' | 'UNKNOWN';
  readonly lastUplinkAt: EpochMs;
}

/**
 * Keeps the newest metrics of each device; older ones and repetitions change nothing. Returns the
 * devices of the watched workspaces that came online. The transaction is the caller's.
 */
export async function saveUplinkMetrics(
  step: RecordsDb,
  metrics: readonly DeviceMetrics[],
  isWatched: (workspaceId: string) => boolean = () => false,
): Promise<readonly CameOnline[]> {
  const cameOnline: CameOnline[] = [];
  const newestOfEach = newestByDevice(metrics);
  for (let from = 0; from < newestOfEach.length; from += rowsPerStatement) {
    const some = newestOfEach.slice(from, from + rowsPerStatement);
    // What a device reported earlier stays until it reports it again.
    const earlier = await findStatuses(
      step,
      some.map(({ deviceId }) => deviceId),
    );
    const devices = await devicesOf(
      step,
      some.filter(({ deviceId }) => !earlier.has(deviceId)),
    );
    for (const newest of some) {
      const { deviceId } = newest;
      const change = onlineChange(newest, earlier.get(deviceId), devices.get(deviceId));
      if (change !== undefined && isWatched(change.workspaceId)) cameOnline.push(change);
    }
    const rows = some
      .map((newest) => withLastKnown(newest, metricsOfRow(earlier.get(newest.deviceId))))
      .map((known) => ({
        deviceId: known.deviceId,
        lastUplinkAt: known.timestamp,
        uplinkMetrics: toJsonText(known),
        batteryLevel: known.batteryLevel ?? null,
        ...onlineColumns(known, devices.get(known.deviceId)),
      }));
    await step
      .insertInto('deviceStatus')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .column('deviceId')
          .doUpdateSet(({ ref }) => ({
            lastUplinkAt: ref('excluded.lastUplinkAt'),
            uplinkMetrics: ref('excluded.uplinkMetrics'),
            batteryLevel: ref('excluded.batteryLevel'),
            // The time-out is the difference of both columns.
            onlineUntil: sql<number>`${ref('deviceStatus.onlineUntil')} + ${ref('excluded.lastUplinkAt')} - ${ref('deviceStatus.lastUplinkAt')}`,
          }))
          .whereRef('deviceStatus.lastUplinkAt', '<=', 'excluded.lastUplinkAt'),
      )
      .execute();
  }
  return cameOnline;
}

/** A statement writes each row once. Of equal times the last one counts. */
function newestByDevice(metrics: readonly DeviceMetrics[]): readonly DeviceMetrics[] {
  const newest = new Map<string, DeviceMetrics>();
  for (const one of metrics) {
    const known = newest.get(one.deviceId);
    if (known === undefined || known.timestamp <= one.timestamp) newest.set(one.deviceId, one);
  }
  return [...newest.values()];
}

type StatusRow = Selectable<RecordTables['deviceStatus']>;

/** Undefined unless the uplink makes the device online. */
function onlineChange(
  { deviceId, timestamp }: UplinkMetrics,
  earlier: StatusRow | undefined,
  device: DeviceColumns | undefined,
): CameOnline | undefined {
  if (earlier === undefined) {
    if (device === undefined || device.registered === 0) return undefined;
    const { workspaceId } = device;
    return { workspaceId, deviceId, previousState: 'UNKNOWN', lastUplinkAt: timestamp };
  }
  const { workspaceId, onlineUntil } = earlier;
  if (workspaceId === null || onlineUntil === null || onlineUntil > timestamp) return undefined;
  return { workspaceId, deviceId, previousState: 'OFFLINE', lastUplinkAt: timestamp };
}

function metricsOfRow(row: StatusRow | undefined): DeviceMetrics | undefined {
  return row && fromJsonText<DeviceMetrics>(row.uplinkMetrics);
}

type DeviceColumns = Pick<
  Selectable<RecordTables['devices']>,
  'id' | 'workspaceId' | 'onlineTimeoutSeconds' | 'registered'
>;

/** The devices of the metrics; deleted ones are absent. */
async function devicesOf(
  step: RecordsDb,
  metrics: readonly UplinkMetrics[],
): Promise<Map<string, DeviceColumns>> {
  if (metrics.length === 0) return new Map();
  const ids = metrics.map(({ deviceId }) => deviceId);
  const rows = await step
    .selectFrom('devices')
    .select(['id', 'workspaceId', 'onlineTimeoutSeconds', 'registered'])
    .where('id', 'in', ids)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * The columns of a first status. Triggers change them with the device (migration 80), and a later
 * uplink moves the time.
 */
function onlineColumns(
  { timestamp }: UplinkMetrics,
  device: DeviceColumns | undefined,
): Pick<Selectable<RecordTables['deviceStatus']>, 'workspaceId' | 'onlineUntil'> {
  if (device === undefined) return { workspaceId: null, onlineUntil: null };
  const { workspaceId, onlineTimeoutSeconds, registered } = device;
  const onlineUntil = registered === 0 ? null : timestamp + onlineTimeoutSeconds * 1_000;
  return { workspaceId, onlineUntil };
}

/** The metrics of the devices' last uplinks; devices never heard are absent. */
export async function findUplinkMetrics(
  db: RecordsDb,
  deviceIds: readonly string[],
): Promise<Map<string, DeviceMetrics>> {
  const rows = await findStatuses(db, deviceIds);
  return new Map(
    [...rows].map(([id, row]) => [id, fromJsonText<DeviceMetrics>(row.uplinkMetrics)]),
  );
}

async function findStatuses(
  db: RecordsDb,
  deviceIds: readonly string[],
): Promise<Map<string, StatusRow>> {
  if (deviceIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('deviceStatus')
    .selectAll()
    .where('deviceId', 'in', [...deviceIds])
    .execute();
  return new Map(rows.map((row) => [row.deviceId, row]));
}

/**
 * The states that decoders emitted last, of at most `idsPerStatement` devices; those without one are
 * absent.
 */
export async function findDeviceStates(
  db: RecordsDb,
  deviceIds: readonly string[],
): Promise<Map<string, JsonObject>> {
  const rows = await db
    .selectFrom('deviceState')
    .selectAll()
    .where('deviceId', 'in', padded(deviceIds))
    .execute();
  return new Map(rows.map(({ deviceId, state }) => [deviceId, fromJsonText<JsonObject>(state)]));
}

/** Replaces the decoders' states. The transaction is the caller's. */
export async function saveDeviceStates(
  step: RecordsDb,
  states: ReadonlyMap<string, JsonObject>,
): Promise<void> {
  const rows = [...states].map(([deviceId, state]) => ({ deviceId, state: toJsonText(state) }));
  for (let from = 0; from < rows.length; from += rowsPerStatement) {
    await step
      .insertInto('deviceState')
      .values(rows.slice(from, from + rowsPerStatement))
      .onConflict((conflict) =>
        conflict.column('deviceId').doUpdateSet(({ ref }) => ({ state: ref('excluded.state') })),
      )
      .execute();
  }
}
