// Dashboards, their groups and their shares in the records store.
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Insertable, Selectable } from 'kysely';
import type { Author } from '../../../model/principal.ts';
import type { Dashboard, DashboardGroup, DashboardVersion } from '../../../model/arrangements.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { PageRequest } from '../../../model/page.ts';
import type { ShareValues } from '../../../model/dashboard.ts';
import { fromJsonText, searchTextOf, toJsonText } from '../columns.ts';
import { sortColumns, type WorkspaceFilter } from '../list.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { RecordRows } from './record-rows.ts';

function toRow(record: Dashboard): Insertable<RecordTables['dashboards']> {
  return {
    ...record,
    configuration: toJsonText(record.configuration),
    searchText: searchTextOf(record.name),
  };
}

function fromRow({ searchText: _, ...row }: Selectable<RecordTables['dashboards']>): Dashboard {
  return { ...row, configuration: fromJsonText<JsonObject>(row.configuration) };
}

function toGroupRow(record: DashboardGroup): Insertable<RecordTables['dashboardGroups']> {
  return { ...record, searchText: searchTextOf(record.name) };
}

function fromGroupRow({
  searchText: _,
  ...row
}: Selectable<RecordTables['dashboardGroups']>): DashboardGroup {
  return row;
}

class DashboardRows extends RecordRows<'dashboards', Dashboard> {
  override async list(
    db: RecordsDb,
    filter: WorkspaceFilter & {
      readonly groupId?: string | undefined;
      readonly deviceTypeId?: string | undefined;
      readonly placeKind?: string | undefined;
    },
    page: PageRequest,
  ) {
    let query = this.filtered(db, filter);
    if (filter.groupId !== undefined) query = query.where('groupId', '=', filter.groupId);
    if (filter.deviceTypeId !== undefined)
      query = query.where('deviceTypeId', '=', filter.deviceTypeId);
    if (filter.placeKind !== undefined) query = query.where('placeKind', '=', filter.placeKind);
    return this.page(db, query, page);
  }

  /** The dashboard of the type in the workspace. */
  async findOfType(
    db: RecordsDb,
    workspaceId: string,
    deviceTypeId: string,
  ): Promise<Dashboard | undefined> {
    const query = this.select(db).where('workspaceId', '=', workspaceId);
    return this.first(db, query.where('deviceTypeId', '=', deviceTypeId));
  }

  /** The dashboard of places of the kind in the workspace. */
  async findOfPlaceKind(
    db: RecordsDb,
    workspaceId: string,
    placeKind: string,
  ): Promise<Dashboard | undefined> {
    const query = this.select(db).where('workspaceId', '=', workspaceId);
    return this.first(db, query.where('placeKind', '=', placeKind));
  }

  /** With its shares and versions. */
  override async remove(db: RecordsDb, id: string) {
    await dashboardRows.removeShares(db, id);
    await db.deleteFrom('dashboardVersions').where('dashboardId', '=', id).execute();
    await super.remove(db, id);
  }

  /** The dashboards of a group, `dashboard Name (id)`, at most `max`. */
  async ofGroup(db: RecordsDb, groupId: string, max: number): Promise<string[]> {
    const query = db.selectFrom('dashboards').select(['id', 'name']).where('groupId', '=', groupId);
    const rows = await query.orderBy('searchText').limit(max).execute();
    return rows.map((row) => `dashboard ${row.name} (${row.id})`);
  }

  /** Dashboards of the device type, `dashboard Name (id)`, at most `max`. */
  async ofType(db: RecordsDb, deviceTypeId: string, max: number): Promise<string[]> {
    const rows = await db
      .selectFrom('dashboards')
      .select(['id', 'name'])
      .where('deviceTypeId', '=', deviceTypeId)
      .orderBy('searchText')
      .limit(max)
      .execute();
    return rows.map((row) => `dashboard ${row.name} (${row.id})`);
  }

  // Versions of dashboards in the records store: each record as it was, deflated.
  /** Keeps the version, and removes all but the newest `keptMax`. */
  async insertVersion(
    db: RecordsDb,
    dashboard: Dashboard,
    {
      at,
      by,
      keptMax,
    }: { readonly at: EpochMs; readonly by: Author | null; readonly keptMax: number },
  ): Promise<void> {
    const json = Buffer.from(JSON.stringify(dashboard));
    const { id: dashboardId, version, name } = dashboard;
    await db
      .insertInto('dashboardVersions')
      .values({
        dashboardId,
        version,
        at,
        by: by === null ? null : toJsonText(by),
        name,
        bytes: json.length,
        content: deflateRawSync(json),
      })
      .execute();
    await db
      .deleteFrom('dashboardVersions')
      .where('dashboardId', '=', dashboardId)
      .where('version', '<=', version - keptMax)
      .execute();
  }

  /** The newest first. */
  async versionsOf(db: RecordsDb, dashboardId: string): Promise<DashboardVersion[]> {
    const rows = await db
      .selectFrom('dashboardVersions')
      .select(['version', 'at', 'by', 'name', 'bytes'])
      .where('dashboardId', '=', dashboardId)
      .orderBy('version', 'desc')
      .execute();
    return rows.map(({ by, ...row }) => ({
      ...row,
      by: by === null ? null : fromJsonText<Author>(by),
    }));
  }

  /** The record as it was at the version. */
  async findVersion(
    db: RecordsDb,
    dashboardId: string,
    version: number,
  ): Promise<Dashboard | undefined> {
    const row = await db
      .selectFrom('dashboardVersions')
      .select('content')
      .where('dashboardId', '=', dashboardId)
      .where('version', '=', version)
      .executeTakeFirst();
    return row && (JSON.parse(inflateRawSync(row.content).toString()) as Dashboard);
  }

  async insertShare(db: RecordsDb, share: DashboardShare): Promise<void> {
    const variables = toJsonText(share.variables);
    await db
      .insertInto('dashboardShares')
      .values({ ...share, variables })
      .execute();
  }

  /** Those that are valid, oldest first. */
  async sharesOf(db: RecordsDb, dashboardId: string, now: EpochMs): Promise<DashboardShare[]> {
    const rows = await db
      .selectFrom('dashboardShares')
      .select(columns)
      .where('dashboardId', '=', dashboardId)
      .where((is) => is.or([is('expiresAt', 'is', null), is('expiresAt', '>', now)]))
      .orderBy('created')
      .execute();
    return rows.map((row) => ({ ...row, variables: fromJsonText<ShareValues>(row.variables) }));
  }

  async removeShares(db: RecordsDb, dashboardId: string): Promise<void> {
    await db.deleteFrom('dashboardShares').where('dashboardId', '=', dashboardId).execute();
  }

  /** False when another request has noted a use since `before`. */
  async saveShareUse(
    db: RecordsDb,
    { id, now, before }: { readonly id: string; readonly now: EpochMs; readonly before: EpochMs },
  ): Promise<boolean> {
    const { numUpdatedRows } = await db
      .updateTable('dashboardShares')
      .set({ lastUsed: now })
      .where('id', '=', id)
      .where((is) => is.or([is('lastUsed', 'is', null), is('lastUsed', '<', before)]))
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  async removeExpiredShares(db: RecordsDb, dashboardId: string, now: EpochMs): Promise<void> {
    await db
      .deleteFrom('dashboardShares')
      .where('dashboardId', '=', dashboardId)
      .where('expiresAt', '<=', now)
      .execute();
  }

  /** The dashboard of a valid token. */
  async ofToken(db: RecordsDb, tokenHash: string, now: EpochMs): Promise<SharedBy | undefined> {
    const row = await db
      .selectFrom('dashboardShares')
      .innerJoin('dashboards', 'dashboards.id', 'dashboardShares.dashboardId')
      .select(['dashboardShares.id', 'lastUsed', 'dashboardId', 'variables'])
      .select(['name', 'organizationId', 'workspaceId', 'version'])
      .where('tokenHash', '=', tokenHash)
      .where((is) => is.or([is('expiresAt', 'is', null), is('expiresAt', '>', now)]))
      .executeTakeFirst();
    return row && { ...row, variables: fromJsonText<ShareValues>(row.variables) };
  }

  /** With its version, because it may have changed since the version was read. */
  async findConfiguration(
    db: RecordsDb,
    dashboardId: string,
  ): Promise<{ readonly version: number; readonly configuration: JsonObject } | undefined> {
    const row = await db
      .selectFrom('dashboards')
      .select(['version', 'configuration'])
      .where('id', '=', dashboardId)
      .executeTakeFirst();
    return row && { ...row, configuration: fromJsonText<JsonObject>(row.configuration) };
  }
}

export const dashboardRows = new DashboardRows('dashboards', toRow, fromRow, {
  columns: { ...sortColumns, groupId: 'groupId' },
});

export const dashboardGroupRows = new RecordRows('dashboardGroups', toGroupRow, fromGroupRow);

// Shares of dashboards in the records store, found by the hash of their token.

export interface DashboardShare {
  readonly id: string;
  readonly tokenHash: string;
  readonly dashboardId: string;
  /** Values of the dashboard's variables, which the link fixes. */
  readonly variables: ShareValues;
  readonly created: EpochMs;
  /** Null for a token that is valid until it is revoked. */
  readonly expiresAt: EpochMs | null;
  readonly lastUsed: EpochMs | null;
}

const columns = [
  'id',
  'tokenHash',
  'dashboardId',
  'variables',
  'created',
  'expiresAt',
  'lastUsed',
] as const;

export interface SharedBy {
  /** Of the share. */
  readonly id: string;
  readonly lastUsed: EpochMs | null;
  readonly variables: ShareValues;
  /** Of the dashboard. */
  readonly name: string;
  readonly dashboardId: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly version: number;
}
