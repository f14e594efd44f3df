// Compiled rule: the watches of its data sources, its logic and its actions, computed once.
import type { AlarmProperties } from '../../model/alarm.ts';
import {
  type CustomLogicBlock,
  type GeoFence,
  type LogicBlock,
  parseGeoFence,
  type Rule,
  type RuleDataSource,
  type SilenceLogicBlock,
} from '../../model/rule.ts';
import { checkedDurationMs } from '../../model/iso-duration.ts';
import { readSchedule, type RuleSchedule } from '../../model/rule-schedule.ts';
import { combinationHolds, parseTagCombination } from '../../model/device.ts';
import type { BlockHold } from './condition-states.ts';
import { type BlockTest, compileBlock } from './comparison.ts';
import { Formulas, operandsOf, ownKeysOf, type PlacedFormula } from './operands.ts';
import { isWholeSample, type RuleEvaluation } from './rule-reading.ts';
import { alarmTemplates, type AlarmTemplates } from '../../outputs/templates/alarm-templates.ts';
import type { RecordsDb, SealedDb } from '../../storage/records/records.ts';
import { customLogicRows } from '../../storage/records/rows/rules.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { outputConnectorRows } from '../../storage/records/rows/data-flows.ts';

/** The samples that a data source takes: those of a topic that have one of the keys. */
export interface Watch {
  /** Topic and keys as one string. Equal watches share their last samples. */
  readonly id: string;
  /** `*` for all topics. */
  readonly topic: string;
  /** Empty for the whole sample. */
  readonly keys: readonly string[];
}

/** Devices that a rule reads. */
interface CompiledInputs {
  /** Devices that are inputs by their id. */
  readonly deviceIds: readonly string[];
  /** Whether the device is an input by its tags and the places above it. */
  readonly hasTagged: (tags: ReadonlySet<string>) => boolean;
  readonly byTag: boolean;
  /** Every tag and place of its inputs. */
  readonly tagIds: readonly string[];
}

interface CompiledSource extends CompiledInputs {
  readonly source: RuleDataSource;
  readonly watch: Watch;
  /** Whether its samples trigger the rule. */
  readonly triggers: boolean;
}

export type CompiledLogic =
  | {
      readonly type: 'COMPARISON';
      readonly blocks: readonly {
        readonly test: BlockTest;
        readonly actionIds: readonly string[];
        /** Undefined for a block that is what its conditions are. */
        readonly hold: BlockHold | undefined;
      }[];
      /** Of operands that are expressions. */
      readonly formulas: Formulas;
      /** Whether a block changes later than its conditions. */
      readonly isHeld: boolean;
      /** Reused list of missing conditions, so that no evaluation allocates one. */
      readonly absent: number[];
      /** The last verdict without a firing. It is reused, because the next one is mostly equal. */
      quiet: RuleEvaluation | undefined;
    }
  | {
      readonly type: 'GEO_FENCE';
      readonly fence: GeoFence;
      /** Indexes of the data sources. */
      readonly latitude: number;
      readonly longitude: number;
      readonly insideActionIds: readonly string[];
      readonly outsideActionIds: readonly string[];
    }
  | {
      readonly type: 'CUSTOM_LOGIC';
      readonly block: CustomLogicBlock;
      readonly actionIds: readonly string[];
    }
  | {
      readonly type: 'SILENCE';
      readonly inputs: CompiledInputs;
      /** Undefined for the online timeout of each device. */
      readonly afterMs: number | undefined;
      readonly mode: SilenceLogicBlock['mode'];
      readonly actionIds: readonly string[];
    };

export interface CompiledRule {
  readonly rule: Rule;
  readonly sources: readonly CompiledSource[];
  readonly logic: CompiledLogic;
  /** Formulas that read more than the sample; they are computed before it is evaluated. */
  readonly formulas: readonly PlacedFormula[];
  /** Actions whose connectors exist, by id. The value: fires in consecutive runs. */
  readonly consecutive: ReadonlyMap<string, boolean>;
  /** Actions that open alarms, by id. */
  readonly alarms: ReadonlyMap<string, AlarmOutput>;
  readonly schedule: RuleSchedule | undefined;
  /** Whether it needs more than the sample that triggers it. */
  readonly needsLastSamples: boolean;
  /** Whether any input is a tag. Then only a triggering sample determines the device. */
  readonly byTag: boolean;
}

interface RuleParts {
  readonly connectors: ReadonlyMap<string, { readonly sendConsecutiveAlerts: boolean }>;
  readonly customLogic: ReadonlyMap<string, CustomLogicBlock>;
  /** Of connectors that open alarms; none for a simulation. */
  readonly alarms?: ReadonlyMap<string, AlarmProperties>;
  /**
   * Whether the device is in the workspace. A device that was moved to another one is not an input.
   */
  readonly isInWorkspace?: (deviceId: string, workspaceId: string) => boolean;
}

/** Returns undefined when a part that the rule needs was deleted. */
export function compileRule(rule: Rule, parts: RuleParts): CompiledRule | undefined {
  const logic = compileLogic(rule, parts);
  if (logic === undefined) return undefined;
  const sources = compileSources(rule, parts);
  const consecutive = new Map<string, boolean>();
  for (const { id } of rule.actions) {
    const connector = parts.connectors.get(id);
    if (connector !== undefined) consecutive.set(id, connector.sendConsecutiveAlerts);
  }
  return {
    rule,
    sources,
    logic,
    formulas: logic.type === 'COMPARISON' ? logic.formulas.reading : noFormulas,
    consecutive,
    alarms: compileAlarms(rule, parts.alarms ?? new Map()),
    schedule: scheduleOf(rule),
    needsLastSamples:
      sources.length > 1 ||
      // A block that changes by the clock is about the last sample.
      (logic.type === 'COMPARISON' && logic.isHeld) ||
      rule.timer.enabled ||
      logic.type === 'CUSTOM_LOGIC' ||
      sources.some(({ source }) => source.lastSample),
    byTag: sources.some(({ byTag }) => byTag),
  };
}

const noFormulas: readonly PlacedFormula[] = [];

function scheduleOf({ timer }: Rule): RuleSchedule | undefined {
  if (!timer.enabled) return undefined;
  const read = readSchedule(timer);
  if ('schedule' in read) return read.schedule;
  return undefined;
}

function compileSources(
  { inputs, logic, timer, workspaceId }: Rule,
  { isInWorkspace }: RuleParts,
): CompiledSource[] {
  const { dataSources } = logic;
  // A data source of previous values triggers only if no other data source can.
  const onlyReads = dataSources.every(
    ({ lastSample, triggerOnUplink }) => lastSample && !triggerOnUplink,
  );
  return dataSources.map((source) => {
    const own = inputs.filter(({ id }) => source.inputIds.includes(id));
    const readsNew = !timer.enabled && (!source.lastSample || onlyReads);
    return {
      source,
      watch: watchOf(source, logic),
      triggers: readsNew || source.triggerOnUplink,
      ...compileInputs(own, (id) => isInWorkspace?.(id, workspaceId) ?? true),
    };
  });
}

function compileInputs(
  inputs: Rule['inputs'],
  isInWorkspace: (deviceId: string) => boolean,
): CompiledInputs {
  const tags = inputs.flatMap(tagCombinationOf);
  return {
    deviceIds: inputs
      .filter(({ type, id }) => type === 'DEVICE' && isInWorkspace(id))
      .map(({ id }) => id),
    hasTagged: (held) => tags.some((combination) => combinationHolds(combination, held)),
    byTag: tags.length > 0,
    tagIds: tags.flatMap(({ tagIds }) => tagIds),
  };
}

/** What says whether a device is read by the rule: its data sources, or its inputs for silence. */
export function inputsOf({ logic, sources }: CompiledRule): readonly CompiledInputs[] {
  return logic.type === 'SILENCE' ? [logic.inputs] : sources;
}

function tagCombinationOf({ type, id, tagCombination }: Rule['inputs'][number]) {
  // A device has the places above it as it has tags (`groupsOfDevices`).
  if (type === 'ASSET_TAG' || type === 'PLACE') return [{ joined: 'OR' as const, tagIds: [id] }];
  if (type === 'TAG_COMBINATION') return parseTagCombination(tagCombination ?? '') ?? [];
  return [];
}

/**
 * The keys that the operands read; the key of the data source for operands without a key, or
 * without any operand.
 */
function watchOf(source: RuleDataSource, { logicBlocks }: Rule['logic']): Watch {
  const operands = (logicBlocks ?? [])
    .flatMap(operandsOf)
    .filter(({ type, dataSourceId }) => type !== 'CONSTANT' && dataSourceId === source.id);
  const named = new Set(
    operands.flatMap(({ dataKey, expression }) => {
      if (expression === undefined) return [dataKey || source.dataKey];
      const keys = ownKeysOf(expression, source.dataTopic);
      // Every sample is a moment at which other topics and devices are looked at.
      return keys.length > 0 ? keys : [''];
    }),
  );
  if (named.size === 0) named.add(source.dataKey);
  const watched = [...named].sort();
  if (watched.some(isWholeSample)) watched.length = 0;
  return { id: [source.dataTopic, ...watched].join('\n'), topic: source.dataTopic, keys: watched };
}

function holdOf(
  block: LogicBlock,
  sources: readonly RuleDataSource[],
  formulas: Formulas,
): BlockHold | undefined {
  const { holdsFor, clearConditions, clearsFor } = block;
  const isPlain =
    holdsFor === undefined && clearConditions === undefined && clearsFor === undefined;
  // Without history nothing is unusual: a block that was true stays so, as one that waits.
  if (isPlain && !formulas.isOfUsual(block)) return undefined;
  return {
    holdsForMs: holdsFor === undefined ? 0 : checkedDurationMs(holdsFor),
    clearTest: clearConditions && compileBlock(clearConditions, sources, formulas),
    clearsForMs: clearsFor === undefined ? 0 : checkedDurationMs(clearsFor),
  };
}

function compileLogic(
  { logic, inputs, workspaceId }: Rule,
  { customLogic: blocks, isInWorkspace }: RuleParts,
): CompiledLogic | undefined {
  const { silenceLogicBlock: silence } = logic;
  if (logic.type === 'SILENCE') {
    if (silence === undefined) return undefined;
    const { after, mode, actionIds } = silence;
    const own = compileInputs(inputs, (id) => isInWorkspace?.(id, workspaceId) ?? true);
    const afterMs = after === null ? undefined : checkedDurationMs(after);
    return { type: 'SILENCE', inputs: own, afterMs, mode, actionIds };
  }
  const { dataSources, logicBlocks, geoFenceLogicBlock, customLogic } = logic;
  if (logic.type === 'COMPARISON') {
    const formulas = new Formulas();
    const blocks = (logicBlocks ?? []).map((block) => ({
      test: compileBlock(block.conditions, dataSources, formulas),
      actionIds: block.actionIds,
      hold: holdOf(block, dataSources, formulas),
    }));
    return {
      type: 'COMPARISON',
      blocks,
      formulas,
      isHeld: blocks.some(({ hold }) => hold !== undefined),
      absent: [],
      quiet: undefined,
    };
  }
  if (logic.type === 'CUSTOM_LOGIC') {
    const block = blocks.get(customLogic?.customLogicId ?? '');
    return block && { type: 'CUSTOM_LOGIC', block, actionIds: customLogic?.actionIds ?? [] };
  }
  if (geoFenceLogicBlock === null) return undefined;
  const read = parseGeoFence(geoFenceLogicBlock.geoJson);
  if ('reason' in read) return undefined;
  const { insideActionIds, outsideActionIds } = geoFenceLogicBlock;
  const place = (name: string) =>
    dataSources.findIndex(({ variableName }) => variableName === name);
  return {
    type: 'GEO_FENCE',
    fence: read.fence,
    latitude: place('latitude'),
    longitude: place('longitude'),
    insideActionIds,
    outsideActionIds,
  };
}

// Alarm outputs: the actions of a rule that open alarms, prepared for evaluation (contract 37).

export interface AlarmOutput {
  readonly properties: AlarmProperties;
  readonly templates: AlarmTemplates;
  readonly clearAfterMs: number | null;
  readonly escalateAfterMs: number | null;
  readonly remindEveryMs: number | null;
  /** Indexes of the logic blocks with this action. */
  readonly blocks: readonly number[];
}

/** By the id of the output connector; empty for most rules. */
function compileAlarms(
  { actions, logic }: Rule,
  properties: ReadonlyMap<string, AlarmProperties>,
): ReadonlyMap<string, AlarmOutput> {
  const alarms = new Map<string, AlarmOutput>();
  for (const { id } of actions) {
    const own = properties.get(id);
    if (own === undefined) continue;
    const blocks = (logic.logicBlocks ?? []).flatMap(({ actionIds }, block) =>
      actionIds.includes(id) ? [block] : [],
    );
    alarms.set(id, {
      properties: own,
      templates: alarmTemplates(own),
      clearAfterMs: msOrNull(own.clearAfter),
      escalateAfterMs: msOrNull(own.escalateAfter),
      remindEveryMs: msOrNull(own.remindEvery ?? null),
      blocks,
    });
  }
  return alarms;
}

/** The connector was checked when it was saved. */
function msOrNull(duration: string | null): number | null {
  return duration === null ? null : checkedDurationMs(duration);
}

// Rule loader: compiles rules with the records that they refer to.

/** `failed` is called for a rule that cannot be compiled. It is skipped. */
export async function compileRules(
  store: SealedDb,
  rules: readonly Rule[],
  failed: (ruleId: string, error: unknown) => void,
): Promise<readonly CompiledRule[]> {
  const parts = await readParts(store, rules);
  return rules.flatMap((rule) => {
    try {
      return compileRule(rule, parts) ?? [];
    } catch (error) {
      failed(rule.id, error);
      return [];
    }
  });
}

async function readParts(store: SealedDb, rules: readonly Rule[]): Promise<RuleParts> {
  const { db } = store;
  const actionIds = new Set(rules.flatMap(({ actions }) => actions.map(({ id }) => id)));
  const blockIds = new Set(rules.flatMap(({ logic }) => logic.customLogic?.customLogicId ?? []));
  const connectors = await outputConnectorRows.findOpen(db, [...actionIds]);
  const alarmIds = connectors.filter(({ type }) => type === 'ALARM').map(({ id }) => id);
  // The action of an unreadable one becomes a delivery, which fails with the reason.
  const alarms = await outputConnectorRows.findReadableProperties(store, alarmIds);
  const blocks = await customLogicRows.findAll(db, [...blockIds]);
  const isInWorkspace = await inputsInWorkspace(db, rules);
  return {
    connectors: new Map(connectors.map((connector) => [connector.id, connector])),
    customLogic: new Map(blocks.map((block) => [block.id, block])),
    alarms: alarms as ReadonlyMap<string, AlarmProperties>,
    isInWorkspace,
  };
}

/**
 * Returns which devices the rules may read: a device that was moved to another workspace is no
 * longer an input.
 */
export async function inputsInWorkspace(
  db: RecordsDb,
  rules: readonly Rule[],
): Promise<NonNullable<RuleParts['isInWorkspace']>> {
  const inputs = rules.flatMap((rule) => rule.inputs.filter(({ type }) => type === 'DEVICE'));
  const workspaces = await deviceRows.workspacesOf(db, [...new Set(inputs.map(({ id }) => id))]);
  // A deleted device is in no workspace, and has no samples.
  return (deviceId, workspaceId) => (workspaces.get(deviceId) ?? workspaceId) === workspaceId;
}
