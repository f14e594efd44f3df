// Saved views and preferences in the records store: shared with a workspace, or visible only to their owner.
import type { Insertable, Selectable } from 'kysely';
import type { EpochMs } from '../../../model/instant.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { PageRequest } from '../../../model/page.ts';
import type { View } from '../../../model/arrangements.ts';
import { fromFlag, fromJsonText, searchTextOf, toFlag, toJsonText } from '../columns.ts';
import { sortColumns, type WorkspaceFilter } from '../list.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { RecordRows } from './record-rows.ts';

type Table = RecordTables['views'];

function toRow(record: View): Insertable<Table> {
  return {
    ...record,
    shared: toFlag(record.shared),
    content: toJsonText(record.content),
    searchText: searchTextOf(record.name),
  };
}

function fromRow({ searchText: _, ...row }: Selectable<Table>): View {
  return { ...row, shared: fromFlag(row.shared), content: fromJsonText<JsonObject>(row.content) };
}

class ViewRows extends RecordRows<'views', View> {
  override async list(
    db: RecordsDb,
    filter: WorkspaceFilter & {
      /** Whose views are listed besides the shared ones. */
      readonly viewerId: string;
      readonly kind?: string | undefined;
    },
    page: PageRequest,
  ) {
    let query = this.filtered(db, filter).where((is) =>
      is.or([is('shared', '=', 1), is('ownerId', '=', filter.viewerId)]),
    );
    if (filter.kind !== undefined) query = query.where('kind', '=', filter.kind);
    return this.page(db, query, page);
  }

  async countOf(db: RecordsDb, { workspaceId, ownerId }: View): Promise<number> {
    const { count } = await db
      .selectFrom('views')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('workspaceId', '=', workspaceId)
      .where('ownerId', '=', ownerId)
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /**
   * Those that no one else sees, when their owner leaves. With an organization only those of its
   * workspaces.
   */
  async removePrivateOf(db: RecordsDb, ownerId: string, organizationId?: string): Promise<void> {
    let query = db.deleteFrom('views').where('ownerId', '=', ownerId).where('shared', '=', 0);
    if (organizationId !== undefined) query = query.where('organizationId', '=', organizationId);
    await query.execute();
  }
}

export const viewRows = new ViewRows('views', toRow, fromRow, {
  columns: { ...sortColumns, kind: 'kind' },
});

// Preferences in the records store: one JSON object for each user, API key or OAuth client.

class PreferenceRows {
  /** Empty for an owner who has stored nothing. */
  async find(db: RecordsDb, ownerId: string): Promise<JsonObject> {
    const query = db.selectFrom('preferences').select('content').where('ownerId', '=', ownerId);
    const row = await query.executeTakeFirst();
    if (row === undefined) return {};
    return fromJsonText<JsonObject>(row.content);
  }

  async save(
    db: RecordsDb,
    { ownerId, preferences }: { readonly ownerId: string; readonly preferences: JsonObject },
    now: EpochMs,
  ): Promise<void> {
    const content = toJsonText(preferences);
    await db
      .insertInto('preferences')
      .values({ ownerId, content, updated: now })
      .onConflict((conflict) => conflict.column('ownerId').doUpdateSet({ content, updated: now }))
      .execute();
  }

  /** When their owner is deleted. */
  async removeOf(db: RecordsDb, ownerId: string): Promise<void> {
    await db.deleteFrom('preferences').where('ownerId', '=', ownerId).execute();
  }
}

export const preferenceRows = new PreferenceRows();
