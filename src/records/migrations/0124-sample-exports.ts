// Version 124: exports of samples, whose files are in the data folder.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema
    .createTable('sampleExports')
    .addColumn('id', 'text', (column) =>
      column.primaryKey().references('operations.id').onDelete('cascade'),
    )
    .addColumn('organizationId', 'text', (column) =>
      column.notNull().references('organizations.id'),
    )
    .addColumn('workspaceId', 'text', (column) => column.notNull().references('workspaces.id'))
    .addColumn('node', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('plan', 'text', (column) => column.notNull())
    .addColumn('samples', 'bigint', (column) => column.notNull())
    .addColumn('bytes', 'bigint', (column) => column.notNull())
    .addColumn('unreadable', 'integer', (column) => column.notNull())
    .addColumn('errorCode', 'text')
    .addColumn('error', 'text')
    .addColumn('expires', 'bigint')
    .execute();
  await schema
    .createIndex('sampleExportsByOrganization')
    .on('sampleExports')
    .column('organizationId')
    .execute();
}
