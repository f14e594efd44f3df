// Annotations in the records store, found by time, device and place (contract 39.1).
import { type Insertable, type Selectable, sql } from 'kysely';
import type { Annotation } from '../../../model/annotation.ts';
import type { Author } from '../../../model/principal.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { PageRequest } from '../../../model/page.ts';
import { fromJsonText, isOneOf, searchTextOf, toJsonText } from '../columns.ts';
import { idsPerStatement, padded } from '../engine.ts';
import type { WorkspaceFilter } from '../list.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { isAtPlaces } from './places.ts';
import { RecordRows } from './record-rows.ts';

type Table = RecordTables['annotations'];

function toRow(record: Annotation): Insertable<Table> {
  return { ...record, by: toJsonText(record.by), searchText: searchTextOf(record.text) };
}

function fromRow({ searchText: _, ...row }: Selectable<Table>): Annotation {
  return { ...row, by: fromJsonText<Author>(row.by) };
}

class AnnotationRows extends RecordRows<'annotations', Annotation> {
  override async list(
    db: RecordsDb,
    filter: WorkspaceFilter & {
      /** Those at this instant or later, or that last until then. */
      readonly from?: EpochMs | undefined;
      /** Those before this instant. */
      readonly to?: EpochMs | undefined;
      readonly deviceIds?: readonly string[] | undefined;
      /** Of the place, of those below it, and of the devices there. */
      readonly placeId?: string | undefined;
      /** Of the devices, of their places and all above, and of no device and place. */
      readonly concerns?: readonly string[] | undefined;
    },
    page: PageRequest,
  ) {
    const { from, to, deviceIds, placeId, concerns } = filter;
    let query = this.filtered(db, filter);
    if (to !== undefined) query = query.where('at', '<', to);
    if (from !== undefined)
      query = query.where((is) => is.or([is('at', '>=', from), is('until', '>', from)]));
    if (deviceIds !== undefined) query = query.where(isOneOf('annotations.deviceId', deviceIds));
    if (placeId !== undefined) {
      const below = sql`select ${sql.ref('placeAncestors.placeId')} from ${sql.table('placeAncestors')} where ${sql.ref('ancestorId')} = ${placeId}`;
      const there = sql`select ${sql.ref('devices.id')} from ${sql.table('devices')} where ${isAtPlaces([placeId])}`;
      query = query.where(
        sql<boolean>`(${sql.ref('annotations.placeId')} in (${below}) or ${sql.ref('annotations.deviceId')} in (${there}))`,
      );
    }
    if (concerns !== undefined) {
      const above = sql`select ${sql.ref('ancestorId')} from ${sql.table('placeAncestors')} inner join ${sql.table('devices')} on ${sql.ref('devices.placeId')} = ${sql.ref('placeAncestors.placeId')} where ${isOneOf('devices.id', concerns)}`;
      const isFree = sql`${sql.ref('annotations.deviceId')} is null and ${sql.ref('annotations.placeId')} is null`;
      query = query.where(
        sql<boolean>`((${isFree}) or ${isOneOf('annotations.deviceId', concerns)} or ${sql.ref('annotations.placeId')} in (${above}))`,
      );
    }
    return this.page(db, query, page);
  }

  async count(db: RecordsDb, workspaceId: string): Promise<number> {
    const { count } = await db
      .selectFrom('annotations')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('workspaceId', '=', workspaceId)
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** Annotations of devices go with them to another workspace, which does not have their places. */
  async move(db: RecordsDb, deviceIds: readonly string[], workspaceId: string): Promise<void> {
    for (let from = 0; from < deviceIds.length; from += idsPerStatement)
      await db
        .updateTable('annotations')
        .set({ workspaceId, placeId: null })
        .where('deviceId', 'in', padded(deviceIds.slice(from, from + idsPerStatement)))
        .execute();
  }
}

export const annotationRows = new AnnotationRows('annotations', toRow, fromRow, {
  columns: { at: 'at', id: 'id', created: 'created', updated: 'updated', version: 'version' },
  defaultSort: [{ field: 'at', direction: 'desc' }],
});
