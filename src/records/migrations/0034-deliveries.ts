// Version 34: the delivery log.
import { type Kysely, sql } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  const { schema } = db;
  await schema
    .createTable('deliveries')
    .addColumn('sequence', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('idempotencyKey', 'text', (column) => column.notNull().unique())
    .addColumn('connectorId', 'text', (column) => column.notNull())
    .addColumn('organizationId', 'text', (column) => column.notNull())
    .addColumn('workspaceId', 'text', (column) => column.notNull())
    .addColumn('deviceId', 'text', (column) => column.notNull())
    .addColumn('correlationId', 'text', (column) => column.notNull())
    .addColumn('cause', 'text', (column) => column.notNull())
    .addColumn('ruleId', 'text')
    .addColumn('ruleHops', 'integer', (column) => column.notNull())
    .addColumn('context', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('tries', 'integer', (column) => column.notNull())
    .addColumn('nextAt', 'bigint', (column) => column.notNull())
    .addColumn('created', 'bigint', (column) => column.notNull())
    .addColumn('updated', 'bigint', (column) => column.notNull())
    .addColumn('payload', 'text')
    .addColumn('answer', 'text')
    .addColumn('reason', 'text')
    .execute();
  await schema
    .createIndex('deliveriesByConnector')
    .on('deliveries')
    .columns(['connectorId', 'state'])
    .execute();
  await schema.createIndex('deliveriesByDevice').on('deliveries').column('deviceId').execute();
  await schema
    .createIndex('deliveriesPending')
    .on('deliveries')
    .column('sequence')
    .where(sql.ref('state'), '=', 'PENDING')
    .execute();
}
