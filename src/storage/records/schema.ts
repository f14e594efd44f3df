// The tables as Kysely sees them. Texts, integers and null only, so that the same statements run on PostgreSQL.
import type { Generated } from 'kysely';
import type { SignInKind } from '../../model/user.ts';

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
  places: NamedColumns & {
    organizationId: string;
    workspaceId: string;
    parentId: string | null;
    kind: string | null;
    externalId: string | null;
    position: JsonText | null;
    plan: JsonText | null;
    properties: JsonText;
    /** The name as filters and siblings compare it. */
    nameKey: string;
  };
  /** Every place with itself (depth 0) and each place above it. */
  placeAncestors: { placeId: string; ancestorId: string; depth: number };
  deviceTypes: NamedColumns & {
    organizationId: string | null;
    type: string;
    meta: JsonText;
    schemas: JsonText;
    sampleData: JsonText | null;
    uplinkScript: JsonText | null;
    downlinkScript: JsonText | null;
    /** Null without any. */
    calculatedKeys: JsonText | null;
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
    encoding: string | null;
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
    placeId: string | null;
    planPosition: JsonText | null;
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
    deviceTypeId: string | null;
    placeKind: string | null;
    configuration: JsonText;
  };
  reports: NamedColumns & {
    organizationId: string;
    workspaceId: string;
    dashboardId: string;
    variables: JsonText;
    last: string;
    schedule: JsonText;
    recipients: JsonText;
    formats: JsonText;
    active: Flag;
    ownerType: string;
    ownerId: string;
    lastSent: number | null;
    nextRun: number | null;
    nextAt: number | null;
    tries: number;
    lastRun: number | null;
    refusedMails: number;
    failedRuns: number;
    problem: JsonText | null;
  };
  reportFiles: {
    contentId: string;
    place: number;
    organizationId: string;
    name: string;
    contentType: string;
    cid: string | null;
    content: Uint8Array;
    created: number;
  };
  reportMails: {
    tokenHash: string;
    organizationId: string;
    reportId: string;
    email: string;
    created: number;
  };
  dashboardVersions: {
    dashboardId: string;
    version: number;
    at: number;
    /** JSON of an actor; null for a change of the platform itself. */
    by: JsonText | null;
    name: string;
    bytes: number;
    /** Deflated JSON. */
    content: Uint8Array;
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
    sent: JsonText | null;
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

// Tables of how users prove who they are: sessions, second factors, mailed links and people of a provider.

interface IdentityTables {
  sessions: {
    id: string;
    tokenHash: string;
    userId: string;
    organizationId: string;
    created: number;
    lastSeen: number;
    expiresAt: number;
    signInKind: SignInKind;
    userAgent: string | null;
    ip: string | null;
    providerSession: string | null;
    idToken: string | null;
  };
  passwordResets: { tokenHash: string; userId: string; created: number; expiresAt: number };
  invitations: {
    id: string;
    tokenHash: string;
    mailedTokenHash: string | null;
    organizationId: string;
    userId: string;
    created: number;
    expiresAt: number;
  };
  authenticatorApps: {
    userId: string;
    sealedSecret: string;
    /** Null until the first code was right. */
    confirmed: number | null;
    /** The interval of 30 s of the last accepted code; codes of it and of earlier ones are used up. */
    lastStep: number;
    created: number;
  };
  passkeys: {
    id: string;
    userId: string;
    credentialId: string;
    publicKey: string;
    counter: number;
    name: string;
    /** A list in JSON. */
    transports: string;
    lastChallenge: number;
    created: number;
    lastUsed: number | null;
  };
  /** Users who still have the password that was generated for them. */
  firstPasswords: { userId: string };
  /** Organizations whose members must have a second factor. */
  secondFactorDemands: { organizationId: string };
  recoveryCodes: { userId: string; codeHash: string };
  userIdentities: { issuer: string; subject: string; userId: string; created: number };
}

// The tables of integrations and downlinks as Kysely sees them.

interface NetworkTables {
  integrations: {
    id: string;
    organizationId: string;
    workspaceId: string;
    name: string;
    description: string | null;
    searchText: string;
    type: string;
    provider: string | null;
    /** JSON, encrypted with the installation's key. */
    properties: string;
    created: number;
    updated: number | null;
    version: number;
  };
  /** In the order of their making; flags are 0 or 1. */
  downlinks: {
    sequence: Generated<number>;
    id: string;
    deviceId: string;
    connectivity: string;
    created: number;
    updated: number | null;
    state: string;
    error: string | null;
    port: number | null;
    confirmed: number | null;
    payloadHex: string | null;
    topic: string | null;
    /** JSON. */
    payload: string | null;
    replaces: number;
    tries: number;
    nextTryAt: number | null;
    expiresAt: number;
    serverReference: string | null;
    correlationId: string;
  };
}

// Columns of the device status, one row for each device that ever sent an uplink.

/** What the owner of the device, of several nodes, wrote last; 0 for the only platform. */
interface FenceColumns {
  epoch: Generated<number>;
  position: Generated<number>;
}

interface DeviceStatusColumns extends FenceColumns {
  deviceId: string;
  lastUplinkAt: number;
  /** JSON. */
  uplinkMetrics: string;
  /** That of the device; null when the device is deleted. */
  workspaceId: string | null;
  /** Null for a device that its network server does not know. */
  onlineUntil: number | null;
  /** That of the metrics, for the index of low batteries. */
  batteryLevel: number | null;
}

// Tables of what users arrange for themselves, as Kysely sees them.

interface ConsoleTables {
  dashboardShares: {
    id: string;
    lastUsed: number | null;
    tokenHash: string;
    dashboardId: string;
    variables: JsonText;
    created: number;
    expiresAt: number | null;
  };
  demoWorkspaces: { workspaceId: string; organizationId: string; deviceTypeIds: JsonText };
  annotations: {
    id: string;
    organizationId: string;
    workspaceId: string;
    at: number;
    until: number | null;
    text: string;
    searchText: string;
    deviceId: string | null;
    placeId: string | null;
    by: JsonText;
    created: number;
    updated: number | null;
    version: number;
  };
  preferences: { ownerId: string; content: JsonText; updated: number };
  activities: {
    id: string;
    organizationId: string;
    workspaceId: string;
    requestId: string | null;
    actorType: string;
    actorId: string;
    actorName: string;
    started: number;
    timestamp: number;
    /** Between bars, so that each is found. */
    resourceTypes: string;
    changes: JsonText;
    records: JsonText;
  };
  /** What happened to a record in a period that begins at `start`. */
  periodCounts: { recordId: string; what: string; start: number; count: number };
  flowSamples: { dataFlowId: string; lastSampleAt: number };
  views: {
    id: string;
    organizationId: string;
    workspaceId: string;
    ownerId: string;
    name: string;
    description: string | null;
    searchText: string;
    kind: string;
    shared: number;
    content: JsonText;
    created: number;
    updated: number | null;
    version: number;
  };
}

// Tables with rows of single nodes, as Kysely sees them.

interface NodeTables {
  idempotencyKeys: {
    id: string;
    bodyHash: string;
    firstSeenAt: number;
    answer: JsonText | null;
    journalPosition: number;
    durableParts: JsonText;
    /** The node whose journal has the parts; empty for the only platform. */
    node: Generated<string>;
    /** The process that does the work, of several nodes; null when none does. */
    runBy: Generated<string | null>;
  };
  /** Of several nodes. */
  rulePositions: { shard: number; journal: string; position: number };
  /** Only in PostgreSQL. */
  recordChanges: {
    sequence: Generated<number>;
    node: string;
    created: Generated<number>;
    changes: JsonText;
    lists: JsonText;
  };
}

// The tables of rules, their deliveries and alarms as Kysely sees them; a part of the schema.

interface RuleTables {
  customLogicBlocks: NamedColumns & {
    organizationId: string;
    dataSources: JsonText;
    logicProperties: JsonText;
    script: string;
  };
  rules: NamedColumns & {
    organizationId: string;
    workspaceId: string;
    active: Flag;
    inputs: JsonText;
    timer: JsonText;
    logic: JsonText;
    actions: JsonText;
    activation: number;
    activatedAt: number;
    nextExecution: number | null;
  };
  ruleReferences: { ruleId: string; kind: string; referenceId: string };
  ruleScriptStates: { ruleId: string; activation: number; state: JsonText };
  /** Which logic blocks of the rule hold for the device; `deviceId` is empty for timed runs. */
  ruleDeviceStates: {
    ruleId: string;
    deviceId: string;
    activation: number;
    holds: string;
    /** Logic blocks that are about to change, and when the next of them does. */
    waits: JsonText | null;
    dueAt: number | null;
  };
  /** Of each rule of the device, its activation and the newest judged time of each data source. */
  ruleJudgedTimes: { deviceId: string; times: JsonText };
  ruleLastSamples: { deviceId: string; topic: string; dataKey: string; sample: JsonText };
  ruleTimers: {
    id: string;
    ruleId: string;
    activation: number;
    runAt: number;
    meta: JsonText | null;
  };
  ruleTriggers: {
    sequence: Generated<number>;
    ruleId: string;
    activation: number;
    trigger: JsonText;
  };
  ruleRuns: { ruleId: string; runs: JsonText };
  mutes: NamedColumns & {
    organizationId: string;
    workspaceId: string;
    what: JsonText;
    severityBelow: string | null;
    startsAt: number | null;
    endsAt: number | null;
    weekly: JsonText | null;
    active: Flag;
    nextAt: number | null;
  };
  onCallOrders: NamedColumns & {
    organizationId: string;
    workspaceId: string;
    timeZone: string;
    order: JsonText;
    turn: string;
    startsAt: number;
    overrides: JsonText;
    memberEmails: JsonText;
  };
  calculations: NamedColumns & {
    organizationId: string;
    workspaceId: string;
    active: Flag;
    tagId: string | null;
    deviceIds: JsonText | null;
    topic: string;
    period: string;
    timeZone: string | null;
    startAt: number;
    targetId: string;
    targetTopic: string;
    outputs: JsonText;
    activation: number;
  };
  calculationProgress: {
    calculationId: string;
    activation: number;
    computedTo: number;
    computedAt: number | null;
    error: string | null;
    errorAt: number | null;
  };
  /** Periods that late samples have touched, by the hour in which they begin. */
  calculationMarks: {
    calculationId: string;
    slot: number;
    fromAt: number;
    toAt: number;
    revision: number;
  };
}

// The row of a delivery in the records store.

interface DeliveryRow {
  sequence: Generated<number>;
  id: string;
  idempotencyKey: string;
  connectorId: string;
  organizationId: string;
  workspaceId: string;
  deviceId: string;
  correlationId: string;
  cause: string;
  ruleId: string | null;
  ruleHops: number;
  /** JSON. */
  context: string;
  state: string;
  tries: number;
  nextAt: number;
  created: number;
  updated: number;
  payload: string | null;
  answer: string | null;
  reason: string | null;
  /** Of several nodes; null in the only process. */
  shard: number | null;
  revision: Generated<number>;
  isResent: Generated<number>;
}

// The tables of alarms as Kysely sees them; a part of the schema.

interface AlarmTables {
  alarms: {
    id: string;
    organizationId: string;
    workspaceId: string;
    name: string;
    severity: string;
    /** The place of the severity in their order, for sorting. */
    severityRank: number;
    state: string;
    key: string;
    /** The key until the alarm is cleared. */
    openKey: string | null;
    connectorId: string;
    deviceId: string | null;
    deviceName: string | null;
    devicePhysicalId: string | null;
    ruleId: string;
    ruleName: string;
    count: number;
    firstTriggered: number;
    lastTriggered: number;
    firstSampleAt: number | null;
    lastSampleAt: number | null;
    acknowledgedAt: number | null;
    acknowledgedBy: JsonText | null;
    clearedAt: number | null;
    clearedBy: JsonText | null;
    clearReason: string | null;
    escalatedAt: number | null;
    data: JsonText;
    correlationId: string;
    clearAt: number | null;
    escalateAt: number | null;
    remindAt: number | null;
    remindEveryMs: number | null;
    escalateAfterMs: number | null;
    muteId: string | null;
    mutedUntil: number | null;
    sources: number;
    commentCount: number;
    orderedBy: string;
    searchText: string;
    version: number;
  };
  alarmSources: { ruleId: string; deviceId: string; connectorId: string; alarmId: string };
  alarmComments: { id: string; alarmId: string; at: number; by: JsonText; text: string };
}
