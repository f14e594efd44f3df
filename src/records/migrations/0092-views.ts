// Version 92: saved views of users.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema
    .createTable('views')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organizationId', 'text', (column) =>
      column.notNull().references('organizations.id'),
    )
    .addColumn('workspaceId', 'text', (column) =>
      column.notNull().references('workspaces.id').onDelete('cascade'),
    )
    .addColumn('ownerId', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('description', 'text')
    .addColumn('searchText', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('shared', 'integer', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .addColumn('created', 'bigint', (column) => column.notNull())
    .addColumn('updated', 'bigint')
    .addColumn('version', 'integer', (column) => column.notNull())
    .execute();
  await schema
    .createIndex('viewsByworkspaceIdownerId')
    .on('views')
    .columns(['workspaceId', 'ownerId'])
    .execute();
  await schema.createIndex('viewsByownerId').on('views').column('ownerId').execute();
}
