// Version 12: blobs, dashboards and their groups.
import { type CreateTableBuilder, type Kysely, sql } from 'kysely';
import type { RecordTables } from '../schema.ts';

type Table = CreateTableBuilder<string>;

function named(table: Table): Table {
  return table
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organizationId', 'text', (column) =>
      column.notNull().references('organizations.id'),
    )
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('description', 'text')
    .addColumn('searchText', 'text', (column) => column.notNull())
    .addColumn('created', 'bigint', (column) => column.notNull())
    .addColumn('updated', 'bigint')
    .addColumn('version', 'integer', (column) => column.notNull());
}

export async function up(db: Kysely<RecordTables>): Promise<void> {
  const { schema } = db;
  // SQLite takes any type name; PostgreSQL calls bytes `bytea`.
  await named(schema.createTable('blobs') as unknown as Table)
    .addColumn('workspaceId', 'text', (column) => column.references('workspaces.id'))
    .addColumn('contentType', 'text', (column) => column.notNull())
    .addColumn('size', 'bigint', (column) => column.notNull())
    .addColumn('sha256', 'text', (column) => column.notNull())
    .addColumn('content', sql`bytea`, (column) => column.notNull())
    .execute();
  await named(schema.createTable('dashboardGroups') as unknown as Table)
    .addColumn('workspaceId', 'text', (column) => column.notNull().references('workspaces.id'))
    .execute();
  await named(schema.createTable('dashboards') as unknown as Table)
    .addColumn('workspaceId', 'text', (column) => column.notNull().references('workspaces.id'))
    .addColumn('groupId', 'text', (column) => column.references('dashboardGroups.id'))
    .addColumn('configuration', 'text', (column) => column.notNull())
    .execute();
  for (const table of ['blobs', 'dashboardGroups', 'dashboards'] as const) {
    await schema
      .createIndex(`${table}ByorganizationIdworkspaceIdsearchTextid`)
      .on(table)
      .columns(['organizationId', 'workspaceId', 'searchText', 'id'])
      .execute();
  }
  await schema.createIndex('dashboardsBygroupId').on('dashboards').column('groupId').execute();
}
