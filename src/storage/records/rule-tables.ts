// The tables of rules as Kysely sees them; a part of the schema.
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
    nextExecution: number | null;
  };
  ruleReferences: { ruleId: string; kind: string; referenceId: string };
  ruleScriptStates: { ruleId: string; activation: number; state: JsonText };
  /** Which logic blocks of the rule hold for the device; `deviceId` is empty for timed runs. */
  ruleDeviceStates: { ruleId: string; deviceId: string; activation: number; holds: string };
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
}
