// Version 140: refused uplinks of device connectors.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema
    .createTable('refusals')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organizationId', 'text', (column) =>
      column.notNull().references('organizations.id'),
    )
    .addColumn('workspaceId', 'text', (column) => column.notNull().references('workspaces.id'))
    .addColumn('connectorId', 'text', (column) =>
      column.notNull().references('deviceConnectors.id').onDelete('cascade'),
    )
    .addColumn('transport', 'text', (column) => column.notNull())
    .addColumn('reason', 'text', (column) => column.notNull())
    .addColumn('status', 'integer', (column) => column.notNull())
    .addColumn('deviceId', 'text')
    .addColumn('message', 'text', (column) => column.notNull())
    .addColumn('first', 'bigint', (column) => column.notNull())
    .addColumn('last', 'bigint', (column) => column.notNull())
    .addColumn('count', 'bigint', (column) => column.notNull())
    .addColumn('bytes', 'bigint', (column) => column.notNull())
    .addColumn('payload', 'text')
    .addColumn('payloadForm', 'text')
    .execute();
  await schema
    .createIndex('refusalsByConnector')
    .on('refusals')
    .columns(['connectorId', 'last'])
    .execute();
  await schema
    .createIndex('refusalsByWorkspace')
    .on('refusals')
    .columns(['workspaceId', 'last'])
    .execute();
}
