// Version 123: passkeys, and organizations that ask their members for a second factor.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema
    .createTable('passkeys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('userId', 'text', (column) => column.notNull().references('users.id'))
    .addColumn('credentialId', 'text', (column) => column.notNull().unique())
    .addColumn('publicKey', 'text', (column) => column.notNull())
    .addColumn('counter', 'bigint', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('transports', 'text', (column) => column.notNull())
    .addColumn('lastChallenge', 'bigint', (column) => column.notNull())
    .addColumn('created', 'bigint', (column) => column.notNull())
    .addColumn('lastUsed', 'bigint')
    .execute();
  await schema.createIndex('passkeysByUserId').on('passkeys').column('userId').execute();
  await schema
    .createTable('secondFactorDemands')
    .addColumn('organizationId', 'text', (column) =>
      column.primaryKey().references('organizations.id'),
    )
    .execute();
}
