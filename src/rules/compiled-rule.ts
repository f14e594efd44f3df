// A rule compiled once: what each data source watches, how its logic is judged, and what its actions are.
import { type GeoFence, parseGeoFence } from '../model/geo-fence.ts';
import type { OutputConnector } from '../model/output-connector.ts';
import type { CustomLogicBlock, Rule, RuleDataSource } from '../model/rule.ts';
import { readSchedule, type RuleSchedule } from '../model/rule-schedule.ts';
import { combinationHolds, parseTagCombination } from '../model/tag-combination.ts';
import { type BlockTest, compileBlock } from './comparison.ts';
import type { Verdict } from './firing.ts';
import { isWholeSample } from './rule-reading.ts';

/** Which samples a data source takes: those of a topic that have one of the keys. */
export interface Watch {
  /** Topic and keys as one text; equal watches share what is remembered. */
  readonly id: string;
  /** `*` for all topics. */
  readonly topic: string;
  /** Empty for the whole sample. */
  readonly keys: readonly string[];
}

export interface CompiledSource {
  readonly source: RuleDataSource;
  readonly watch: Watch;
  /** Whether its samples trigger the rule. */
  readonly triggers: boolean;
  /** Devices that are inputs by themselves. */
  readonly deviceIds: readonly string[];
  /** Whether the device is an input by its tags. */
  readonly hasTagged: (tags: ReadonlySet<string>) => boolean;
  readonly byTag: boolean;
  /** Every tag it looks at. */
  readonly tagIds: readonly string[];
}

export type CompiledLogic =
  | {
      readonly type: 'COMPARISON';
      readonly blocks: readonly {
        readonly test: BlockTest;
        readonly actionIds: readonly string[];
      }[];
      /** Filled and emptied while a block is judged, so that no verdict makes a list of its own. */
      readonly absent: number[];
      /** The last verdict of which nothing came: the next one is the same mostly. */
      quiet: Verdict | undefined;
    }
  | {
      readonly type: 'GEO_FENCE';
      readonly fence: GeoFence;
      /** Places of the data sources. */
      readonly latitude: number;
      readonly longitude: number;
      readonly insideActionIds: readonly string[];
      readonly outsideActionIds: readonly string[];
    }
  | {
      readonly type: 'CUSTOM_LOGIC';
      readonly block: CustomLogicBlock;
      readonly actionIds: readonly string[];
    };

export interface CompiledRule {
  readonly rule: Rule;
  readonly sources: readonly CompiledSource[];
  readonly logic: CompiledLogic;
  /** Actions whose connectors exist, by id; the value tells whether they fire again and again. */
  readonly consecutive: ReadonlyMap<string, boolean>;
  readonly schedule: RuleSchedule | undefined;
  /** Whether it needs more than the sample that triggers it. */
  readonly needsLastSamples: boolean;
  /** Whether any input is a tag, which only a triggering sample can make definite. */
  readonly byTag: boolean;
}

export interface RuleParts {
  readonly connectors: ReadonlyMap<string, Pick<OutputConnector, 'sendConsecutiveAlerts'>>;
  readonly customLogic: ReadonlyMap<string, CustomLogicBlock>;
  /** Whether the device is in the workspace still; inputs that were moved to another one are no inputs any more. */
  readonly isInWorkspace?: (deviceId: string, workspaceId: string) => boolean;
}

/** Undefined when a part that it needs is gone. */
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
    consecutive,
    schedule: scheduleOf(rule),
    needsLastSamples:
      sources.length > 1 ||
      rule.timer.enabled ||
      logic.type === 'CUSTOM_LOGIC' ||
      sources[0]!.source.lastSample,
    byTag: sources.some(({ byTag }) => byTag),
  };
}

function scheduleOf({ timer }: Rule): RuleSchedule | undefined {
  if (!timer.enabled) return undefined;
  const read = readSchedule(timer);
  return 'schedule' in read ? read.schedule : undefined;
}

function compileSources(
  { inputs, logic, timer, workspaceId }: Rule,
  { isInWorkspace }: RuleParts,
): CompiledSource[] {
  const { dataSources } = logic;
  // A data source of previous values reads, and does not trigger, unless there is nothing else that could.
  const onlyReads = dataSources.every(
    ({ lastSample, triggerOnUplink }) => lastSample && !triggerOnUplink,
  );
  return dataSources.map((source) => {
    const own = inputs.filter(({ id }) => source.inputIds.includes(id));
    const tags = own.flatMap(({ type, id, tagCombination }) => {
      if (type === 'ASSET_TAG') return [{ joined: 'OR' as const, tagIds: [id] }];
      return type === 'TAG_COMBINATION' ? (parseTagCombination(tagCombination ?? '') ?? []) : [];
    });
    const byUplink = timer.enabled
      ? source.triggerOnUplink
      : !source.lastSample || onlyReads || source.triggerOnUplink;
    return {
      source,
      watch: watchOf(source, logic),
      triggers: byUplink,
      deviceIds: own
        .filter(({ type, id }) => type === 'DEVICE' && (isInWorkspace?.(id, workspaceId) ?? true))
        .map(({ id }) => id),
      hasTagged: (held) => tags.some((combination) => combinationHolds(combination, held)),
      byTag: tags.length > 0,
      tagIds: tags.flatMap(({ tagIds }) => tagIds),
    };
  });
}

/** The keys that operands read; its own where they say none, or where no operand names the data source. */
function watchOf(source: RuleDataSource, { logicBlocks }: Rule['logic']): Watch {
  const operands = (logicBlocks ?? [])
    .flatMap(({ conditions }) =>
      conditions.flatMap(({ operandFirst, operandSecond }) => [operandFirst, operandSecond]),
    )
    .filter((operand) => operand.type === 'DATA_SOURCE' && operand.dataSourceId === source.id);
  const named = operands.map(({ dataKey }) =>
    dataKey === null || dataKey === '' ? source.dataKey : dataKey,
  );
  const keys = [...new Set(named.length === 0 ? [source.dataKey] : named)].sort();
  const watched = keys.some(isWholeSample) ? [] : keys;
  return { id: [source.dataTopic, ...watched].join('\n'), topic: source.dataTopic, keys: watched };
}

function compileLogic(
  { logic }: Rule,
  { customLogic: blocks }: RuleParts,
): CompiledLogic | undefined {
  const { dataSources, logicBlocks, geoFenceLogicBlock, customLogic } = logic;
  if (logic.type === 'COMPARISON') {
    return {
      type: 'COMPARISON',
      blocks: (logicBlocks ?? []).map(({ conditions, actionIds }) => ({
        test: compileBlock(conditions, dataSources),
        actionIds,
      })),
      absent: [],
      quiet: undefined,
    };
  }
  if (logic.type === 'CUSTOM_LOGIC') {
    const block = blocks.get(customLogic?.customLogicId ?? '');
    return block && { type: 'CUSTOM_LOGIC', block, actionIds: customLogic?.actionIds ?? [] };
  }
  const read = geoFenceLogicBlock === null ? undefined : parseGeoFence(geoFenceLogicBlock.geoJson);
  if (geoFenceLogicBlock === null || read === undefined || 'reason' in read) return undefined;
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
