// Version 13: operations and what became of each of their items.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema
    .createTable('operations')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organizationId', 'text', (column) =>
      column.notNull().references('organizations.id'),
    )
    .addColumn('workspaceId', 'text', (column) => column.notNull().references('workspaces.id'))
    .addColumn('creator', 'text', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('plan', 'text', (column) => column.notNull())
    .addColumn('started', 'bigint', (column) => column.notNull())
    .addColumn('completed', 'bigint')
    .addColumn('total', 'integer', (column) => column.notNull())
    .addColumn('done', 'integer', (column) => column.notNull())
    .addColumn('failed', 'integer', (column) => column.notNull())
    .execute();
  await schema
    .createTable('operationActions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('operationId', 'text', (column) =>
      column.notNull().references('operations.id').onDelete('cascade'),
    )
    .addColumn('place', 'integer', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('input', 'text')
    .addColumn('data', 'text', (column) => column.notNull())
    .addColumn('started', 'bigint')
    .addColumn('completed', 'bigint')
    .addUniqueConstraint('operationActionsPlace', ['operationId', 'place'])
    .execute();
  await schema
    .createIndex('operationsByworkspaceIdstarted')
    .on('operations')
    .columns(['workspaceId', 'started'])
    .execute();
}
