// When devices were last heard, for rules of silence: in the order of that time, so that the others are not read.
import { sql } from 'kysely';
import type { EpochMs } from '../../../model/instant.ts';
import { isOneOf } from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import { isAtPlaces } from './places.ts';

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

/** Devices of the workspace that were heard last behind the place and by `to`. */
export async function devicesHeardBy(
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
  const found = await devicesHeard(
    db,
    places.map(({ deviceId }) => deviceId),
  );
  const last = places.length === max ? places.at(-1) : undefined;
  return { devices: found, next: last && { at: last.lastUplinkAt, deviceId: last.deviceId } };
}

/** Devices of the workspace that were created behind the place and by `to`; the earliest first. */
export async function devicesCreatedBy(
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
export async function devicesHeard(
  db: RecordsDb,
  deviceIds: readonly string[],
): Promise<readonly HeardDevice[]> {
  if (deviceIds.length === 0) return [];
  return heardDevices(db).where(isOneOf('devices.id', deviceIds)).execute();
}

/** Devices with one of the ids or tags, or below one of the places among the tags, behind an id, in the order of their ids. */
export async function devicesAmong(
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
  const found = await devicesHeard(db, ids);
  return found.toSorted((a, b) => (a.deviceId < b.deviceId ? -1 : 1));
}

/** The shortest online timeout of the workspace's devices; undefined without devices. */
export async function shortestTimeoutMs(
  db: RecordsDb,
  workspaceId: string,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('devices')
    .select((eb) => eb.fn.min('onlineTimeoutSeconds').as('seconds'))
    .where('workspaceId', '=', workspaceId)
    .executeTakeFirst();
  return row?.seconds === null || row === undefined ? undefined : Number(row.seconds) * 1_000;
}

/** The earliest last uplink of the workspace's devices behind the time; undefined without one. */
export async function firstHeardBehind(
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

/** Ids of devices that the rule has found silent, behind an id. */
export async function silentDevices(
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
