// Version 150: ids of dashboard shares, which the audit log names, and when each was last used.
import type { Kysely } from 'kysely';
import { newId } from '../../model/new-id.ts';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  const table = db.schema.alterTable('dashboardShares');
  await table.addColumn('id', 'text', (column) => column.notNull().defaultTo('')).execute();
  await db.schema.alterTable('dashboardShares').addColumn('lastUsed', 'bigint').execute();
  const rows = await db.selectFrom('dashboardShares').select('tokenHash').execute();
  for (const { tokenHash } of rows)
    await db
      .updateTable('dashboardShares')
      .set({ id: newId('dashboardShare') })
      .where('tokenHash', '=', tokenHash)
      .execute();
  await db.schema
    .createIndex('dashboardSharesById')
    .on('dashboardShares')
    .column('id')
    .unique()
    .execute();
}
