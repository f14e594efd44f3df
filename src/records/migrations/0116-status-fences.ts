// Version 116: epoch and position of the last write to a status; a former owner is refused.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  for (const table of ['deviceStatus', 'deviceState'] as const)
    for (const column of ['epoch', 'position'])
      await db.schema
        .alterTable(table)
        .addColumn(column, 'integer', (built) => built.notNull().defaultTo(0))
        .execute();
}
