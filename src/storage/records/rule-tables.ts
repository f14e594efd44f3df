// The tables of rules, their deliveries and alarms as Kysely sees them; a part of the schema.
import type { Generated } from 'kysely';

/** 0 or 1: SQLite has no boolean. */
type Flag = number;
/** JSON as a text. */
type JsonText = string;

interface NamedColumns {
  id: string;
  name: string;
  description: string | null;
  searchText: string;
  created: number;
  updated: number | null;
  version: number;
}

export interface RuleTables {
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

export interface DeliveryRow {
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

export interface AlarmTables {
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
    sources: number;
    commentCount: number;
    orderedBy: string;
    searchText: string;
    version: number;
  };
  alarmSources: { ruleId: string; deviceId: string; connectorId: string; alarmId: string };
  alarmComments: { id: string; alarmId: string; at: number; by: JsonText; text: string };
}
