// Version 114: how far the rules of each shard of workspaces have evaluated the journal of each node.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  await db.schema
    .createTable('rulePositions')
    .addColumn('shard', 'integer', (column) => column.notNull())
    .addColumn('journal', 'text', (column) => column.notNull())
    .addColumn('position', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('rulePositionsKey', ['shard', 'journal'])
    .execute();
}
