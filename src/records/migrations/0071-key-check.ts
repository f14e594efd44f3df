// Version 71: a word sealed with the installation's key, which tells at every start whether the key is still the same.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema
    .createTable('keyCheck')
    .addColumn('word', 'text', (column) => column.notNull())
    .execute();
}
