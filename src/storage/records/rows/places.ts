// Places in the records store: the tree, its closure `placeAncestors`, and which devices are where (contract 39.2).
import { type Insertable, type RawBuilder, type Selectable, sql } from 'kysely';
import { type AlarmSeverity, severityRank } from '../../../model/alarm.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { PathStep, PlaceRecord } from '../../../model/place.ts';
import type { PageRequest } from '../../../model/page.ts';
import {
  fromJsonText,
  fromJsonTextOrNull,
  isOneOf,
  keyOf,
  searchTextOf,
  toJsonText,
  toJsonTextOrNull,
} from '../columns.ts';
import { idsPerStatement, padded } from '../engine.ts';
import { sortColumns, type WorkspaceFilter } from '../list.ts';
import { insertRows, RecordRows } from './record-rows.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { tagRows } from './tags.ts';

type Table = RecordTables['places'];

function toRow(record: PlaceRecord): Insertable<Table> {
  return {
    ...record,
    position: toJsonTextOrNull(record.position),
    plan: toJsonTextOrNull(record.plan),
    properties: toJsonText(record.properties),
    nameKey: keyOf(record.name),
    searchText: searchTextOf(record.name, record.kind, record.externalId),
  };
}

function fromRow({ searchText: _, nameKey: __, ...row }: Selectable<Table>): PlaceRecord {
  return {
    ...row,
    position: fromJsonTextOrNull(row.position),
    plan: fromJsonTextOrNull(row.plan),
    properties: fromJsonText(row.properties),
  };
}

/** The closure is written with the rows: a query never walks the tree. */
class PlaceRows extends RecordRows<'places', PlaceRecord> {
  override async list(
    db: RecordsDb,
    filter: WorkspaceFilter & {
      /** Null: those at the top. */
      readonly parentId?: string | null | undefined;
      readonly hasPlan?: boolean | undefined;
    },
    page: PageRequest,
  ) {
    let query = this.filtered(db, filter);
    if (filter.parentId === null) query = query.where('parentId', 'is', null);
    else if (filter.parentId !== undefined) query = query.where('parentId', '=', filter.parentId);
    if (filter.hasPlan !== undefined)
      query = query.where('plan', filter.hasPlan ? 'is not' : 'is', null);
    return this.page(db, query, page);
  }

  override async insert(db: RecordsDb, record: PlaceRecord) {
    await super.insert(db, record);
    await db
      .insertInto('placeAncestors')
      .values({ placeId: record.id, ancestorId: record.id, depth: 0 })
      .execute();
    if (record.parentId !== null) await hang(db, record.id, record.parentId);
  }

  /** With a new parent, all that is below moves with the place. */
  override async save(db: RecordsDb, record: PlaceRecord) {
    const before = await this.find(db, record.id);
    await super.save(db, record);
    if (before === undefined || before.parentId === record.parentId) return;
    await unhang(db, record.id);
    if (record.parentId !== null) await hang(db, record.id, record.parentId);
  }

  /**
   * Inserts places whose parents exist or are before them; `above` has the ids of all places above
   * each, the nearest first.
   */
  async insertAll(
    db: RecordsDb,
    places: readonly { readonly record: PlaceRecord; readonly above: readonly string[] }[],
  ): Promise<void> {
    await insertRows(
      db,
      'places',
      places.map(({ record }) => toRow(record)),
    );
    await insertClosure(db, new Map(places.map(({ record, above }) => [record.id, above])));
  }

  /**
   * Writes every column. `above` has the ids of all places above those that hang elsewhere now, or are
   * below such a place.
   */
  async saveAll(
    db: RecordsDb,
    records: readonly PlaceRecord[],
    above: ReadonlyMap<string, readonly string[]>,
  ): Promise<void> {
    // Places may exchange external ids, which are unique at every moment.
    const ids = records.map(({ id }) => id);
    for (let from = 0; from < ids.length; from += idsPerStatement)
      await db
        .updateTable('places')
        .set({ externalId: null })
        .where('id', 'in', padded(ids.slice(from, from + idsPerStatement)))
        .execute();
    const rows = records.map(toRow);
    const columns = Object.keys(rows[0] ?? {}).filter((column) => column !== 'id');
    const set = Object.fromEntries(columns.map((column) => [column, column]));
    await insertRows(db, 'places', rows, { key: ['id'], set });
    const moved = [...above.keys()];
    for (let from = 0; from < moved.length; from += idsPerStatement)
      await db
        .deleteFrom('placeAncestors')
        .where('placeId', 'in', padded(moved.slice(from, from + idsPerStatement)))
        .execute();
    await insertClosure(db, above);
  }

  /** The physical ids of the devices directly at each place of the workspace. */
  async deviceIdsByPlace(db: RecordsDb, workspaceId: string): Promise<Map<string, string[]>> {
    const rows = await db
      .selectFrom('devices')
      .select(['placeId', 'deviceId'])
      .where('workspaceId', '=', workspaceId)
      .where('placeId', 'is not', null)
      .orderBy('deviceId')
      .execute();
    const found = new Map<string, string[]>();
    for (const { placeId, deviceId } of rows) {
      if (placeId === null) continue;
      const ids = found.get(placeId);
      if (ids === undefined) found.set(placeId, [deviceId]);
      else ids.push(deviceId);
    }
    return found;
  }

  /** Every place of the workspace, in order of id. */
  async ofWorkspace(db: RecordsDb, workspaceId: string): Promise<PlaceRecord[]> {
    const query = this.select(db).where('workspaceId', '=', workspaceId);
    return this.readAll(db, query.orderBy('id'));
  }

  async count(db: RecordsDb, workspaceId: string): Promise<number> {
    const query = db.selectFrom('places').select((eb) => eb.fn.countAll<number>().as('places'));
    const { places } = await query.where('workspaceId', '=', workspaceId).executeTakeFirstOrThrow();
    return Number(places);
  }

  /** A place of that name, in any case, directly below the parent. */
  async siblingNamed(
    db: RecordsDb,
    { workspaceId, parentId, name }: PlaceRecord,
  ): Promise<string | undefined> {
    const query = db
      .selectFrom('places')
      .select('id')
      .where('workspaceId', '=', workspaceId)
      .where('nameKey', '=', keyOf(name));
    const siblings =
      parentId === null
        ? query.where('parentId', 'is', null)
        : query.where('parentId', '=', parentId);
    return (await siblings.executeTakeFirst())?.id;
  }

  /** The place of the workspace with the external id. */
  async withExternalId(
    db: RecordsDb,
    workspaceId: string,
    externalId: string,
  ): Promise<string | undefined> {
    const query = db.selectFrom('places').select('id').where('workspaceId', '=', workspaceId);
    return (await query.where('externalId', '=', externalId).executeTakeFirst())?.id;
  }

  /** How many places are at and below the place, and how many levels they span. */
  async sizeOfTree(
    db: RecordsDb,
    id: string,
  ): Promise<{ readonly places: number; readonly levels: number }> {
    const row = await db
      .selectFrom('placeAncestors')
      .select((eb) => [eb.fn.countAll<number>().as('places'), eb.fn.max('depth').as('deepest')])
      .where('ancestorId', '=', id)
      .executeTakeFirstOrThrow();
    return { places: Number(row.places), levels: Number(row.deepest) + 1 };
  }

  /** The ids of the place and all below it, the deepest first. */
  async below(db: RecordsDb, id: string): Promise<string[]> {
    const rows = await db
      .selectFrom('placeAncestors')
      .select('placeId')
      .where('ancestorId', '=', id)
      .orderBy('depth', 'desc')
      .execute();
    return rows.map(({ placeId }) => placeId);
  }

  /** Removes the places; those of a tree must all be named. Their devices are at no place then. */
  async removeAll(db: RecordsDb, ids: readonly string[]): Promise<void> {
    for (let from = 0; from < ids.length; from += idsPerStatement) {
      const some = padded(ids.slice(from, from + idsPerStatement));
      await db
        .updateTable('devices')
        .set({ placeId: null, planPosition: null })
        .where('placeId', 'in', some)
        .execute();
      await db.deleteFrom('places').where('id', 'in', some).execute();
    }
  }

  /** The path of each place: the top first, itself last. Unknown ones are absent. */
  async pathsOf(db: RecordsDb, ids: readonly string[]): Promise<Map<string, PathStep[]>> {
    const paths = new Map<string, PathStep[]>();
    for (let from = 0; from < ids.length; from += idsPerStatement) {
      const rows = await db
        .selectFrom('placeAncestors')
        .innerJoin('places', 'places.id', 'placeAncestors.ancestorId')
        .select(['placeAncestors.placeId', 'places.id', 'places.name'])
        .where('placeAncestors.placeId', 'in', padded(ids.slice(from, from + idsPerStatement)))
        .orderBy('placeAncestors.depth', 'desc')
        .execute();
      for (const { placeId, id, name } of rows) {
        const path = paths.get(placeId);
        if (path === undefined) paths.set(placeId, [{ id, name }]);
        else path.push({ id, name });
      }
    }
    return paths;
  }

  /** Places without any device are absent. */
  async deviceCountsOf(db: RecordsDb, ids: readonly string[]): Promise<Map<string, PlaceCounts>> {
    const counts = new Map<string, PlaceCounts>();
    for (let from = 0; from < ids.length; from += idsPerStatement) {
      const rows = await db
        .selectFrom('placeAncestors')
        .innerJoin('devices', 'devices.placeId', 'placeAncestors.placeId')
        .select((eb) => [
          'placeAncestors.ancestorId',
          eb.fn.countAll<number>().as('below'),
          sql<number>`sum(case when "depth" = 0 then 1 else 0 end)`.as('own'),
        ])
        .where('placeAncestors.ancestorId', 'in', padded(ids.slice(from, from + idsPerStatement)))
        .groupBy('placeAncestors.ancestorId')
        .execute();
      for (const { ancestorId, own, below } of rows)
        counts.set(ancestorId, { devices: Number(own), devicesBelow: Number(below) });
    }
    return counts;
  }

  /** For each device the ids of its place and all above; devices at no place are absent. */
  async aboveDevices(db: RecordsDb, deviceIds: readonly string[]): Promise<Map<string, string[]>> {
    const found = new Map<string, string[]>();
    for (let from = 0; from < deviceIds.length; from += idsPerStatement) {
      const rows = await db
        .selectFrom('devices')
        .innerJoin('placeAncestors', 'placeAncestors.placeId', 'devices.placeId')
        .select(['devices.id', 'placeAncestors.ancestorId'])
        .where('devices.id', 'in', padded(deviceIds.slice(from, from + idsPerStatement)))
        .orderBy('placeAncestors.depth')
        .execute();
      for (const { id, ancestorId } of rows) {
        const places = found.get(id);
        if (places === undefined) found.set(id, [ancestorId]);
        else places.push(ancestorId);
      }
    }
    return found;
  }

  /** The devices at the place and below it with their workspaces, in order of name, then id. */
  async devicesOf(
    db: RecordsDb,
    placeId: string,
  ): Promise<{ readonly id: string; readonly workspaceId: string }[]> {
    return db
      .selectFrom('devices')
      .select(['devices.id', 'devices.workspaceId'])
      .where(isAtPlaces([placeId]))
      .orderBy('devices.searchText')
      .orderBy('devices.id')
      .execute();
  }

  /** Devices at the place and below it, by online state; de-registered ones count as offline. */
  async stateCountsAt(db: RecordsDb, placeId: string, now: EpochMs) {
    const isRegistered = sql<boolean>`coalesce(${sql.ref('devices.registered')}, 1) = 1`;
    const count = (condition: RawBuilder<boolean>) =>
      sql<number | null>`sum(case when ${condition} then 1 else 0 end)`;
    const row = await db
      .selectFrom('devices')
      .leftJoin('deviceStatus', 'deviceStatus.deviceId', 'devices.id')
      .select((eb) => [
        eb.fn.countAll<number>().as('total'),
        count(sql`${isRegistered} and ${sql.ref('onlineUntil')} > ${now}`).as('online'),
        count(sql`${isRegistered} and ${sql.ref('deviceStatus.deviceId')} is null`).as('unknown'),
      ])
      .where(isAtPlaces([placeId]))
      .executeTakeFirstOrThrow();
    const total = Number(row.total);
    const online = Number(row.online ?? 0);
    const unknown = Number(row.unknown ?? 0);
    return { total, online, offline: total - online - unknown, unknown };
  }

  /** Each pair of one of the places and a device at it or below it, at most `max`. */
  async devicesByPlace(
    db: RecordsDb,
    placeIds: readonly string[],
    max: number,
  ): Promise<{ readonly placeId: string; readonly deviceId: string }[]> {
    return db
      .selectFrom('placeAncestors')
      .innerJoin('devices', 'devices.placeId', 'placeAncestors.placeId')
      .select(['placeAncestors.ancestorId as placeId', 'devices.id as deviceId'])
      .where(isOneOf('placeAncestors.ancestorId', placeIds))
      .limit(max)
      .execute();
  }

  /** The ids of the places directly below the parent, null for those at the top, in order of name. */
  async childrenOf(
    db: RecordsDb,
    workspaceId: string,
    parentId: string | null,
    max: number,
  ): Promise<string[]> {
    const query = db.selectFrom('places').select('id').where('workspaceId', '=', workspaceId);
    const children =
      parentId === null
        ? query.where('parentId', 'is', null)
        : query.where('parentId', '=', parentId);
    const rows = await children.orderBy('searchText').orderBy('id').limit(max).execute();
    return rows.map(({ id }) => id);
  }

  /** Of each place: the places directly below it, and alarms of devices at it and below that are open. */
  async healthOf(db: RecordsDb, ids: readonly string[]): Promise<Map<string, PlaceHealth>> {
    const found = new Map(ids.map((id): [string, PlaceHealth] => [id, noHealth]));
    for (let from = 0; from < ids.length; from += idsPerStatement) {
      const some = padded(ids.slice(from, from + idsPerStatement));
      const below = await db
        .selectFrom('places')
        .select((eb) => ['parentId', eb.fn.countAll<number>().as('places')])
        .where('parentId', 'in', some)
        .groupBy('parentId')
        .execute();
      for (const { parentId, places } of below)
        found.set(parentId ?? '', { ...noHealth, places: Number(places) });
      const alarms = await db
        .selectFrom('placeAncestors')
        .innerJoin('devices', 'devices.placeId', 'placeAncestors.placeId')
        .innerJoin('alarms', 'alarms.deviceId', 'devices.id')
        .select((eb) => [
          'placeAncestors.ancestorId',
          'alarms.severity',
          eb.fn.countAll<number>().as('open'),
        ])
        .where('placeAncestors.ancestorId', 'in', some)
        // A literal, because a parameter does not select the index.
        .where('alarms.state', '=', sql.lit('OPEN'))
        .groupBy(['placeAncestors.ancestorId', 'alarms.severity'])
        .execute();
      for (const { ancestorId, open, ...alarm } of alarms) {
        const severity = alarm.severity as AlarmSeverity;
        const { places, openAlarms, worstSeverity } = found.get(ancestorId) ?? noHealth;
        const isWorse =
          worstSeverity === null || severityRank(severity) > severityRank(worstSeverity);
        found.set(ancestorId, {
          places,
          openAlarms: openAlarms + Number(open),
          worstSeverity: isWorse ? severity : worstSeverity,
        });
      }
    }
    return found;
  }

  /** For each device the ids of its tags, its place and all places above; those without any are absent. */
  async groupsOfDevices(
    db: RecordsDb,
    deviceIds: readonly string[],
  ): Promise<Map<string, Set<string>>> {
    const groups = new Map<string, Set<string>>();
    for (const [id, tags] of await tagRows.ofDevices(db, deviceIds))
      groups.set(id, new Set(tags.map((tag) => tag.id)));
    for (const [id, places] of await this.aboveDevices(db, deviceIds))
      groups.set(id, new Set([...(groups.get(id) ?? []), ...places]));
    return groups;
  }

  async countDevicesAt(db: RecordsDb, placeId: string): Promise<number> {
    return (await this.deviceCountsOf(db, [placeId])).get(placeId)?.devicesBelow ?? 0;
  }
}

export const placeRows = new PlaceRows('places', toRow, fromRow, {
  columns: { ...sortColumns, kind: 'kind', externalId: 'externalId' },
});

/** Joins the place and all below it with the parent and all above it. */
async function hang(db: RecordsDb, id: string, parentId: string): Promise<void> {
  await sql`
    insert into "placeAncestors" ("placeId", "ancestorId", "depth")
    select "below"."placeId", "above"."ancestorId", "below"."depth" + "above"."depth" + 1
    from "placeAncestors" as "below" cross join "placeAncestors" as "above"
    where "below"."ancestorId" = ${id} and "above"."placeId" = ${parentId}`.execute(db);
}

async function unhang(db: RecordsDb, id: string): Promise<void> {
  const below = sql`select "placeId" from "placeAncestors" where "ancestorId" = ${id}`;
  await sql`
    delete from "placeAncestors"
    where "placeId" in (${below}) and "ancestorId" not in (${below})`.execute(db);
}

async function insertClosure(
  db: RecordsDb,
  above: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  await insertRows(
    db,
    'placeAncestors',
    [...above].flatMap(([placeId, ids]) =>
      [placeId, ...ids].map((ancestorId, depth) => ({ placeId, ancestorId, depth })),
    ),
  );
}

export interface PlaceCounts {
  /** Devices directly at the place. */
  readonly devices: number;
  /** Devices at the place and below it. */
  readonly devicesBelow: number;
}

/** Whether the device is at one of the places or below it. */
export function isAtPlaces(ids: readonly string[], devices = 'devices') {
  const places = sql`select ${sql.ref('placeAncestors.placeId')} from ${sql.table('placeAncestors')} where ${isOneOf('placeAncestors.ancestorId', ids)}`;
  return sql<boolean>`${sql.ref(`${devices}.placeId`)} in (${places})`;
}

interface PlaceHealth {
  /** Directly below. */
  readonly places: number;
  readonly openAlarms: number;
  readonly worstSeverity: AlarmSeverity | null;
}

const noHealth: PlaceHealth = { places: 0, openAlarms: 0, worstSeverity: null };
