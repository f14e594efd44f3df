// Version 120: people of the sign-in provider, the memberships that it gave, and its sessions.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema
    .createTable('userIdentities')
    .addColumn('issuer', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('userId', 'text', (column) => column.notNull().references('users.id'))
    .addColumn('created', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('userIdentitiesKey', ['issuer', 'subject'])
    .execute();
  await schema
    .createIndex('userIdentitiesByUserId')
    .on('userIdentities')
    .column('userId')
    .execute();
  for (const table of ['organizationMembers', 'workspaceMembers'] as const)
    await schema
      .alterTable(table)
      .addColumn('fromProvider', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
  for (const name of ['providerSession', 'idToken'])
    await schema.alterTable('sessions').addColumn(name, 'text').execute();
  await schema
    .createIndex('sessionsByProviderSession')
    .on('sessions')
    .column('providerSession')
    .execute();
}
