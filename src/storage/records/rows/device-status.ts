// What is known of each device's last uplink, and the state its decoder keeps.
import { CompiledQuery, type Selectable, sql, type SqlBool } from 'kysely';
import type { EpochMs } from '../../../model/instant.ts';
import type { JsonObject } from '../../../model/json.ts';
import {
  type DeviceMetrics,
  type UplinkMetrics,
  withLastKnown,
} from '../../../model/uplink-metrics.ts';
import { fromJsonText, isOneOf, toJsonText } from '../columns.ts';
import { idsPerStatement, padded } from '../engine.ts';
import { insertRows, keptText, type Replacement } from './record-rows.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { isAtPlaces } from './places.ts';

/**
 * With several nodes: the epoch of the device's owner that writes, and the position of its journal.
 * What a later owner has written, or this one at a later position, stays.
 */
type StatusFence = (deviceId: string) => {
  readonly epoch: number;
  readonly position: number;
};

/** What a later owner has written, or this one at a later position, stays. */
const isNewerStatus = sql<SqlBool>`(${sql.ref('deviceStatus.epoch')}, ${sql.ref('deviceStatus.position')}) <= (${sql.ref('excluded.epoch')}, ${sql.ref('excluded.position')})`;
const isNewerState = sql<SqlBool>`(${sql.ref('deviceState.epoch')}, ${sql.ref('deviceState.position')}) <= (${sql.ref('excluded.epoch')}, ${sql.ref('excluded.position')})`;
const isLaterUplink = sql<SqlBool>`${sql.ref('deviceStatus.lastUplinkAt')} <= ${sql.ref('excluded.lastUplinkAt')}`;

/** A device that was not online before an uplink, or that is gone with it. */
interface OnlineChange {
  readonly workspaceId: string;
  readonly deviceId: string;
  readonly state: 'ONLINE' | 'OFFLINE';
  /** UNKNOWN before the first uplink. */
  readonly previousState: 'ONLINE' | 'OFFLINE' | 'UNKNOWN';
  readonly lastUplinkAt: EpochMs;
}

/** The time-out is the difference of both columns, unless the device is or was gone. */
const onlineUntil = sql<number>`case
  when ${sql.ref('excluded.onlineUntil')} <= ${sql.ref('excluded.lastUplinkAt')} then ${sql.ref('excluded.onlineUntil')}
  when ${sql.ref('deviceStatus.onlineUntil')} <= ${sql.ref('deviceStatus.lastUplinkAt')} then ${sql.ref('excluded.onlineUntil')}
  else ${sql.ref('deviceStatus.onlineUntil')} + ${sql.ref('excluded.lastUplinkAt')} - ${sql.ref('deviceStatus.lastUplinkAt')} end`;

/** The only platform writes without a fence. */
const newerStatus: Replacement<'deviceStatus'> = {
  key: ['deviceId'],
  set: {
    lastUplinkAt: 'lastUplinkAt',
    uplinkMetrics: 'uplinkMetrics',
    batteryLevel: 'batteryLevel',
    onlineUntil,
  },
  where: isLaterUplink,
};
const newerFencedStatus: Replacement<'deviceStatus'> = {
  key: ['deviceId'],
  set: { ...newerStatus.set, epoch: 'epoch', position: 'position' },
  where: sql<SqlBool>`${isLaterUplink} and ${isNewerStatus}`,
};

const newState: Replacement<'deviceState'> = { key: ['deviceId'], set: { state: 'state' } };
const newerFencedState: Replacement<'deviceState'> = {
  key: ['deviceId'],
  set: { ...newState.set, epoch: 'epoch', position: 'position' },
  where: isNewerState,
};

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

/** Whether the end of its online time cannot be moved: it is gone, or was never heard. */
function isOfflineBefore(earlier: StatusRow | undefined): boolean {
  if (earlier === undefined) return true;
  const { onlineUntil, lastUplinkAt } = earlier;
  return onlineUntil !== null && onlineUntil <= lastUplinkAt;
}

/** Undefined unless the uplink makes the device online, or says that it is gone. */
function onlineChange(
  { deviceId, timestamp, isGone }: UplinkMetrics,
  earlier: StatusRow | undefined,
  device: DeviceColumns | undefined,
): OnlineChange | undefined {
  const about = {
    deviceId,
    lastUplinkAt: timestamp,
    state: isGone ? 'OFFLINE' : 'ONLINE',
  } as const;
  if (earlier === undefined) {
    if (device === undefined || device.registered === 0) return undefined;
    const { workspaceId } = device;
    return { ...about, workspaceId, previousState: 'UNKNOWN' };
  }
  const { workspaceId, onlineUntil } = earlier;
  if (workspaceId === null || onlineUntil === null) return undefined;
  const previousState = onlineUntil > timestamp ? 'ONLINE' : 'OFFLINE';
  return previousState === about.state ? undefined : { ...about, workspaceId, previousState };
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
 * The columns of a first status. Triggers change them with the device (`0001-schema.ts`), and a later
 * uplink moves the time.
 */
function onlineColumns(
  { timestamp, isGone }: UplinkMetrics,
  device: DeviceColumns | undefined,
): Pick<Selectable<RecordTables['deviceStatus']>, 'workspaceId' | 'onlineUntil'> {
  if (device === undefined) return { workspaceId: null, onlineUntil: isGone ? timestamp : null };
  const { workspaceId, onlineTimeoutSeconds, registered } = device;
  if (registered === 0) return { workspaceId, onlineUntil: null };
  const onlineMs = isGone ? 0 : onlineTimeoutSeconds * 1_000;
  return { workspaceId, onlineUntil: timestamp + onlineMs };
}

async function findStatuses(
  db: RecordsDb,
  deviceIds: readonly string[],
): Promise<Map<string, StatusRow>> {
  const statuses = new Map<string, StatusRow>();
  for (let from = 0; from < deviceIds.length; from += idsPerStatement) {
    const ids = padded(deviceIds.slice(from, from + idsPerStatement));
    const text = keptText(db, findStatuses, String(ids.length), () =>
      db.selectFrom('deviceStatus').selectAll().where('deviceId', 'in', ids).compile(),
    );
    const { rows } = await db.executeQuery<StatusRow>(CompiledQuery.raw(text, ids));
    for (const row of rows) statuses.set(row.deviceId, row);
  }
  return statuses;
}

/** The states that decoders emitted last. */
class DeviceStateRows {
  /**
   * The states that decoders emitted last, of at most `idsPerStatement` devices; those without one are
   * absent.
   */
  async find(db: RecordsDb, deviceIds: readonly string[]): Promise<Map<string, JsonObject>> {
    const rows = await db
      .selectFrom('deviceState')
      .selectAll()
      .where('deviceId', 'in', padded(deviceIds))
      .execute();
    return new Map(rows.map(({ deviceId, state }) => [deviceId, fromJsonText<JsonObject>(state)]));
  }

  /** Replaces the decoders' states. The transaction is the caller's. */
  async save(
    step: RecordsDb,
    states: ReadonlyMap<string, JsonObject>,
    fence?: StatusFence,
  ): Promise<void> {
    const rows = [...states].map(([deviceId, state]) => ({
      deviceId,
      state: toJsonText(state),
      ...fence?.(deviceId),
    }));
    await insertRows(step, 'deviceState', rows, fence === undefined ? newState : newerFencedState);
  }
}

export const deviceStateRows = new DeviceStateRows();

// Offline devices: those whose online time ended within a period, without reading the others.

/** The place behind which the next devices are. */
export interface OfflinePlace {
  readonly onlineUntil: EpochMs;
  readonly deviceId: string;
}

export interface WentOffline extends OfflinePlace {
  readonly lastUplinkAt: EpochMs;
}

class DeviceStatusRows {
  /**
   * Keeps the newest metrics of each device; older ones and repetitions change nothing. Returns the
   * devices of the watched workspaces that came online or are gone. The transaction is the caller's.
   */
  async saveMetrics(
    step: RecordsDb,
    metrics: readonly DeviceMetrics[],
    isWatched: (workspaceId: string) => boolean = () => false,
    fence?: StatusFence,
  ): Promise<readonly OnlineChange[]> {
    const changes: OnlineChange[] = [];
    const newestOfEach = newestByDevice(metrics);
    for (let from = 0; from < newestOfEach.length; from += idsPerStatement) {
      const some = newestOfEach.slice(from, from + idsPerStatement);
      // What a device reported earlier stays until it reports it again.
      const earlier = await findStatuses(
        step,
        some.map(({ deviceId }) => deviceId),
      );
      const devices = await devicesOf(
        step,
        // The end of the online time of others follows from the one before.
        some.filter(({ deviceId }) => isOfflineBefore(earlier.get(deviceId))),
      );
      for (const newest of some) {
        const { deviceId } = newest;
        const change = onlineChange(newest, earlier.get(deviceId), devices.get(deviceId));
        if (change !== undefined && isWatched(change.workspaceId)) changes.push(change);
      }
      const rows = some
        .map((newest) => withLastKnown(newest, metricsOfRow(earlier.get(newest.deviceId))))
        .map((known) => ({
          deviceId: known.deviceId,
          lastUplinkAt: known.timestamp,
          uplinkMetrics: toJsonText(known),
          batteryLevel: known.batteryLevel ?? null,
          ...onlineColumns(known, devices.get(known.deviceId)),
          ...fence?.(known.deviceId),
        }));
      await insertRows(
        step,
        'deviceStatus',
        rows,
        fence === undefined ? newerStatus : newerFencedStatus,
      );
    }
    return changes;
  }

  /** The metrics of the devices' last uplinks; devices never heard are absent. */
  async metrics(db: RecordsDb, deviceIds: readonly string[]): Promise<Map<string, DeviceMetrics>> {
    const rows = await findStatuses(db, deviceIds);
    return new Map(
      [...rows].map(([id, row]) => [id, fromJsonText<DeviceMetrics>(row.uplinkMetrics)]),
    );
  }

  /** The next devices of the workspace that are offline by `to`, in the order of their times. */
  async goneOffline(
    db: RecordsDb,
    workspaceId: string,
    {
      after,
      to,
      max,
    }: { readonly after: OfflinePlace; readonly to: EpochMs; readonly max: number },
  ): Promise<readonly WentOffline[]> {
    const timeouts = db
      .selectFrom('devices')
      .select('onlineTimeoutSeconds as seconds')
      .where('workspaceId', '=', workspaceId);
    // One end of an index each, which a query for both would read as a whole.
    const shortest = await timeouts.orderBy('seconds').limit(1).executeTakeFirst();
    const longest = await timeouts.orderBy('seconds', 'desc').limit(1).executeTakeFirst();
    if (shortest === undefined || longest === undefined) return [];
    // The limits of the last uplink let the index skip nearly all other devices.
    const rows = await db
      .selectFrom('deviceStatus')
      .select(['deviceId', 'onlineUntil', 'lastUplinkAt'])
      .where('workspaceId', '=', workspaceId)
      .where('lastUplinkAt', '>=', after.onlineUntil - longest.seconds * 1_000)
      .where('lastUplinkAt', '<=', to - shortest.seconds * 1_000)
      .where('onlineUntil', '<=', to)
      // Those that said that they are gone were reported then.
      .whereRef('onlineUntil', '>', 'lastUplinkAt')
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple('onlineUntil', 'deviceId'), '>', tuple(after.onlineUntil, after.deviceId)),
      )
      .orderBy('onlineUntil')
      .orderBy('deviceId')
      .limit(max)
      .execute();
    return rows.map((row) => ({ ...row, onlineUntil: row.onlineUntil ?? to }));
  }

  /** The earliest last uplink of the workspace's devices behind the time; undefined without one. */
  async firstHeardBehind(
    db: RecordsDb,
    workspaceId: string,
    time: EpochMs,
  ): Promise<EpochMs | undefined> {
    const row = await db
      .selectFrom('deviceStatus')
      .select('lastUplinkAt')
      .where('workspaceId', '=', workspaceId)
      .where('lastUplinkAt', '>', time)
      .orderBy('lastUplinkAt')
      .limit(1)
      .executeTakeFirst();
    return row?.lastUplinkAt;
  }
}

export const deviceStatusRows = new DeviceStatusRows();

// When devices were last heard, for rules of silence: in the order of that time, so that the others are not read.

/** A device, and since when it is silent. */
export interface HeardDevice {
  readonly deviceId: string;
  readonly workspaceId: string;
  /** Null for a device that never sent. */
  readonly lastUplinkAt: EpochMs | null;
  readonly created: EpochMs;
  /** Its own online timeout. */
  readonly timeoutMs: number;
}

/** A place in a list that is ordered by a time, then by id. */
export interface TimedPlace {
  readonly at: EpochMs;
  readonly deviceId: string;
}

function heardDevices(db: RecordsDb) {
  return (
    db
      .selectFrom('devices')
      .leftJoin('deviceStatus', 'deviceStatus.deviceId', 'devices.id')
      .select([
        'devices.id as deviceId',
        'devices.workspaceId',
        'devices.created',
        'deviceStatus.lastUplinkAt',
        sql<number>`"devices"."onlineTimeoutSeconds" * 1000`.as('timeoutMs'),
      ])
      // A network server does not hear one that it was told to forget.
      .where((eb) =>
        eb.or([eb('devices.registered', 'is', null), eb('devices.registered', '=', 1)]),
      )
  );
}

/** A page of devices; `next` is the place behind it, undefined behind the last page. */
interface HeardPage {
  readonly devices: readonly HeardDevice[];
  readonly next: TimedPlace | undefined;
}

/** When devices were last heard, for rules of silence. */
class HeardDeviceRows {
  /** Devices of the workspace that were heard last behind the place and by `to`. */
  async heardBy(
    db: RecordsDb,
    workspaceId: string,
    { after, to, max }: { readonly after: TimedPlace; readonly to: EpochMs; readonly max: number },
  ): Promise<HeardPage> {
    const places = await db
      .selectFrom('deviceStatus')
      .select(['deviceId', 'lastUplinkAt'])
      .where('workspaceId', '=', workspaceId)
      .where(sql<boolean>`("lastUplinkAt", "deviceId") > (${after.at}, ${after.deviceId})`)
      .where('lastUplinkAt', '<=', to)
      .orderBy('lastUplinkAt')
      .orderBy('deviceId')
      .limit(max)
      .execute();
    const found = await this.find(
      db,
      places.map(({ deviceId }) => deviceId),
    );
    const last = places.length === max ? places.at(-1) : undefined;
    return { devices: found, next: last && { at: last.lastUplinkAt, deviceId: last.deviceId } };
  }

  /** Devices of the workspace that were created behind the place and by `to`; the earliest first. */
  async createdBy(
    db: RecordsDb,
    workspaceId: string,
    { after, to, max }: { readonly after: TimedPlace; readonly to: EpochMs; readonly max: number },
  ): Promise<HeardPage> {
    const devices = await heardDevices(db)
      .where('devices.workspaceId', '=', workspaceId)
      .where(sql<boolean>`("devices"."created", "devices"."id") > (${after.at}, ${after.deviceId})`)
      .where('devices.created', '<=', to)
      .orderBy('devices.created')
      .orderBy('devices.id')
      .limit(max)
      .execute();
    const last = devices.length === max ? devices.at(-1) : undefined;
    return { devices, next: last && { at: last.created, deviceId: last.deviceId } };
  }

  /** Those of the devices that exist. */
  async find(db: RecordsDb, deviceIds: readonly string[]): Promise<readonly HeardDevice[]> {
    if (deviceIds.length === 0) return [];
    return heardDevices(db).where(isOneOf('devices.id', deviceIds)).execute();
  }

  /** Devices with one of the ids or tags, or below one of the places among the tags, behind an id, in the order of their ids. */
  async among(
    db: RecordsDb,
    {
      deviceIds,
      tagIds,
    }: { readonly deviceIds: readonly string[]; readonly tagIds: readonly string[] },
    after: string,
    max: number,
  ): Promise<readonly HeardDevice[]> {
    const tagged = await db
      .selectFrom('deviceTags')
      .select('deviceId')
      .distinct()
      .where(isOneOf('tagId', tagIds))
      .where('deviceId', '>', after)
      .orderBy('deviceId')
      .limit(max)
      .execute();
    const placed = await db
      .selectFrom('devices')
      .select('devices.id as deviceId')
      .where(isAtPlaces(tagIds))
      .where('devices.id', '>', after)
      .orderBy('devices.id')
      .limit(max)
      .execute();
    // Behind the end of a full page there may be devices that it does not show.
    const ends = [tagged, placed].flatMap((page) =>
      page.length === max ? (page.at(-1)?.deviceId ?? []) : [],
    );
    const last = ends.length > 0 ? ends.reduce((a, b) => (a < b ? a : b)) : undefined;
    const candidates = [...deviceIds, ...[...tagged, ...placed].map(({ deviceId }) => deviceId)];
    const ids = [...new Set(candidates)]
      .filter((id) => id > after && (last === undefined || id <= last))
      .sort();
    const found = await this.find(db, ids);
    return found.toSorted((a, b) => (a.deviceId < b.deviceId ? -1 : 1));
  }

  /** The shortest online timeout of the workspace's devices; undefined without devices. */
  async shortestTimeoutMs(db: RecordsDb, workspaceId: string): Promise<number | undefined> {
    const row = await db
      .selectFrom('devices')
      .select((eb) => eb.fn.min('onlineTimeoutSeconds').as('seconds'))
      .where('workspaceId', '=', workspaceId)
      .executeTakeFirst();
    return row?.seconds === null || row === undefined ? undefined : Number(row.seconds) * 1_000;
  }

  /** Ids of devices that the rule has found silent, behind an id. */
  async silent(
    db: RecordsDb,
    ruleId: string,
    after: string,
    max: number,
  ): Promise<readonly string[]> {
    const rows = await db
      .selectFrom('ruleDeviceStates')
      .select('deviceId')
      .where('ruleId', '=', ruleId)
      .where('deviceId', '>', after)
      .where('holds', '=', '1')
      .orderBy('deviceId')
      .limit(max)
      .execute();
    return rows.map(({ deviceId }) => deviceId);
  }
}

export const heardDeviceRows = new HeardDeviceRows();
