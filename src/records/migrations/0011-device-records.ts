// Version 11: device credentials and device configurations.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema
    .createTable('deviceCredentials')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('deviceId', 'text', (column) =>
      column.notNull().references('devices.id').onDelete('cascade'),
    )
    .addColumn('name', 'text')
    .addColumn('algorithm', 'text', (column) => column.notNull())
    .addColumn('publicKey', 'text', (column) => column.notNull())
    .addColumn('fingerprint', 'text', (column) => column.notNull())
    .addColumn('expiration', 'bigint')
    .addColumn('created', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('deviceCredentialsOnce', ['deviceId', 'fingerprint'])
    .execute();
  await schema
    .createTable('deviceConfigurations')
    .addColumn('deviceId', 'text', (column) =>
      column.notNull().references('devices.id').onDelete('cascade'),
    )
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('workspaceId', 'text', (column) => column.notNull())
    // Null once deleted: the number of a version is never given twice.
    .addColumn('configuration', 'text')
    .addColumn('created', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('deviceConfigurationsOnce', ['deviceId', 'version'])
    .execute();
}
