// Blobs in the records store: what is known of them, and their content apart.
import type { Blob } from '../../../model/blob.ts';
import type { PageRequest } from '../../../model/page.ts';
import { contains, isOneOf, searchTextOf } from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import { pageOfRows, type Rows, sortColumns, type WorkspaceFilter } from '../list.ts';

const columns = [
  'id',
  'organizationId',
  'workspaceId',
  'name',
  'description',
  'contentType',
  'size',
  'sha256',
  'created',
  'updated',
  'version',
] as const;

class BlobRows {
  async insert(db: RecordsDb, record: Blob, content: Uint8Array): Promise<void> {
    await db
      .insertInto('blobs')
      .values({ ...record, content, searchText: searchTextOf(record.name) })
      .execute();
  }

  async find(db: RecordsDb, id: string): Promise<Blob | undefined> {
    return db.selectFrom('blobs').select(columns).where('id', '=', id).executeTakeFirst();
  }

  async list(db: RecordsDb, filter: WorkspaceFilter, page: PageRequest): Promise<Rows<Blob>> {
    let query = db
      .selectFrom('blobs')
      .select(columns)
      .where('organizationId', '=', filter.organizationId);
    if (filter.workspaceIds !== undefined)
      query = query.where(isOneOf('workspaceId', filter.workspaceIds));
    if (filter.search) query = query.where(contains('searchText', filter.search));
    return pageOfRows(query, page, {
      columns: { ...sortColumns, size: 'size', contentType: 'contentType' },
    });
  }

  async content(db: RecordsDb, id: string): Promise<Uint8Array | undefined> {
    return (await db.selectFrom('blobs').select('content').where('id', '=', id).executeTakeFirst())
      ?.content;
  }

  async remove(db: RecordsDb, id: string): Promise<void> {
    await db.deleteFrom('blobs').where('id', '=', id).execute();
  }

  /** Bytes of all blobs of the organization. */
  async bytesOf(db: RecordsDb, organizationId: string): Promise<number> {
    const query = db.selectFrom('blobs').select((eb) => eb.fn.sum<number>('size').as('bytes'));
    return Number(
      (await query.where('organizationId', '=', organizationId).executeTakeFirstOrThrow()).bytes ??
        0,
    );
  }
}

export const blobRows = new BlobRows();
