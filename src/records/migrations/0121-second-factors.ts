// Version 121: one-time codes of authenticator apps, and the recovery codes that replace them.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema
    .createTable('authenticatorApps')
    .addColumn('userId', 'text', (column) => column.primaryKey().references('users.id'))
    .addColumn('sealedSecret', 'text', (column) => column.notNull())
    .addColumn('confirmed', 'bigint')
    .addColumn('lastStep', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('created', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createTable('recoveryCodes')
    .addColumn('userId', 'text', (column) => column.notNull().references('users.id'))
    .addColumn('codeHash', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('recoveryCodesKey', ['userId', 'codeHash'])
    .execute();
}
