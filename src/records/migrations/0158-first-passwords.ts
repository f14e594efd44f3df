// Version 158: users whose password was generated at the first start, which they replace (contract 42).
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema
    .createTable('firstPasswords')
    .addColumn('userId', 'text', (column) => column.primaryKey().references('users.id'))
    .execute();
}
