// Version 95: the workspaces of the demo, whose deletion removes all of their contents.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema
    .createTable('demoWorkspaces')
    .addColumn('workspaceId', 'text', (column) =>
      column.primaryKey().references('workspaces.id').onDelete('cascade'),
    )
    .addColumn('organizationId', 'text', (column) => column.notNull().unique())
    .addColumn('deviceTypeIds', 'text', (column) => column.notNull())
    .execute();
}
