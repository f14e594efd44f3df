// The tables as Kysely sees them. Texts, integers and null only, so that the same statements run on PostgreSQL.
import type { Generated } from 'kysely';
import type { AlarmTables } from './alarm-tables.ts';
import type { ConsoleTables } from './console-tables.ts';
import type { DeliveryRow } from './rows/delivery-row.ts';
import type { DeviceStatusColumns, FenceColumns } from './rows/device-status-columns.ts';
import type { IdentityTables } from './identity-tables.ts';
import type { NetworkTables } from './network-tables.ts';
import type { NodeTables } from './node-tables.ts';
import type { RuleTables } from './rule-tables.ts';

/** 0 or 1: SQLite has no boolean. */
type Flag = number;
/** JSON as a text; read and written through `columns.ts` alone. */
type JsonText = string;
/** Encrypted with the installation's key (`sealed-text.ts`). */
type SealedText = string;

interface AuditColumns {
  created: number;
  updated: number | null;
  version: number;
}

/** `searchText` is the lower-cased name, then what else a search looks at, one per line; it also gives the order by name. */
interface NamedColumns extends AuditColumns {
  id: string;
  name: string;
  description: string | null;
  searchText: string;
}

export interface RecordTables
  extends NetworkTables,
    RuleTables,
    AlarmTables,
    ConsoleTables,
    IdentityTables,
    NodeTables {
  organizations: NamedColumns & {
    logo: string | null;
    ownerId: string;
    properties: JsonText | null;
  };
  workspaces: NamedColumns & { organizationId: string; settings: JsonText; properties: JsonText };
  users: AuditColumns & {
    id: string;
    name: string;
    email: string;
    passwordHash: string;
    proven: number;
  };
  organizationMembers: {
    id: string;
    organizationId: string;
    userId: string;
    role: string;
    created: number;
    acceptedAt: number | null;
    fromProvider: Generated<Flag>;
  };
  workspaceMembers: {
    id: string;
    workspaceId: string;
    userId: string;
    role: string;
    created: number;
    fromProvider: Generated<Flag>;
  };
  apiKeys: {
    id: string;
    organizationId: string;
    name: string;
    description: string | null;
    searchText: string;
    allWorkspaces: Flag;
    workspaceIds: JsonText;
    permissions: JsonText;
    secretHash: string;
    secretPrefix: string;
    created: number;
    lastUsed: number | null;
    expiration: number | null;
  };
  oauthClients: {
    id: string;
    organizationId: string;
    name: string;
    description: string | null;
    searchText: string;
    allWorkspaces: Flag;
    workspaceIds: JsonText;
    permissions: JsonText;
    clientId: string;
    secretHash: string;
    created: number;
  };
  signingKeys: { id: string; privateKey: SealedText; publicKey: JsonText; created: number };
  auditLog: {
    sequence: Generated<number>;
    id: string;
    timestamp: number;
    organizationId: string;
    workspaceId: string | null;
    actorType: string;
    actorId: string;
    actorName: string;
    action: string;
    resourceType: string;
    resourceId: string;
    resourceName: string | null;
    requestId: string | null;
    ip: string | null;
    changes: JsonText;
  };
  tags: NamedColumns & { organizationId: string; workspaceId: string; color: string | null };
  deviceTypes: NamedColumns & {
    organizationId: string | null;
    type: string;
    meta: JsonText;
    schemas: JsonText;
    sampleData: JsonText | null;
    uplinkScript: JsonText | null;
    downlinkScript: JsonText | null;
    libraryPath: string | null;
    pictureUrl: string | null;
    /** The name as filters compare it. */
    nameKey: string;
  };
  deviceConnectors: NamedColumns & {
    organizationId: string;
    workspaceId: string;
    connectivity: string;
    authType: string;
    uplinkSecret: SealedText | null;
    uplinkSecretHash: string | null;
    decodingType: string;
    pushConfigurationAutomatically: Flag;
    lineProtocol: string | null;
    sparkplug: string | null;
    /** Those that an integration made have all three. */
    integrationId: string | null;
    carrier: string | null;
    provider: string | null;
  };
  outputConnectors: Omit<NamedColumns, 'description'> & {
    organizationId: string | null;
    workspaceId: string | null;
    scope: string;
    type: string;
    sendConsecutiveAlerts: Flag;
    invokeRuleEngine: Flag;
    useCustomPayload: Flag;
    customPayload: string | null;
    properties: SealedText | null;
  };
  dataFlows: NamedColumns & {
    organizationId: string;
    workspaceId: string;
    deviceConnectorId: string;
    deviceTypeId: string | null;
    passThrough: Flag;
    retentionDays: number | null;
  };
  dataFlowOutputs: { dataFlowId: string; place: number; outputConnectorId: string; topic: string };
  devices: NamedColumns & {
    deviceId: string;
    organizationId: string;
    workspaceId: string;
    dataFlowId: string;
    connectivity: string;
    onlineTimeoutSeconds: number;
    properties: JsonText;
    loraProperties: SealedText | null;
    excludeFromLifecycleReport: Flag;
    integrationId: string | null;
    /** Null for devices that no network server knows. */
    registered: Flag | null;
    active: Flag | null;
    /** Name, description and device id as filters compare them. */
    nameKey: string;
    descriptionKey: string | null;
    deviceIdKey: string;
    /** The parts of the LoRa properties that filters look at, by dotted name, as filters compare them. */
    loraKeys: JsonText | null;
  };
  customFieldMetas: NamedColumns & {
    organizationId: string;
    workspaceId: string;
    type: string;
    required: Flag;
    selectOptions: JsonText | null;
  };
  deviceCustomFields: {
    deviceId: string;
    metaId: string;
    value: JsonText;
    /** The value as filters compare it: a folded text or a number; both null for values without order. */
    textKey: string | null;
    numberKey: number | null;
    created: number;
    updated: number | null;
  };
  deviceCredentials: {
    id: string;
    deviceId: string;
    name: string | null;
    algorithm: string;
    publicKey: string;
    fingerprint: string;
    expiration: number | null;
    created: number;
  };
  deviceConfigurations: {
    deviceId: string;
    version: number;
    workspaceId: string;
    configuration: JsonText | null;
    created: number;
  };
  blobs: NamedColumns & {
    organizationId: string;
    workspaceId: string | null;
    contentType: string;
    size: number;
    sha256: string;
    content: Uint8Array;
  };
  dashboardGroups: NamedColumns & { organizationId: string; workspaceId: string };
  dashboards: NamedColumns & {
    organizationId: string;
    workspaceId: string;
    groupId: string | null;
    configuration: JsonText;
  };
  operations: {
    id: string;
    organizationId: string;
    workspaceId: string;
    creator: string;
    type: string;
    /** What must be done with every item; JSON. */
    plan: JsonText;
    started: number;
    completed: number | null;
    total: number;
    done: number;
    failed: number;
  };
  operationActions: {
    id: string;
    operationId: string;
    place: number;
    type: string;
    /** PENDING until its turn. */
    state: string;
    input: JsonText | null;
    data: JsonText;
    started: number | null;
    completed: number | null;
  };
  sampleExports: {
    /** That of its operation. */
    id: string;
    organizationId: string;
    workspaceId: string;
    node: string;
    state: string;
    plan: JsonText;
    samples: number;
    bytes: number;
    unreadable: number;
    errorCode: string | null;
    error: string | null;
    expires: number | null;
  };
  refusals: {
    id: string;
    organizationId: string;
    workspaceId: string;
    connectorId: string;
    transport: string;
    reason: string;
    status: number;
    deviceId: string | null;
    message: string;
    first: number;
    last: number;
    count: number;
    bytes: number;
    payload: string | null;
    payloadForm: string | null;
  };
  /** Their samples are still to be dropped. */
  deletedDevices: { deviceId: string; deletedAt: number };
  deviceTags: { deviceId: string; tagId: string };
  deviceStatus: DeviceStatusColumns;
  deviceState: { deviceId: string; state: JsonText } & FenceColumns;
  processingLog: {
    sequence: Generated<number>;
    id: string;
    deviceId: string;
    timestamp: number;
    level: string;
    source: string;
    message: string;
    correlationId: string;
    details: JsonText | null;
  };
  deliveries: DeliveryRow;
  organizationCounts: { organizationId: string; what: string; count: number };
  workspaceCounts: { workspaceId: string; what: string; count: number };
  /** Devices whose online time ends in a minute, by its number since 1970. */
  onlineCounts: { workspaceId: string; period: number; count: number };
  keyCheck: { word: SealedText };
  followerPositions: { follower: string; position: number };
}
