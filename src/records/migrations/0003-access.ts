// Version 3: OAuth clients, keys that sign tokens, sessions, invitations and the audit log.
import { type Kysely, sql } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  await credentials(db);
  await people(db);
  await auditLog(db);
}

async function credentials({ schema }: Kysely<RecordTables>): Promise<void> {
  let clients = schema
    .createTable('oauthClients')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organizationId', 'text', (column) =>
      column.notNull().references('organizations.id'),
    )
    .addColumn('description', 'text')
    .addColumn('allWorkspaces', 'integer', (column) => column.notNull())
    .addColumn('created', 'bigint', (column) => column.notNull())
    .addColumn('clientId', 'text', (column) => column.notNull().unique());
  for (const name of ['name', 'searchText', 'workspaceIds', 'permissions', 'secretHash'])
    clients = clients.addColumn(name, 'text', (column) => column.notNull()) as typeof clients;
  await clients.execute();
  await schema
    .createTable('signingKeys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('privateKey', 'text', (column) => column.notNull())
    .addColumn('publicKey', 'text', (column) => column.notNull())
    .addColumn('created', 'bigint', (column) => column.notNull())
    .execute();
}

async function people(db: Kysely<RecordTables>): Promise<void> {
  const { schema } = db;
  await schema.alterTable('organizationMembers').addColumn('acceptedAt', 'bigint').execute();
  // Whoever was a member before there were invitations had accepted.
  await db.updateTable('organizationMembers').set({ acceptedAt: sql<number>`created` }).execute();
  for (const table of ['sessions', 'invitations'] as const) {
    const made = schema
      .createTable(table)
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('tokenHash', 'text', (column) => column.notNull().unique())
      .addColumn('userId', 'text', (column) => column.notNull().references('users.id'))
      .addColumn('organizationId', 'text', (column) =>
        column.notNull().references('organizations.id'),
      )
      .addColumn('created', 'bigint', (column) => column.notNull())
      .addColumn('expiresAt', 'bigint', (column) => column.notNull());
    await (table === 'sessions'
      ? made.addColumn('lastSeen', 'bigint', (column) => column.notNull())
      : made
    ).execute();
    await schema.createIndex(`${table}ByUserId`).on(table).column('userId').execute();
  }
  for (const owner of ['organization', 'workspace'] as const)
    await schema
      .createIndex(`${owner}MembersByUserId`)
      .on(`${owner}Members`)
      .column('userId')
      .execute();
}

async function auditLog({ schema }: Kysely<RecordTables>): Promise<void> {
  // Entries outlive what they tell of, so they name no row of another table.
  let log = schema
    .createTable('auditLog')
    .addColumn('sequence', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('timestamp', 'bigint', (column) => column.notNull());
  for (const name of ['workspaceId', 'resourceName', 'requestId', 'ip'])
    log = log.addColumn(name, 'text') as typeof log;
  const required = [
    'id',
    'organizationId',
    'actorType',
    'actorId',
    'actorName',
    'action',
    'resourceType',
    'resourceId',
  ];
  for (const name of [...required, 'changes'])
    log = log.addColumn(name, 'text', (column) => column.notNull()) as typeof log;
  await log.execute();
  for (const columns of [
    ['organizationId'],
    ['organizationId', 'workspaceId'],
    ['organizationId', 'actorId'],
  ])
    await schema
      .createIndex(`auditLogBy${columns.join('')}`)
      .on('auditLog')
      .columns([...columns, 'sequence'])
      .execute();
  await schema.createIndex('auditLogBytimestamp').on('auditLog').column('timestamp').execute();
}
