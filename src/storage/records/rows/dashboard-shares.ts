// Shares of dashboards in the records store, found by the hash of their token.
import type { EpochMs } from '../../../model/instant.ts';
import type { JsonObject } from '../../../model/json.ts';
import { fromJsonText } from '../columns.ts';
import type { RecordsDb } from '../records.ts';

export interface DashboardShare {
  readonly id: string;
  readonly tokenHash: string;
  readonly dashboardId: string;
  readonly created: EpochMs;
  /** Null for a token that is valid until it is revoked. */
  readonly expiresAt: EpochMs | null;
  readonly lastUsed: EpochMs | null;
}

const columns = ['id', 'tokenHash', 'dashboardId', 'created', 'expiresAt', 'lastUsed'] as const;

export async function insertShare(db: RecordsDb, share: DashboardShare): Promise<void> {
  await db.insertInto('dashboardShares').values(share).execute();
}

/** Those that are valid, oldest first. */
export async function sharesOf(
  db: RecordsDb,
  dashboardId: string,
  now: EpochMs,
): Promise<DashboardShare[]> {
  return db
    .selectFrom('dashboardShares')
    .select(columns)
    .where('dashboardId', '=', dashboardId)
    .where((is) => is.or([is('expiresAt', 'is', null), is('expiresAt', '>', now)]))
    .orderBy('created')
    .execute();
}

export async function removeShares(db: RecordsDb, dashboardId: string): Promise<void> {
  await db.deleteFrom('dashboardShares').where('dashboardId', '=', dashboardId).execute();
}

/** False when another request has noted a use since `before`. */
export async function saveShareUse(
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

export async function removeExpiredShares(
  db: RecordsDb,
  dashboardId: string,
  now: EpochMs,
): Promise<void> {
  await db
    .deleteFrom('dashboardShares')
    .where('dashboardId', '=', dashboardId)
    .where('expiresAt', '<=', now)
    .execute();
}

export interface SharedBy {
  /** Of the share. */
  readonly id: string;
  readonly lastUsed: EpochMs | null;
  /** Of the dashboard. */
  readonly name: string;
  readonly dashboardId: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly version: number;
}

/** The dashboard of a valid token. */
export async function dashboardOfToken(
  db: RecordsDb,
  tokenHash: string,
  now: EpochMs,
): Promise<SharedBy | undefined> {
  return db
    .selectFrom('dashboardShares')
    .innerJoin('dashboards', 'dashboards.id', 'dashboardShares.dashboardId')
    .select(['dashboardShares.id', 'lastUsed', 'dashboardId'])
    .select(['name', 'organizationId', 'workspaceId', 'version'])
    .where('tokenHash', '=', tokenHash)
    .where((is) => is.or([is('expiresAt', 'is', null), is('expiresAt', '>', now)]))
    .executeTakeFirst();
}

/** With its version, because it may have changed since the version was read. */
export async function findConfiguration(
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
