// Version 52: which users have proven their address, the mailed link of an invitation, and password resets.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  const { schema } = db;
  await schema
    .alterTable('users')
    .addColumn('proven', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await proveFirstOwner(db);
  await schema.alterTable('invitations').addColumn('mailedTokenHash', 'text').execute();
  await schema
    .createIndex('invitationsByMailedTokenHash')
    .on('invitations')
    .column('mailedTokenHash')
    .execute();
  await schema
    .createTable('passwordResets')
    .addColumn('tokenHash', 'text', (column) => column.primaryKey())
    .addColumn('userId', 'text', (column) => column.notNull().references('users.id'))
    .addColumn('created', 'bigint', (column) => column.notNull())
    .addColumn('expiresAt', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createIndex('passwordResetsByUserId')
    .on('passwordResets')
    .column('userId')
    .execute();
}

/**
 * The first user of the installation is its operator. Nobody knows who accepted the other
 * invitations.
 */
async function proveFirstOwner(db: Kysely<RecordTables>): Promise<void> {
  const first = await db
    .selectFrom('users')
    .select('id')
    .orderBy('created')
    .orderBy('id')
    .executeTakeFirst();
  if (first !== undefined)
    await db.updateTable('users').set({ proven: 1 }).where('id', '=', first.id).execute();
}
