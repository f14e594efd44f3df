// Version 119: where and how sessions began, and API keys that expire.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema
    .alterTable('sessions')
    .addColumn('signInKind', 'text', (column) => column.notNull().defaultTo('PASSWORD'))
    .execute();
  for (const name of ['userAgent', 'ip'])
    await schema.alterTable('sessions').addColumn(name, 'text').execute();
  await schema.alterTable('apiKeys').addColumn('expiration', 'bigint').execute();
}
