// Schema of the records at version 0.2.0: every table with its indexes, and the counts that triggers keep.
import {
  type ColumnDataType,
  type ColumnDefinitionBuilder,
  type Kysely,
  PostgresAdapter,
  type RawBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import { addRowTrigger, engineSql, type RowTrigger } from '../engine.ts';
import type { RecordTables } from '../schema.ts';

/** The same for SQLite and PostgreSQL; `postgres-sql.ts` writes its types in the words of PostgreSQL. */
export async function up(db: Kysely<RecordTables>): Promise<void> {
  for (const [name, table] of Object.entries(tables)) await createTable(db, name, table);
  // The expression is that of the queries, else they would not use the index.
  const deviceEui = engineSql(db).text(sql.ref('loraKeys'), 'deviceEui');
  await sql`
    create index "devicesByorganizationIddeviceEui" on "devices" ("organizationId", (${deviceEui}))
    where "loraKeys" is not null`.execute(db);
  for (const trigger of triggers()) await addRowTrigger(db, trigger);
  if (db.getExecutor().adapter instanceof PostgresAdapter) await addPostgresOnly(db);
}

interface Table {
  readonly columns: Readonly<Record<string, Column>>;
  /** Of several columns; the name of the constraint first. */
  readonly primaryKey?: Constraint;
  readonly unique?: Constraint;
  /** By name, in the order of the columns. */
  readonly indexes?: Readonly<Record<string, readonly string[] | Index>>;
}

type Tables = Readonly<Record<string, Table>>;

type Constraint = readonly [name: string, ...columns: string[]];

interface Index {
  readonly columns: readonly string[];
  readonly isUnique?: boolean;
  /** Only rows that meet this condition are in the index. */
  readonly where?: string;
}

/** Without further members it is `not null`. */
interface Column {
  readonly type: ColumnDataType;
  readonly isOptional?: boolean;
  readonly isUnique?: boolean;
  readonly key?: 'given' | 'numbered';
  readonly default?: string | number;
  readonly references?: string;
  /** Whether the row goes with the row that it refers to. */
  readonly isDeletedWith?: boolean;
}

const text: Column = { type: 'text' };
/** Counts, places and flags, which are 0 or 1: SQLite has no boolean. */
const integer: Column = { type: 'integer' };
/** Times in milliseconds, positions in a journal, and bytes. */
const bigint: Column = { type: 'bigint' };

const key: Column = { type: 'text', key: 'given' };
/** Rows are numbered in the order of their insertion, and no number is given twice. */
const sequence: Column = { type: 'integer', key: 'numbered' };

const optional = (column: Column): Column => ({ ...column, isOptional: true });
const unique = (column: Column): Column => ({ ...column, isUnique: true });
const withDefault = (column: Column, value: string | number): Column => ({
  ...column,
  default: value,
});
const references = (table: string): Column => ({ type: 'text', references: `${table}.id` });
const partOf = (table: string): Column => ({ ...references(table), isDeletedWith: true });
const asKey = (column: Column): Column => ({ ...column, key: 'given' });

const named = {
  id: key,
  name: text,
  description: optional(text),
  searchText: text,
  created: bigint,
  updated: optional(bigint),
  version: integer,
};
const inWorkspace = {
  organizationId: references('organizations'),
  workspaceId: references('workspaces'),
};
/** The order of lists. */
const byName = ['organizationId', 'workspaceId', 'searchText', 'id'];
/** What lists of devices ask most: with it, they walk an index and touch no row. */
const askedOfDevices = ['nameKey', 'onlineTimeoutSeconds', 'registered'];

/** Users, organizations, and who may sign in. */
const access: Tables = {
  users: {
    columns: {
      id: key,
      name: text,
      email: text,
      passwordHash: text,
      // Whether the owner of the address opened a link that was mailed to it.
      proven: withDefault(integer, 0),
      created: bigint,
      updated: optional(bigint),
      version: integer,
    },
    unique: ['usersEmail', 'email'],
  },
  organizations: {
    columns: {
      ...named,
      ownerId: references('users'),
      logo: optional(text),
      properties: optional(text),
    },
  },
  workspaces: {
    columns: {
      ...named,
      organizationId: references('organizations'),
      settings: text,
      properties: text,
    },
    indexes: { workspacesByorganizationIdsearchTextid: ['organizationId', 'searchText', 'id'] },
  },
  organizationMembers: {
    columns: {
      id: key,
      organizationId: references('organizations'),
      userId: references('users'),
      role: text,
      created: bigint,
      acceptedAt: optional(bigint),
      fromProvider: withDefault(integer, 0),
    },
    unique: ['organizationMembersOnce', 'organizationId', 'userId'],
    indexes: { organizationMembersByUserId: ['userId'] },
  },
  workspaceMembers: {
    columns: {
      id: key,
      workspaceId: references('workspaces'),
      userId: references('users'),
      role: text,
      created: bigint,
      fromProvider: withDefault(integer, 0),
    },
    unique: ['workspaceMembersOnce', 'workspaceId', 'userId'],
    indexes: { workspaceMembersByUserId: ['userId'] },
  },
  apiKeys: {
    columns: {
      id: key,
      organizationId: references('organizations'),
      name: text,
      description: optional(text),
      searchText: text,
      allWorkspaces: integer,
      workspaceIds: text,
      permissions: text,
      secretHash: text,
      secretPrefix: text,
      created: bigint,
      lastUsed: optional(bigint),
      expiration: optional(bigint),
    },
    unique: ['apiKeysSecretHash', 'secretHash'],
  },
  oauthClients: {
    columns: {
      id: key,
      organizationId: references('organizations'),
      name: text,
      description: optional(text),
      searchText: text,
      allWorkspaces: integer,
      workspaceIds: text,
      permissions: text,
      clientId: unique(text),
      secretHash: text,
      created: bigint,
    },
  },
  signingKeys: {
    columns: { id: key, privateKey: text, publicKey: text, created: bigint },
  },
  sessions: {
    columns: {
      id: key,
      tokenHash: unique(text),
      userId: references('users'),
      organizationId: references('organizations'),
      created: bigint,
      expiresAt: bigint,
      lastSeen: bigint,
      signInKind: withDefault(text, 'PASSWORD'),
      userAgent: optional(text),
      ip: optional(text),
      providerSession: optional(text),
      idToken: optional(text),
    },
    indexes: {
      sessionsByUserId: ['userId'],
      // A logout at the provider names its session.
      sessionsByProviderSession: ['providerSession'],
    },
  },
  invitations: {
    columns: {
      id: key,
      tokenHash: unique(text),
      // Of the link in the mail, which proves the address; the other link is copied by hand.
      mailedTokenHash: optional(text),
      userId: references('users'),
      organizationId: references('organizations'),
      created: bigint,
      expiresAt: bigint,
    },
    indexes: {
      invitationsByUserId: ['userId'],
      invitationsByMailedTokenHash: ['mailedTokenHash'],
    },
  },
  passwordResets: {
    columns: { tokenHash: key, userId: references('users'), created: bigint, expiresAt: bigint },
    indexes: { passwordResetsByUserId: ['userId'] },
  },
  userIdentities: {
    columns: { issuer: text, subject: text, userId: references('users'), created: bigint },
    primaryKey: ['userIdentitiesKey', 'issuer', 'subject'],
    indexes: { userIdentitiesByUserId: ['userId'] },
  },
  authenticatorApps: {
    columns: {
      userId: asKey(references('users')),
      sealedSecret: text,
      confirmed: optional(bigint),
      lastStep: withDefault(bigint, 0),
      created: bigint,
    },
  },
  recoveryCodes: {
    columns: { userId: references('users'), codeHash: text },
    primaryKey: ['recoveryCodesKey', 'userId', 'codeHash'],
  },
  passkeys: {
    columns: {
      id: key,
      userId: references('users'),
      credentialId: unique(text),
      publicKey: text,
      counter: bigint,
      name: text,
      transports: text,
      lastChallenge: bigint,
      created: bigint,
      lastUsed: optional(bigint),
    },
    indexes: { passkeysByUserId: ['userId'] },
  },
  secondFactorDemands: { columns: { organizationId: asKey(references('organizations')) } },
  firstPasswords: { columns: { userId: asKey(references('users')) } },
  // Entries outlive what they tell of, so they name no row of another table.
  auditLog: {
    columns: {
      sequence,
      id: text,
      timestamp: bigint,
      organizationId: text,
      workspaceId: optional(text),
      actorType: text,
      actorId: text,
      actorName: text,
      action: text,
      resourceType: text,
      resourceId: text,
      resourceName: optional(text),
      requestId: optional(text),
      ip: optional(text),
      changes: text,
    },
    indexes: {
      auditLogByorganizationId: ['organizationId', 'sequence'],
      auditLogByorganizationIdworkspaceId: ['organizationId', 'workspaceId', 'sequence'],
      auditLogByorganizationIdactorId: ['organizationId', 'actorId', 'sequence'],
      auditLogBytimestamp: ['timestamp'],
    },
  },
  // Of users, API keys and OAuth clients.
  preferences: { columns: { ownerId: key, content: text, updated: bigint } },
  // A word sealed with the installation's key: a start with another key fails on it.
  keyCheck: { columns: { word: text } },
};

/** What users configure: device types, connectors, data flows, devices and dashboards. */
const inventory: Tables = {
  tags: {
    columns: { ...named, ...inWorkspace, color: optional(text) },
    indexes: { tagsByorganizationIdworkspaceIdsearchTextid: byName },
  },
  places: {
    columns: {
      ...named,
      ...inWorkspace,
      parentId: optional(text),
      kind: optional(text),
      externalId: optional(text),
      position: optional(text),
      plan: optional(text),
      properties: text,
      nameKey: text,
    },
    unique: ['placesExternalId', 'workspaceId', 'externalId'],
    indexes: {
      placesByorganizationIdworkspaceIdsearchTextid: byName,
      placesByworkspaceIdparentIdnameKey: ['workspaceId', 'parentId', 'nameKey'],
    },
  },
  placeAncestors: {
    columns: { placeId: partOf('places'), ancestorId: partOf('places'), depth: integer },
    primaryKey: ['placeAncestorsOnce', 'placeId', 'ancestorId'],
    indexes: { placeAncestorsByancestorIdplaceId: ['ancestorId', 'placeId'] },
  },
  deviceTypes: {
    columns: {
      ...named,
      // Null for types of the platform.
      organizationId: optional(references('organizations')),
      type: text,
      meta: text,
      schemas: text,
      sampleData: optional(text),
      uplinkScript: optional(text),
      downlinkScript: optional(text),
      calculatedKeys: optional(text),
      libraryPath: optional(text),
      pictureUrl: optional(text),
      nameKey: withDefault(text, ''),
    },
    indexes: { deviceTypesByorganizationIdsearchTextid: ['organizationId', 'searchText', 'id'] },
  },
  integrations: {
    columns: {
      ...named,
      ...inWorkspace,
      type: text,
      provider: optional(text),
      properties: text,
    },
  },
  deviceConnectors: {
    columns: {
      ...named,
      ...inWorkspace,
      connectivity: text,
      authType: text,
      decodingType: text,
      uplinkSecret: optional(text),
      uplinkSecretHash: optional(text),
      encoding: optional(text),
      pushConfigurationAutomatically: integer,
      integrationId: optional(text),
      carrier: optional(text),
      provider: optional(text),
      lineProtocol: optional(text),
      sparkplug: optional(text),
    },
    unique: ['deviceConnectorsSecret', 'uplinkSecretHash'],
    indexes: { deviceConnectorsByorganizationIdworkspaceIdsearchTextid: byName },
  },
  outputConnectors: {
    columns: {
      ...named,
      organizationId: optional(references('organizations')),
      workspaceId: optional(references('workspaces')),
      scope: text,
      type: text,
      sendConsecutiveAlerts: integer,
      invokeRuleEngine: integer,
      useCustomPayload: integer,
      customPayload: optional(text),
      properties: optional(text),
    },
    indexes: { outputConnectorsByorganizationIdworkspaceIdsearchTextid: byName },
  },
  dataFlows: {
    columns: {
      ...named,
      ...inWorkspace,
      deviceConnectorId: references('deviceConnectors'),
      deviceTypeId: optional(references('deviceTypes')),
      passThrough: integer,
      retentionDays: optional(integer),
    },
    indexes: {
      dataFlowsByorganizationIdworkspaceIdsearchTextid: byName,
      dataFlowsBydeviceConnectorId: ['deviceConnectorId'],
      dataFlowsBydeviceTypeId: ['deviceTypeId'],
    },
  },
  dataFlowOutputs: {
    columns: {
      dataFlowId: partOf('dataFlows'),
      place: integer,
      outputConnectorId: references('outputConnectors'),
      topic: text,
    },
    primaryKey: ['dataFlowOutputsPlace', 'dataFlowId', 'place'],
    indexes: { dataFlowOutputsByoutputConnectorId: ['outputConnectorId'] },
  },
  devices: {
    columns: {
      ...named,
      ...inWorkspace,
      deviceId: text,
      connectivity: text,
      dataFlowId: references('dataFlows'),
      properties: text,
      onlineTimeoutSeconds: integer,
      loraProperties: optional(text),
      excludeFromLifecycleReport: integer,
      integrationId: optional(text),
      registered: optional(integer),
      active: optional(integer),
      placeId: optional(text),
      planPosition: optional(text),
      nameKey: withDefault(text, ''),
      descriptionKey: optional(text),
      deviceIdKey: withDefault(text, ''),
      loraKeys: optional(text),
    },
    unique: ['devicesDeviceId', 'organizationId', 'deviceId'],
    indexes: {
      devicesByorganizationIdworkspaceIdsearchTextid: [...byName, ...askedOfDevices],
      devicesByworkspaceIdid: [
        'workspaceId',
        'id',
        'organizationId',
        'searchText',
        ...askedOfDevices,
      ],
      devicesByorganizationIdsearchTextid: ['organizationId', 'searchText', 'id'],
      devicesByworkspaceIdcreatedid: ['workspaceId', 'created', 'id'],
      devicesByworkspaceIdonlineTimeoutSeconds: ['workspaceId', 'onlineTimeoutSeconds'],
      devicesBydataFlowId: ['dataFlowId'],
      devicesByintegrationId: ['integrationId'],
      // Most devices of many installations are at no place, and cost it nothing.
      devicesByplaceId: { columns: ['placeId', 'id'], where: '"placeId" is not null' },
      // A device token tells nothing else.
      devicesBydeviceId: ['deviceId'],
      // Network servers name devices by EUIs, in whatever case.
      devicesByorganizationIddeviceIdKey: ['organizationId', 'deviceIdKey'],
      // Few devices are in it, and the others cost it nothing.
      devicesDeregistered: { columns: ['workspaceId', 'id'], where: '"registered" = 0' },
    },
  },
  deviceTags: {
    columns: { deviceId: partOf('devices'), tagId: partOf('tags') },
    primaryKey: ['deviceTagsOnce', 'deviceId', 'tagId'],
    indexes: { deviceTagsBytagIddeviceId: ['tagId', 'deviceId'] },
  },
  customFieldMetas: {
    columns: {
      ...named,
      ...inWorkspace,
      type: text,
      required: integer,
      selectOptions: optional(text),
    },
    unique: ['customFieldMetasName', 'workspaceId', 'name'],
    indexes: { customFieldMetasByorganizationIdworkspaceIdsearchTextid: byName },
  },
  deviceCustomFields: {
    columns: {
      deviceId: partOf('devices'),
      metaId: partOf('customFieldMetas'),
      value: text,
      textKey: optional(text),
      numberKey: optional({ type: 'double precision' }),
      created: bigint,
      updated: optional(bigint),
    },
    primaryKey: ['deviceCustomFieldsOnce', 'deviceId', 'metaId'],
    indexes: {
      deviceCustomFieldsBytextKey: ['metaId', 'textKey', 'deviceId'],
      deviceCustomFieldsBynumberKey: ['metaId', 'numberKey', 'deviceId'],
    },
  },
  deviceCredentials: {
    columns: {
      id: key,
      deviceId: partOf('devices'),
      name: optional(text),
      algorithm: text,
      publicKey: text,
      fingerprint: text,
      expiration: optional(bigint),
      created: bigint,
    },
    unique: ['deviceCredentialsOnce', 'deviceId', 'fingerprint'],
  },
  deviceConfigurations: {
    columns: {
      deviceId: partOf('devices'),
      version: integer,
      workspaceId: text,
      // Null once deleted: the number of a version is never given twice.
      configuration: optional(text),
      created: bigint,
    },
    primaryKey: ['deviceConfigurationsOnce', 'deviceId', 'version'],
  },
  blobs: {
    columns: {
      ...named,
      organizationId: references('organizations'),
      workspaceId: optional(references('workspaces')),
      contentType: text,
      size: bigint,
      sha256: text,
      // SQLite takes any type name; PostgreSQL calls bytes `bytea`.
      content: { type: 'bytea' },
    },
    indexes: { blobsByorganizationIdworkspaceIdsearchTextid: byName },
  },
  dashboardGroups: {
    columns: { ...named, ...inWorkspace },
    indexes: { dashboardGroupsByorganizationIdworkspaceIdsearchTextid: byName },
  },
  dashboards: {
    columns: {
      ...named,
      ...inWorkspace,
      groupId: optional(references('dashboardGroups')),
      deviceTypeId: optional(references('deviceTypes')),
      placeKind: optional(text),
      configuration: text,
    },
    indexes: {
      dashboardsByorganizationIdworkspaceIdsearchTextid: byName,
      dashboardsBygroupId: ['groupId'],
      // At most one for a workspace and type.
      dashboardsBydeviceTypeId: { columns: ['deviceTypeId', 'workspaceId'], isUnique: true },
      // At most one for a workspace and kind of place.
      dashboardsByworkspaceIdplaceKind: { columns: ['workspaceId', 'placeKind'], isUnique: true },
    },
  },
  dashboardVersions: {
    columns: {
      dashboardId: partOf('dashboards'),
      version: integer,
      at: bigint,
      by: optional(text),
      name: text,
      bytes: integer,
      content: { type: 'bytea' },
    },
    primaryKey: ['dashboardVersionsKey', 'dashboardId', 'version'],
  },
  dashboardShares: {
    columns: {
      tokenHash: key,
      // For the audit log and the interface, which do not know the token.
      id: withDefault(text, ''),
      dashboardId: partOf('dashboards'),
      // Values of the dashboard's variables.
      variables: text,
      created: bigint,
      expiresAt: optional(bigint),
      lastUsed: optional(bigint),
    },
    indexes: {
      dashboardSharesById: { columns: ['id'], isUnique: true },
      dashboardSharesBydashboardId: ['dashboardId'],
    },
  },
  reports: {
    columns: {
      ...named,
      organizationId: references('organizations'),
      workspaceId: partOf('workspaces'),
      // A report outlives its dashboard, switched off.
      dashboardId: text,
      variables: text,
      last: text,
      schedule: text,
      recipients: text,
      formats: text,
      active: integer,
      ownerType: text,
      ownerId: text,
      lastSent: optional(bigint),
      nextRun: optional(bigint),
      nextAt: optional(bigint),
      tries: integer,
      lastRun: optional(bigint),
      refusedMails: integer,
      failedRuns: integer,
      problem: optional(text),
    },
    indexes: {
      reportsByorganizationIdworkspaceIdsearchTextid: byName,
      reportsByworkspaceId: ['workspaceId'],
      reportsBydashboardId: ['dashboardId'],
      reportsBynextAt: { columns: ['nextAt'], where: '"nextAt" is not null' },
    },
  },
  // What the mails of one run have in common, for as long as they can be sent again.
  reportFiles: {
    columns: {
      contentId: text,
      place: integer,
      organizationId: partOf('organizations'),
      name: text,
      contentType: text,
      cid: optional(text),
      content: { type: 'bytea' },
      created: bigint,
    },
    primaryKey: ['reportFilesKey', 'contentId', 'place'],
    indexes: { reportFilesBycreated: ['created'] },
  },
  // Mails that were queued: their links to unsubscribe, and how many an organization sent in a day.
  reportMails: {
    columns: {
      tokenHash: key,
      organizationId: partOf('organizations'),
      reportId: text,
      email: text,
      created: bigint,
    },
    indexes: {
      reportMailsByorganizationIdcreated: ['organizationId', 'created'],
      reportMailsBycreated: ['created'],
    },
  },
  views: {
    columns: {
      ...named,
      organizationId: references('organizations'),
      workspaceId: partOf('workspaces'),
      ownerId: text,
      kind: text,
      shared: integer,
      content: text,
    },
    indexes: {
      viewsByworkspaceIdownerId: ['workspaceId', 'ownerId'],
      viewsByownerId: ['ownerId'],
    },
  },
  annotations: {
    columns: {
      id: key,
      organizationId: references('organizations'),
      workspaceId: partOf('workspaces'),
      at: bigint,
      until: optional(bigint),
      text,
      searchText: text,
      deviceId: optional(partOf('devices')),
      placeId: optional(partOf('places')),
      by: text,
      created: bigint,
      updated: optional(bigint),
      version: integer,
    },
    indexes: {
      annotationsByworkspaceIdat: ['workspaceId', 'at', 'id'],
      annotationsBydeviceId: ['deviceId'],
      annotationsByplaceId: ['placeId'],
    },
  },
  // Workspaces of the demo, whose deletion removes all of their contents.
  demoWorkspaces: {
    columns: {
      workspaceId: asKey(partOf('workspaces')),
      organizationId: unique(text),
      deviceTypeIds: text,
    },
  },
};

/**
 * What devices cause. Status, state, log and positions are written by followers, which may lag
 * behind the deletion of a device, so they name no row of another table.
 */
const activity: Tables = {
  deviceStatus: {
    columns: {
      deviceId: key,
      uplinkMetrics: text,
      lastUplinkAt: bigint,
      // Copies of the device, which a trigger keeps: a count of online devices reads one table.
      workspaceId: optional(text),
      onlineUntil: optional(bigint),
      batteryLevel: optional({ type: 'real' }),
      // Of the last write, of several nodes: a former owner is refused.
      epoch: withDefault(integer, 0),
      position: withDefault(integer, 0),
    },
    indexes: {
      deviceStatusByworkspaceIdlastUplinkAt: [
        'workspaceId',
        'lastUplinkAt',
        'deviceId',
        'onlineUntil',
      ],
      // Only low batteries are in it, so that it costs the others nothing.
      deviceStatusLowBattery: {
        columns: ['workspaceId', 'batteryLevel'],
        where: '"batteryLevel" < 40',
      },
    },
  },
  deviceState: {
    columns: {
      deviceId: key,
      state: text,
      epoch: withDefault(integer, 0),
      position: withDefault(integer, 0),
    },
  },
  processingLog: {
    columns: {
      sequence,
      id: text,
      deviceId: text,
      timestamp: bigint,
      level: text,
      source: text,
      message: text,
      correlationId: text,
      details: optional(text),
    },
    unique: ['processingLogId', 'id'],
    indexes: {
      processingLogBydeviceIdsequence: ['deviceId', 'sequence'],
      processingLogBytimestamp: ['timestamp'],
    },
  },
  followerPositions: { columns: { follower: key, position: bigint } },
  // Devices whose samples are still to be dropped.
  deletedDevices: { columns: { deviceId: key, deletedAt: bigint } },
  // Uplinks that device connectors refused.
  refusals: {
    columns: {
      id: key,
      ...inWorkspace,
      connectorId: partOf('deviceConnectors'),
      transport: text,
      reason: text,
      status: integer,
      deviceId: optional(text),
      message: text,
      first: bigint,
      last: bigint,
      count: bigint,
      bytes: bigint,
      payload: optional(text),
      payloadForm: optional(text),
      sent: optional(text),
    },
    indexes: {
      refusalsByConnector: ['connectorId', 'last'],
      refusalsByWorkspace: ['workspaceId', 'last'],
    },
  },
  downlinks: {
    columns: {
      sequence,
      id: unique(text),
      deviceId: partOf('devices'),
      connectivity: text,
      created: bigint,
      updated: optional(bigint),
      state: text,
      error: optional(text),
      port: optional(integer),
      confirmed: optional(integer),
      payloadHex: optional(text),
      topic: optional(text),
      payload: optional(text),
      replaces: integer,
      tries: integer,
      nextTryAt: optional(bigint),
      expiresAt: bigint,
      serverReference: optional(text),
      correlationId: text,
    },
    indexes: {
      downlinksByDevice: ['deviceId', 'sequence'],
      downlinksByState: ['state', 'deviceId', 'sequence'],
    },
  },
  // On one platform rows stay for moments, until the delivery log has them: indexes for lists would
  // only cost time.
  deliveries: {
    columns: {
      sequence,
      id: unique(text),
      idempotencyKey: unique(text),
      connectorId: text,
      organizationId: text,
      workspaceId: text,
      deviceId: text,
      correlationId: text,
      cause: text,
      ruleId: optional(text),
      ruleHops: integer,
      context: text,
      state: text,
      tries: integer,
      nextAt: bigint,
      created: bigint,
      updated: bigint,
      payload: optional(text),
      answer: optional(text),
      reason: optional(text),
      // Of several nodes, which share the rows.
      shard: optional(integer),
      revision: withDefault(integer, 0),
      isResent: withDefault(integer, 0),
    },
    indexes: { deliveriesByDevice: ['deviceId'] },
  },
  operations: {
    columns: {
      id: key,
      ...inWorkspace,
      creator: text,
      type: text,
      plan: text,
      started: bigint,
      completed: optional(bigint),
      total: integer,
      done: integer,
      failed: integer,
    },
    indexes: { operationsByworkspaceIdstarted: ['workspaceId', 'started'] },
  },
  operationActions: {
    columns: {
      id: key,
      operationId: partOf('operations'),
      place: integer,
      type: text,
      state: text,
      input: optional(text),
      data: text,
      started: optional(bigint),
      completed: optional(bigint),
    },
    unique: ['operationActionsPlace', 'operationId', 'place'],
  },
  // Their files are in the data folder of the node.
  sampleExports: {
    columns: {
      id: asKey(partOf('operations')),
      ...inWorkspace,
      node: text,
      state: text,
      plan: text,
      samples: bigint,
      bytes: bigint,
      unreadable: integer,
      errorCode: optional(text),
      error: optional(text),
      expires: optional(bigint),
    },
    indexes: { sampleExportsByOrganization: ['organizationId'] },
  },
  // What each request changed in a workspace, counted from the audit log.
  activities: {
    columns: {
      id: key,
      organizationId: text,
      workspaceId: text,
      requestId: optional(text),
      actorType: text,
      actorId: text,
      actorName: text,
      started: bigint,
      timestamp: bigint,
      resourceTypes: text,
      changes: text,
      records: text,
    },
    indexes: {
      activitiesByorganizationIdworkspaceIdtimestamp: [
        'organizationId',
        'workspaceId',
        'timestamp',
        'id',
      ],
      activitiesByrequestId: ['requestId', 'workspaceId', 'actorId', 'timestamp'],
      activitiesBytimestamp: ['timestamp'],
    },
  },
  idempotencyKeys: {
    columns: {
      id: key,
      bodyHash: text,
      firstSeenAt: bigint,
      answer: optional(text),
      // What of an interrupted request is in the journal, and from where on the journal may hold more.
      journalPosition: withDefault(bigint, 0),
      durableParts: withDefault(text, '[]'),
      // Of several nodes: the one whose journal it is, and the process that does the work.
      node: withDefault(text, ''),
      runBy: optional(text),
    },
    indexes: { idempotencyKeysByFirstSeenAt: ['firstSeenAt'] },
  },
};

/**
 * Rules, what they remember between runs, and alarms. The state of rules refers to no rule: the
 * engine writes it behind the journal, and drops what is of a rule that is gone.
 */
const rulesAndAlarms: Tables = {
  customLogicBlocks: {
    columns: {
      ...named,
      organizationId: references('organizations'),
      dataSources: text,
      logicProperties: text,
      script: text,
    },
    indexes: {
      customLogicBlocksByorganizationIdsearchTextid: ['organizationId', 'searchText', 'id'],
    },
  },
  rules: {
    columns: {
      ...named,
      ...inWorkspace,
      active: integer,
      inputs: text,
      timer: text,
      logic: text,
      actions: text,
      activation: integer,
      activatedAt: bigint,
      nextExecution: optional(bigint),
    },
    indexes: {
      rulesByorganizationIdworkspaceIdsearchTextid: byName,
      rulesBynextExecution: ['nextExecution'],
    },
  },
  ruleReferences: {
    columns: { ruleId: partOf('rules'), kind: text, referenceId: text },
    primaryKey: ['ruleReferencesKey', 'ruleId', 'kind', 'referenceId'],
    indexes: { ruleReferencesByreferenceId: ['kind', 'referenceId'] },
  },
  ruleScriptStates: { columns: { ruleId: key, activation: integer, state: text } },
  ruleDeviceStates: {
    columns: {
      ruleId: text,
      deviceId: text,
      activation: integer,
      holds: text,
      waits: optional(text),
      dueAt: optional(bigint),
    },
    primaryKey: ['ruleDeviceStatesKey', 'ruleId', 'deviceId'],
    indexes: {
      ruleDeviceStatesBydueAt: { columns: ['dueAt'], where: '"dueAt" is not null' },
    },
  },
  ruleJudgedTimes: { columns: { deviceId: key, times: text } },
  ruleLastSamples: {
    columns: { deviceId: text, topic: text, dataKey: text, sample: text },
    primaryKey: ['ruleLastSamplesKey', 'deviceId', 'topic', 'dataKey'],
  },
  ruleTimers: {
    columns: { id: key, ruleId: text, activation: integer, runAt: bigint, meta: optional(text) },
    indexes: { ruleTimersByrunAt: ['runAt'], ruleTimersByruleId: ['ruleId'] },
  },
  ruleTriggers: {
    columns: { sequence, ruleId: text, activation: integer, trigger: text },
    indexes: { ruleTriggersByruleId: ['ruleId', 'sequence'] },
  },
  ruleRuns: { columns: { ruleId: key, runs: text } },
  mutes: {
    columns: {
      ...named,
      organizationId: references('organizations'),
      workspaceId: partOf('workspaces'),
      what: text,
      severityBelow: optional(text),
      startsAt: optional(bigint),
      endsAt: optional(bigint),
      weekly: optional(text),
      active: integer,
      nextAt: optional(bigint),
    },
    indexes: {
      mutesByorganizationIdworkspaceIdsearchTextid: byName,
      mutesByworkspaceId: ['workspaceId'],
      mutesBynextAt: { columns: ['nextAt'], where: '"nextAt" is not null' },
      mutesByendsAt: { columns: ['endsAt'], where: '"endsAt" is not null' },
    },
  },
  onCallOrders: {
    columns: {
      ...named,
      organizationId: references('organizations'),
      workspaceId: partOf('workspaces'),
      timeZone: text,
      order: text,
      turn: text,
      startsAt: bigint,
      overrides: text,
      memberEmails: text,
    },
    indexes: {
      onCallOrdersByorganizationIdworkspaceIdsearchTextid: byName,
      onCallOrdersByworkspaceId: ['workspaceId'],
    },
  },
  calculations: {
    columns: {
      ...named,
      ...inWorkspace,
      active: integer,
      tagId: optional(text),
      deviceIds: optional(text),
      topic: text,
      period: text,
      timeZone: optional(text),
      startAt: bigint,
      targetId: text,
      targetTopic: text,
      outputs: text,
      activation: integer,
    },
    indexes: {
      calculationsByorganizationIdworkspaceIdsearchTextid: byName,
      calculationsByworkspaceId: ['workspaceId'],
      calculationsBytagId: ['tagId'],
    },
  },
  // The progress and the marks refer to no calculation: they are written behind the journal.
  calculationProgress: {
    columns: {
      calculationId: key,
      activation: integer,
      computedTo: bigint,
      computedAt: optional(bigint),
      error: optional(text),
      errorAt: optional(bigint),
    },
  },
  calculationMarks: {
    columns: { calculationId: text, slot: bigint, fromAt: bigint, toAt: bigint, revision: bigint },
    primaryKey: ['calculationMarksKey', 'calculationId', 'slot'],
  },
  // How far the rules of each shard of workspaces have evaluated the journal of each node.
  rulePositions: {
    columns: { shard: integer, journal: text, position: bigint },
    primaryKey: ['rulePositionsKey', 'shard', 'journal'],
  },
  // Device and rule are copies, because an alarm is kept longer than they may be.
  alarms: {
    columns: {
      id: key,
      organizationId: text,
      workspaceId: partOf('workspaces'),
      name: text,
      severity: text,
      severityRank: integer,
      state: text,
      key: text,
      openKey: optional(text),
      connectorId: text,
      deviceId: optional(text),
      deviceName: optional(text),
      devicePhysicalId: optional(text),
      ruleId: text,
      ruleName: text,
      count: integer,
      firstTriggered: bigint,
      lastTriggered: bigint,
      firstSampleAt: optional(bigint),
      lastSampleAt: optional(bigint),
      acknowledgedAt: optional(bigint),
      acknowledgedBy: optional(text),
      clearedAt: optional(bigint),
      clearedBy: optional(text),
      clearReason: optional(text),
      escalatedAt: optional(bigint),
      clearAt: optional(bigint),
      escalateAt: optional(bigint),
      remindAt: optional(bigint),
      remindEveryMs: optional(bigint),
      escalateAfterMs: optional(bigint),
      muteId: optional(text),
      mutedUntil: optional(bigint),
      data: text,
      correlationId: text,
      sources: integer,
      commentCount: integer,
      orderedBy: text,
      searchText: text,
      version: integer,
    },
    indexes: {
      alarmsByorganizationIdlastTriggeredid: ['organizationId', 'lastTriggered', 'id'],
      alarmsByworkspaceIdlastTriggeredid: ['workspaceId', 'lastTriggered', 'id'],
      alarmsBydeviceIdlastTriggeredid: ['deviceId', 'lastTriggered', 'id'],
      alarmsByruleIdlastTriggeredid: ['ruleId', 'lastTriggered', 'id'],
      alarmsByopenKey: {
        columns: ['workspaceId', 'openKey'],
        isUnique: true,
        where: '"openKey" is not null',
      },
      // Counts of open alarms read this index and no row.
      alarmsOpen: {
        columns: ['workspaceId', 'state', 'severity'],
        where: `"state" <> 'CLEARED'`,
      },
      alarmsByclearAt: { columns: ['clearAt'], where: '"clearAt" is not null' },
      alarmsByescalateAt: { columns: ['escalateAt'], where: '"escalateAt" is not null' },
      alarmsBymutedUntil: { columns: ['mutedUntil'], where: '"mutedUntil" is not null' },
      alarmsBymuteId: { columns: ['muteId'], where: '"muteId" is not null' },
      alarmsByremindAt: { columns: ['remindAt'], where: '"remindAt" is not null' },
      alarmsByclearedAt: { columns: ['clearedAt'], where: '"clearedAt" is not null' },
    },
  },
  // What keeps an alarm open.
  alarmSources: {
    columns: { ruleId: text, deviceId: text, connectorId: text, alarmId: partOf('alarms') },
    primaryKey: ['alarmSourcesKey', 'ruleId', 'deviceId', 'connectorId', 'alarmId'],
    indexes: {
      alarmSourcesByalarmId: ['alarmId'],
      alarmSourcesBydeviceId: ['deviceId'],
      alarmSourcesByconnectorId: ['connectorId'],
    },
  },
  alarmComments: {
    columns: { id: key, alarmId: partOf('alarms'), at: bigint, by: text, text },
    indexes: { alarmCommentsByalarmIdat: ['alarmId', 'at'] },
  },
};

/** Kept by `triggers`, but for the last two, so that neither a limit nor a list counts rows. */
const counts: Tables = {
  organizationCounts: {
    columns: { organizationId: partOf('organizations'), what: text, count: integer },
    primaryKey: ['organizationCountsKey', 'organizationId', 'what'],
  },
  workspaceCounts: {
    columns: { workspaceId: partOf('workspaces'), what: text, count: integer },
    primaryKey: ['workspaceCountsKey', 'workspaceId', 'what'],
  },
  // Devices by the minute in which their online time ends.
  onlineCounts: {
    columns: { workspaceId: text, period: bigint, count: integer },
    primaryKey: ['onlineCountsKey', 'workspaceId', 'period'],
  },
  // Rows may outlive their record for a day: what happened is counted after it was deleted.
  periodCounts: {
    columns: { recordId: text, what: text, start: bigint, count: integer },
    primaryKey: ['periodCountsKey', 'recordId', 'what', 'start'],
    indexes: { periodCountsBywhatstart: ['what', 'start'] },
  },
  flowSamples: { columns: { dataFlowId: key, lastSampleAt: bigint } },
};

/** In an order in which each table refers to earlier ones only. */
const tables: Tables = { ...access, ...inventory, ...activity, ...rulesAndAlarms, ...counts };

async function createTable(
  db: Kysely<RecordTables>,
  name: string,
  { columns, primaryKey, unique: uniqueTogether, indexes = {} }: Table,
): Promise<void> {
  let builder = db.schema.createTable(name);
  for (const [columnName, column] of Object.entries(columns))
    builder = builder.addColumn(columnName, column.type, (built) => defined(built, column));
  if (primaryKey !== undefined) {
    const [constraint, ...keyColumns] = primaryKey;
    builder = builder.addPrimaryKeyConstraint(constraint, keyColumns as never[]);
  }
  if (uniqueTogether !== undefined) {
    const [constraint, ...uniqueColumns] = uniqueTogether;
    builder = builder.addUniqueConstraint(constraint, uniqueColumns as never[]);
  }
  await builder.execute();
  for (const [indexName, index] of Object.entries(indexes)) {
    const {
      columns: indexed,
      isUnique,
      where,
    }: Index = 'columns' in index ? index : { columns: index };
    let created = db.schema
      .createIndex(indexName)
      .on(name)
      .columns([...indexed]);
    if (isUnique === true) created = created.unique();
    if (where !== undefined) created = created.where(sql<SqlBool>`${sql.raw(where)}`);
    await created.execute();
  }
}

function defined(built: ColumnDefinitionBuilder, column: Column): ColumnDefinitionBuilder {
  let result = built;
  if (column.key !== undefined) result = result.primaryKey();
  else if (column.isOptional !== true) result = result.notNull();
  if (column.key === 'numbered') result = result.autoIncrement();
  if (column.isUnique === true) result = result.unique();
  if (column.default !== undefined) result = result.defaultTo(column.default);
  if (column.references !== undefined) result = result.references(column.references);
  return column.isDeletedWith === true ? result.onDelete('cascade') : result;
}

/** Triggers are part of the transaction that they follow: what is rolled back was never counted. */
function triggers(): readonly RowTrigger[] {
  return [
    ...organizationCountTriggers('devices'),
    ...organizationCountTriggers('rules'),
    ...workspaceCountTriggers('devices', 'devices'),
    ...workspaceCountTriggers('deviceStatus', 'heard'),
    dropTrigger('dataFlows', 'flowSamples', 'dataFlowId'),
    dropTrigger('workspaces', 'periodCounts', 'recordId'),
    dropTrigger('outputConnectors', 'periodCounts', 'recordId'),
    ...onlineCountTriggers(),
    statusTrigger,
    ...organizationCountTriggers('views'),
    ...openAlarmTriggers(),
  ];
}

function organizationCountTriggers(table: 'devices' | 'rules' | 'views'): readonly RowTrigger[] {
  const count = sql`values (new."organizationId", ${sql.lit(table)}, 1)`;
  const { add, remove } = organizationCount(table, count);
  return [
    { name: `${table}Added`, event: 'insert', table, work: add },
    { name: `${table}Removed`, event: 'delete', table, work: remove },
  ];
}

function openAlarmTriggers(): readonly RowTrigger[] {
  // Alarms do not refer to their organization, which may be gone.
  const count = sql`select "id", 'openAlarms', 1 from "organizations" where "id" = new."organizationId"`;
  const { add, remove } = organizationCount('openAlarms', count);
  const isOpen = sql`new."openKey" is not null`;
  const wasOpen = sql`old."openKey" is not null`;
  const opened = sql`${isOpen} and not (${wasOpen})`;
  const cleared = sql`${wasOpen} and not (${isOpen})`;
  const table = 'alarms';
  const columns = ['openKey'];
  return [
    { name: 'openAlarmsAdded', event: 'insert', table, when: isOpen, work: add },
    { name: 'openAlarmsRemoved', event: 'delete', table, when: wasOpen, work: remove },
    { name: 'openAlarmsOpened', event: 'update', table, columns, when: opened, work: add },
    { name: 'openAlarmsCleared', event: 'update', table, columns, when: cleared, work: remove },
  ];
}

function organizationCount(what: string, count: RawBuilder<unknown>) {
  return {
    add: sql`
      insert into "organizationCounts" ("organizationId", "what", "count") ${count}
      on conflict ("organizationId", "what") do update
      set "count" = "organizationCounts"."count" + 1`,
    remove: sql`
      update "organizationCounts" set "count" = "count" - 1
      where "organizationId" = old."organizationId" and "what" = ${sql.lit(what)}`,
  };
}

function workspaceCountTriggers(table: string, what: string): readonly RowTrigger[] {
  const add = sql`
    insert into "workspaceCounts" ("workspaceId", "what", "count")
    values (new."workspaceId", ${sql.lit(what)}, 1)
    on conflict ("workspaceId", "what") do update set "count" = "workspaceCounts"."count" + 1`;
  const remove = sql`
    update "workspaceCounts" set "count" = "count" - 1
    where "workspaceId" = old."workspaceId" and "what" = ${sql.lit(what)}`;
  const isMoved = sql`old."workspaceId" is distinct from new."workspaceId"`;
  const hasNew = sql`new."workspaceId" is not null`;
  const hadOld = sql`old."workspaceId" is not null`;
  const moved = { table, event: 'update', columns: ['workspaceId'] } as const;
  return [
    { name: `${table}AddedToWorkspace`, table, event: 'insert', when: hasNew, work: add },
    { name: `${table}RemovedFromWorkspace`, table, event: 'delete', when: hadOld, work: remove },
    { ...moved, name: `${table}LeftWorkspace`, when: sql`${isMoved} and ${hadOld}`, work: remove },
    { ...moved, name: `${table}JoinedWorkspace`, when: sql`${isMoved} and ${hasNew}`, work: add },
  ];
}

/** The status follows its device. A device that is gone since its last message stays so. */
const statusTrigger: RowTrigger = {
  name: 'devicesChangedOnline',
  event: 'update',
  table: 'devices',
  columns: ['workspaceId', 'onlineTimeoutSeconds', 'registered'],
  when: sql`old."workspaceId" is distinct from new."workspaceId"
    or old."onlineTimeoutSeconds" is distinct from new."onlineTimeoutSeconds"
    or old."registered" is distinct from new."registered"`,
  work: sql`
    update "deviceStatus" set
      "workspaceId" = new."workspaceId",
      "onlineUntil" = case when new."registered" = 0 then null
        when "onlineUntil" <= "lastUplinkAt" then "onlineUntil"
        else "lastUplinkAt" + new."onlineTimeoutSeconds" * 1000 end
    where "deviceId" = new."id"`,
};

function onlineCountTriggers(): readonly RowTrigger[] {
  // The period of `online-totals.ts`, as a number: the schema of a release stays as it is.
  const periodOf = (column: string) => sql`${sql.raw(column)} / 60000`;
  const add = sql`
    insert into "onlineCounts" ("workspaceId", "period", "count")
    values (new."workspaceId", ${periodOf('new."onlineUntil"')}, 1)
    on conflict ("workspaceId", "period") do update set "count" = "onlineCounts"."count" + 1`;
  const remove = sql`
    update "onlineCounts" set "count" = "count" - 1
    where "workspaceId" = old."workspaceId" and "period" = ${periodOf('old."onlineUntil"')}`;
  // A period without devices has no row, so that there are never more rows than devices.
  const empty = sql`
    delete from "onlineCounts"
    where "workspaceId" = new."workspaceId" and "period" = new."period"`;
  const isMoved = sql`(old."workspaceId" is distinct from new."workspaceId"
    or ${periodOf('old."onlineUntil"')} is distinct from ${periodOf('new."onlineUntil"')})`;
  const isCounted = sql`new."workspaceId" is not null and new."onlineUntil" is not null`;
  const wasCounted = sql`old."workspaceId" is not null and old."onlineUntil" is not null`;
  const left = sql`${isMoved} and ${wasCounted}`;
  const joined = sql`${isMoved} and ${isCounted}`;
  const table = 'deviceStatus';
  const moved = { table, event: 'update', columns: ['workspaceId', 'onlineUntil'] } as const;
  return [
    { name: 'deviceStatusAddedOnline', table, event: 'insert', when: isCounted, work: add },
    { name: 'deviceStatusRemovedOnline', table, event: 'delete', when: wasCounted, work: remove },
    { ...moved, name: 'deviceStatusLeftOnline', when: left, work: remove },
    { ...moved, name: 'deviceStatusJoinedOnline', when: joined, work: add },
    {
      name: 'onlineCountsEmptied',
      table: 'onlineCounts',
      event: 'update',
      when: sql`new."count" <= 0`,
      work: empty,
    },
  ];
}

/** With a row of one table go the counts about it in another one. */
function dropTrigger(table: string, dropped: string, column: string): RowTrigger {
  return {
    name: `${table}Drop${dropped}`,
    event: 'delete',
    table,
    work: sql`delete from ${sql.table(dropped)} where ${sql.ref(column)} = old."id"`,
  };
}

/** What only several nodes need, and the order of commits, which SQLite has without it. */
async function addPostgresOnly(db: Kysely<RecordTables>): Promise<void> {
  // Sequences are given before commits: see `commit-order.ts`.
  for (const table of ['deliveries', 'ruleTriggers'] as const) {
    await sql`
      alter table ${sql.table(table)}
      add column "xid" xid8 not null default pg_current_xact_id()`.execute(db);
    await sql`
      create index ${sql.id(`${table}Byxidsequence`)}
      on ${sql.table(table)} ("xid", "sequence")`.execute(db);
  }
  await sql`
    create index "deliveriesWaitingByShard" on "deliveries" ("shard", "sequence")
    where "state" = 'PENDING'`.execute(db);
  await sql`
    create index "deliveriesByConnectorState"
    on "deliveries" ("connectorId", "state", "updated")`.execute(db);
  // The journal number is given with the first registration and never again.
  await sql`
    create table "nodes" (
      "id" text collate "C" primary key,
      "journal" bigint generated always as identity unique,
      "session" text not null,
      "url" text not null,
      "seenUntil" timestamptz not null,
      "draining" boolean not null)`.execute(db);
  // Rows change every two seconds and stay small: room in their pages saves the indexes.
  await sql`
    create table "leases" (
      "name" text collate "C" primary key,
      "node" text collate "C" references "nodes" ("id"),
      "epoch" bigint not null default 0,
      "until" timestamptz not null default '-infinity') with (fillfactor = 50)`.execute(db);
  // One for all leases: what a device's workspace has written is newer than what its former one had.
  await sql`create sequence "leaseEpochs"`.execute(db);
  await sql`
    create table "movedDevices" (
      "deviceId" text collate "C" primary key,
      "epoch" bigint not null)`.execute(db);
  await sql`
    create function "noteMovedDevice"() returns trigger language plpgsql as $$
    begin
      insert into "movedDevices" values (new."id", nextval('"leaseEpochs"'))
      on conflict ("deviceId") do update set "epoch" = excluded."epoch";
      return null;
    end $$`.execute(db);
  await sql`
    create trigger "devicesMoved" after update of "workspaceId" on "devices" for each row
    when (old."workspaceId" is distinct from new."workspaceId")
    execute function "noteMovedDevice"()`.execute(db);
  await sql`
    create function "forgetMovedDevice"() returns trigger language plpgsql as $$
    begin
      delete from "movedDevices" where "deviceId" = old."id";
      return null;
    end $$`.execute(db);
  await sql`
    create trigger "devicesForgotten" after delete on "devices" for each row
    execute function "forgetMovedDevice"()`.execute(db);
  // Where the copies of journals are, and which copy was adopted.
  await sql`
    create table "journalCopies" (
      "node" text collate "C" primary key,
      "holder" text collate "C" not null,
      "copy" text not null,
      "adopted" text)`.execute(db);
  // The time of the server, because every node removes old rows.
  await sql`
    create table "recordChanges" (
      "sequence" bigint generated by default as identity primary key,
      "node" text collate "C" not null,
      "created" bigint not null default (extract(epoch from clock_timestamp()) * 1000)::bigint,
      "changes" text collate "C" not null,
      "lists" text collate "C" not null)`.execute(db);
  // A node knows by a row up to where it has read: one always exists.
  await sql`
    insert into "recordChanges" ("node", "changes", "lists") values ('', '[]', '[]')`.execute(db);
}
