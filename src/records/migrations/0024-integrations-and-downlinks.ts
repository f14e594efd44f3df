// Version 24: integrations with network servers, the device connectors they make, and the queue of downlinks.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema
    .createTable('integrations')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organizationId', 'text', (column) =>
      column.notNull().references('organizations.id'),
    )
    .addColumn('workspaceId', 'text', (column) => column.notNull().references('workspaces.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('description', 'text')
    .addColumn('searchText', 'text', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('provider', 'text')
    .addColumn('properties', 'text', (column) => column.notNull())
    .addColumn('created', 'bigint', (column) => column.notNull())
    .addColumn('updated', 'bigint')
    .addColumn('version', 'integer', (column) => column.notNull())
    .execute();
  for (const name of ['integrationId', 'carrier', 'provider']) {
    await schema.alterTable('deviceConnectors').addColumn(name, 'text').execute();
  }
  // Network servers name devices by EUIs, in whatever case.
  await schema
    .createIndex('devicesByorganizationIddeviceIdKey')
    .on('devices')
    .columns(['organizationId', 'deviceIdKey'])
    .execute();
  await createDownlinks(schema);
}

async function createDownlinks(schema: Kysely<RecordTables>['schema']): Promise<void> {
  await schema
    .createTable('downlinks')
    .addColumn('sequence', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('deviceId', 'text', (column) =>
      column.notNull().references('devices.id').onDelete('cascade'),
    )
    .addColumn('connectivity', 'text', (column) => column.notNull())
    .addColumn('created', 'bigint', (column) => column.notNull())
    .addColumn('updated', 'bigint')
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('error', 'text')
    .addColumn('port', 'integer')
    .addColumn('confirmed', 'integer')
    .addColumn('payloadHex', 'text')
    .addColumn('topic', 'text')
    .addColumn('payload', 'text')
    .addColumn('replaces', 'integer', (column) => column.notNull())
    .addColumn('tries', 'integer', (column) => column.notNull())
    .addColumn('nextTryAt', 'bigint')
    .addColumn('expiresAt', 'bigint', (column) => column.notNull())
    .addColumn('serverReference', 'text')
    .addColumn('correlationId', 'text', (column) => column.notNull())
    .execute();
  await schema
    .createIndex('downlinksByDevice')
    .on('downlinks')
    .columns(['deviceId', 'sequence'])
    .execute();
  await schema
    .createIndex('downlinksByState')
    .on('downlinks')
    .columns(['state', 'deviceId', 'sequence'])
    .execute();
}
