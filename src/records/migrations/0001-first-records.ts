// Version 1: organizations, members, keys, inventory, device status and the processing log.
import { type CreateTableBuilder, type Kysely, sql } from 'kysely';
import type { RecordTables } from '../schema.ts';

type Table<C extends string = never> = CreateTableBuilder<string, C>;

function audited(table: Table): Table {
  return table
    .addColumn('created', 'bigint', (column) => column.notNull())
    .addColumn('updated', 'bigint')
    .addColumn('version', 'integer', (column) => column.notNull()) as Table;
}

function named(table: Table): Table {
  return audited(table)
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('description', 'text')
    .addColumn('searchText', 'text', (column) => column.notNull()) as Table;
}

/** A required text column, on request one that names a row of another table. */
function text(table: Table, name: string, references?: string): Table {
  return table.addColumn(name, 'text', (column) =>
    references === undefined ? column.notNull() : column.notNull().references(references),
  ) as Table;
}

function inWorkspace(table: Table): Table {
  return text(
    text(named(table), 'organizationId', 'organizations.id'),
    'workspaceId',
    'workspaces.id',
  );
}

export async function up(db: Kysely<RecordTables>): Promise<void> {
  await tenants(db);
  await inventory(db);
  await devices(db);
  await runtime(db);
}

async function tenants(db: Kysely<RecordTables>): Promise<void> {
  const { schema } = db;
  await text(
    text(text(audited(schema.createTable('users') as Table), 'name'), 'email'),
    'passwordHash',
  )
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addUniqueConstraint('usersEmail', ['email' as never])
    .execute();
  await text(named(schema.createTable('organizations') as Table), 'ownerId', 'users.id')
    .addColumn('logo', 'text')
    .addColumn('properties', 'text')
    .execute();
  const workspaces = text(
    named(schema.createTable('workspaces') as Table),
    'organizationId',
    'organizations.id',
  );
  await text(text(workspaces, 'settings'), 'properties').execute();
  await members(db, 'organization');
  await members(db, 'workspace');
  const keys = text(schema.createTable('apiKeys') as Table, 'organizationId', 'organizations.id');
  const columns = [
    'name',
    'searchText',
    'workspaceIds',
    'permissions',
    'secretHash',
    'secretPrefix',
  ];
  await columns
    .reduce((table, column) => text(table, column), keys)
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('description', 'text')
    .addColumn('allWorkspaces', 'integer', (column) => column.notNull())
    .addColumn('created', 'bigint', (column) => column.notNull())
    .addColumn('lastUsed', 'bigint')
    .addUniqueConstraint('apiKeysSecretHash', ['secretHash' as never])
    .execute();
}

async function members(db: Kysely<RecordTables>, of: 'organization' | 'workspace'): Promise<void> {
  const table = text(db.schema.createTable(`${of}Members`) as Table, `${of}Id`, `${of}s.id`);
  await text(text(table, 'userId', 'users.id'), 'role')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('created', 'bigint', (column) => column.notNull())
    .addUniqueConstraint(`${of}MembersOnce`, [`${of}Id` as never, 'userId' as never])
    .execute();
}

async function inventory(db: Kysely<RecordTables>): Promise<void> {
  const { schema } = db;
  await inWorkspace(schema.createTable('tags') as Table)
    .addColumn('color', 'text')
    .execute();
  await ['type', 'meta', 'schemas']
    .reduce(
      (table, column) => text(table, column),
      named(schema.createTable('deviceTypes') as Table),
    )
    .addColumn('organizationId', 'text', (column) => column.references('organizations.id'))
    .addColumn('sampleData', 'text')
    .addColumn('uplinkScript', 'text')
    .addColumn('downlinkScript', 'text')
    .addColumn('libraryPath', 'text')
    .addColumn('pictureUrl', 'text')
    .execute();
  await ['connectivity', 'authType', 'decodingType']
    .reduce(
      (table, column) => text(table, column),
      inWorkspace(schema.createTable('deviceConnectors') as Table),
    )
    .addColumn('uplinkSecret', 'text')
    .addColumn('uplinkSecretHash', 'text')
    .addColumn('pushConfigurationAutomatically', 'integer', (column) => column.notNull())
    .addUniqueConstraint('deviceConnectorsSecret', ['uplinkSecretHash' as never])
    .execute();
  await text(text(named(schema.createTable('outputConnectors') as Table), 'scope'), 'type')
    .addColumn('organizationId', 'text', (column) => column.references('organizations.id'))
    .addColumn('workspaceId', 'text', (column) => column.references('workspaces.id'))
    .addColumn('sendConsecutiveAlerts', 'integer', (column) => column.notNull())
    .addColumn('invokeRuleEngine', 'integer', (column) => column.notNull())
    .addColumn('useCustomPayload', 'integer', (column) => column.notNull())
    .addColumn('customPayload', 'text')
    .addColumn('properties', 'text')
    .execute();
  await text(
    inWorkspace(schema.createTable('dataFlows') as Table),
    'deviceConnectorId',
    'deviceConnectors.id',
  )
    .addColumn('deviceTypeId', 'text', (column) => column.references('deviceTypes.id'))
    .addColumn('passThrough', 'integer', (column) => column.notNull())
    .execute();
  await text(schema.createTable('dataFlowOutputs') as Table, 'topic')
    .addColumn('dataFlowId', 'text', (column) =>
      column.notNull().references('dataFlows.id').onDelete('cascade'),
    )
    .addColumn('outputConnectorId', 'text', (column) =>
      column.notNull().references('outputConnectors.id'),
    )
    .addColumn('place', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('dataFlowOutputsPlace', ['dataFlowId', 'place'])
    .execute();
  await inventoryIndexes(db);
}

async function inventoryIndexes(db: Kysely<RecordTables>): Promise<void> {
  for (const table of ['tags', 'deviceConnectors', 'outputConnectors', 'dataFlows'] as const) {
    await index(db, table, ['organizationId', 'workspaceId', 'searchText', 'id']);
  }
  await index(db, 'workspaces', ['organizationId', 'searchText', 'id']);
  await index(db, 'deviceTypes', ['organizationId', 'searchText', 'id']);
  await index(db, 'dataFlows', ['deviceConnectorId']);
  await index(db, 'dataFlows', ['deviceTypeId']);
  await index(db, 'dataFlowOutputs', ['outputConnectorId']);
}

async function devices(db: Kysely<RecordTables>): Promise<void> {
  const { schema } = db;
  const table = text(
    text(inWorkspace(schema.createTable('devices') as Table), 'deviceId'),
    'connectivity',
  );
  await text(text(table, 'dataFlowId', 'dataFlows.id'), 'properties')
    .addColumn('onlineTimeoutSeconds', 'integer', (column) => column.notNull())
    .addColumn('loraProperties', 'text')
    .addColumn('excludeFromLifecycleReport', 'integer', (column) => column.notNull())
    .addUniqueConstraint('devicesDeviceId', ['organizationId' as never, 'deviceId' as never])
    .execute();
  await schema
    .createTable('deviceTags')
    .addColumn('deviceId', 'text', (column) =>
      column.notNull().references('devices.id').onDelete('cascade'),
    )
    .addColumn('tagId', 'text', (column) =>
      column.notNull().references('tags.id').onDelete('cascade'),
    )
    .addPrimaryKeyConstraint('deviceTagsOnce', ['deviceId', 'tagId'])
    .execute();
  await index(db, 'deviceTags', ['tagId', 'deviceId']);
  await index(db, 'devices', ['organizationId', 'workspaceId', 'searchText', 'id']);
  await index(db, 'devices', ['organizationId', 'searchText', 'id']);
  await index(db, 'devices', ['dataFlowId']);
}

async function runtime(db: Kysely<RecordTables>): Promise<void> {
  const { schema } = db;
  // A device's status, state and log are written by followers that may lag behind its deletion, so
  // they name no foreign row.
  await text(schema.createTable('deviceStatus') as Table, 'uplinkMetrics')
    .addColumn('deviceId', 'text', (column) => column.primaryKey())
    .addColumn('lastUplinkAt', 'bigint', (column) => column.notNull())
    .execute();
  await text(schema.createTable('deviceState') as Table, 'state')
    .addColumn('deviceId', 'text', (column) => column.primaryKey())
    .execute();
  await ['id', 'deviceId', 'level', 'source', 'message', 'correlationId']
    .reduce((table, column) => text(table, column), schema.createTable('processingLog') as Table)
    .addColumn('sequence', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('timestamp', 'bigint', (column) => column.notNull())
    .addColumn('details', 'text')
    .addUniqueConstraint('processingLogId', ['id' as never])
    .execute();
  await index(db, 'processingLog', ['deviceId', 'sequence']);
  await index(db, 'processingLog', ['timestamp']);
  await schema
    .createTable('followerPositions')
    .addColumn('follower', 'text', (column) => column.primaryKey())
    .addColumn('position', 'bigint', (column) => column.notNull())
    .execute();
}

async function index(
  db: Kysely<RecordTables>,
  table: keyof RecordTables,
  columns: readonly string[],
): Promise<void> {
  const list = sql.join(columns.map((column) => sql.ref(column)));
  await sql`create index ${sql.id(`${table}By${columns.join('')}`)} on ${sql.table(table)} (${list})`.execute(
    db,
  );
}
