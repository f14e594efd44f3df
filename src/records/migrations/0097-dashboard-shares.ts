// Version 97: tokens that read the data of one dashboard.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema
    .createTable('dashboardShares')
    .addColumn('tokenHash', 'text', (column) => column.primaryKey())
    .addColumn('dashboardId', 'text', (column) =>
      column.notNull().references('dashboards.id').onDelete('cascade'),
    )
    .addColumn('created', 'bigint', (column) => column.notNull())
    .addColumn('expiresAt', 'bigint')
    .execute();
  await schema
    .createIndex('dashboardSharesBydashboardId')
    .on('dashboardShares')
    .column('dashboardId')
    .execute();
}
