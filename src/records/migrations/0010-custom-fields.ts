// Version 10: custom fields, and what filters compare: names, device ids and LoRa properties in one case.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  const { schema } = db;
  await schema
    .createTable('customFieldMetas')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organizationId', 'text', (column) =>
      column.notNull().references('organizations.id'),
    )
    .addColumn('workspaceId', 'text', (column) => column.notNull().references('workspaces.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('description', 'text')
    .addColumn('searchText', 'text', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('required', 'integer', (column) => column.notNull())
    .addColumn('selectOptions', 'text')
    .addColumn('created', 'bigint', (column) => column.notNull())
    .addColumn('updated', 'bigint')
    .addColumn('version', 'integer', (column) => column.notNull())
    .addUniqueConstraint('customFieldMetasName', ['workspaceId', 'name'])
    .execute();
  await schema
    .createTable('deviceCustomFields')
    .addColumn('deviceId', 'text', (column) =>
      column.notNull().references('devices.id').onDelete('cascade'),
    )
    .addColumn('metaId', 'text', (column) =>
      column.notNull().references('customFieldMetas.id').onDelete('cascade'),
    )
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('textKey', 'text')
    .addColumn('numberKey', 'double precision')
    .addColumn('created', 'bigint', (column) => column.notNull())
    .addColumn('updated', 'bigint')
    .addPrimaryKeyConstraint('deviceCustomFieldsOnce', ['deviceId', 'metaId'])
    .execute();
  for (const key of ['textKey', 'numberKey'] as const) {
    await schema
      .createIndex(`deviceCustomFieldsBy${key}`)
      .on('deviceCustomFields')
      .columns(['metaId', key, 'deviceId'])
      .execute();
  }
  await schema
    .createIndex('customFieldMetasByorganizationIdworkspaceIdsearchTextid')
    .on('customFieldMetas')
    .columns(['organizationId', 'workspaceId', 'searchText', 'id'])
    .execute();
  await addKeys(db);
}

async function addKeys(db: Kysely<RecordTables>): Promise<void> {
  const { schema } = db;
  const required = ['nameKey', 'deviceIdKey'];
  for (const name of required) {
    await schema
      .alterTable('devices')
      .addColumn(name, 'text', (column) => column.notNull().defaultTo(''))
      .execute();
  }
  for (const name of ['descriptionKey', 'loraKeys', 'integrationId']) {
    await schema.alterTable('devices').addColumn(name, 'text').execute();
  }
  await schema
    .alterTable('deviceTypes')
    .addColumn('nameKey', 'text', (column) => column.notNull().defaultTo(''))
    .execute();
  await schema
    .createIndex('devicesByintegrationId')
    .on('devices')
    .column('integrationId')
    .execute();
  // Lists walk one of these two and touch no row for what is asked most: in order of name, or by
  // the ids a filter found.
  const asked = ['nameKey', 'onlineTimeoutSeconds'] as const;
  await schema.dropIndex('devicesByorganizationIdworkspaceIdsearchTextid').execute();
  await schema
    .createIndex('devicesByorganizationIdworkspaceIdsearchTextid')
    .on('devices')
    .columns(['organizationId', 'workspaceId', 'searchText', 'id', ...asked])
    .execute();
  await schema
    .createIndex('devicesByworkspaceIdid')
    .on('devices')
    .columns(['workspaceId', 'id', 'organizationId', 'searchText', ...asked])
    .execute();
  // What is sealed can only be read with the installation's key, so LoRa keys of older devices
  // follow with their next change.
  for (const row of await db
    .selectFrom('devices')
    .select(['id', 'name', 'deviceId', 'description'])
    .execute()) {
    const keys = {
      nameKey: row.name.toLowerCase(),
      deviceIdKey: row.deviceId.toLowerCase(),
      descriptionKey: row.description?.toLowerCase() ?? null,
    };
    await db.updateTable('devices').set(keys).where('id', '=', row.id).execute();
  }
  for (const row of await db.selectFrom('deviceTypes').select(['id', 'name']).execute()) {
    await db
      .updateTable('deviceTypes')
      .set({ nameKey: row.name.toLowerCase() })
      .where('id', '=', row.id)
      .execute();
  }
}
