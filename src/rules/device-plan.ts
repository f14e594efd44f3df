// The plan of a device: which rules its samples may trigger and which they are remembered for, by topic and key.
import { dataValue } from '../model/data-value.ts';
import type { JsonObject } from '../model/json.ts';
import type { CompiledRule, Watch } from './compiled-rule.ts';
import type { ConditionState } from './condition-states.ts';

/** A rule as one device meets it. */
export interface PlannedRule {
  readonly compiled: CompiledRule;
  /** Whether the device is an input of each data source. */
  readonly contains: readonly boolean[];
  /** What holds for the device, kept at hand by whoever judges. */
  cell?: ConditionState | undefined;
}

interface PlannedWatch {
  readonly watch: Watch;
  /** Whether its last sample must be remembered. */
  readonly remembered: boolean;
  readonly uses: readonly RuleUse[];
}

/** A rule that a sample concerns, with the places of the data sources that take the sample. */
export interface RuleUse {
  readonly planned: PlannedRule;
  readonly places: readonly number[];
  /** Whether any of them triggers the rule. */
  readonly triggers: boolean;
}

export interface DevicePlan {
  readonly byTopic: ReadonlyMap<string, readonly PlannedWatch[]>;
  /** Those of every topic. */
  readonly everywhere: readonly PlannedWatch[];
  /** Whether anything has to be remembered for its rules. */
  readonly needsLastSamples: boolean;
  /** Other devices whose last samples its rules read. */
  readonly otherDevices: readonly string[];
}

/** Told of a rule that threw while a device was planned. */
export type PlanningFailed = (compiled: CompiledRule, error: unknown) => void;

/** Undefined when no rule looks at the device. A rule that throws is left out of the plan, and told. */
export function planDevice(
  deviceId: string,
  tags: ReadonlySet<string>,
  rules: Iterable<CompiledRule>,
  failed: PlanningFailed = rethrow,
): DevicePlan | undefined {
  const watches = new Map<string, { watch: Watch; remembered: boolean; uses: RuleUse[] }>();
  const others = new Set<string>();
  for (const compiled of rules) {
    const contains = inputsOf(compiled, deviceId, tags, failed);
    if (!contains.includes(true)) continue;
    const planned: PlannedRule = { compiled, contains };
    for (const [place, source] of compiled.sources.entries()) {
      if (!contains[place]) for (const other of source.deviceIds) others.add(other);
      if (!contains[place]) continue;
      const { watch } = source;
      const known = watches.get(watch.id) ?? { watch, remembered: false, uses: [] };
      watches.set(watch.id, known);
      known.remembered ||= compiled.needsLastSamples;
      const last = known.uses.at(-1);
      if (last?.planned === planned)
        known.uses.splice(-1, 1, useOf(planned, [...last.places, place]));
      else known.uses.push(useOf(planned, [place]));
    }
  }
  if (watches.size === 0) return undefined;
  const byTopic = new Map<string, PlannedWatch[]>();
  const everywhere: PlannedWatch[] = [];
  for (const planned of watches.values()) {
    if (planned.watch.topic === '*') everywhere.push(planned);
    else byTopic.set(planned.watch.topic, [...(byTopic.get(planned.watch.topic) ?? []), planned]);
  }
  others.delete(deviceId);
  return {
    byTopic,
    everywhere,
    needsLastSamples: [...watches.values()].some(({ remembered }) => remembered),
    otherDevices: [...others],
  };
}

const rethrow: PlanningFailed = (_compiled, error) => {
  throw error;
};

/** Whether the device is an input of each data source; empty when that cannot be told. */
function inputsOf(
  compiled: CompiledRule,
  deviceId: string,
  tags: ReadonlySet<string>,
  failed: PlanningFailed,
): readonly boolean[] {
  try {
    return compiled.sources.map(
      ({ deviceIds, hasTagged }) => deviceIds.includes(deviceId) || hasTagged(tags),
    );
  } catch (error) {
    failed(compiled, error);
    return [];
  }
}

/** The rules that remember what the watch takes. */
export function rulesOfWatch(
  { byTopic, everywhere }: DevicePlan,
  { id, topic }: Watch,
): readonly CompiledRule[] {
  const group = topic === '*' ? everywhere : byTopic.get(topic);
  const uses = group?.find(({ watch }) => watch.id === id)?.uses ?? [];
  return uses
    .map(({ planned }) => planned.compiled)
    .filter(({ needsLastSamples }) => needsLastSamples);
}

export interface MatchedSample {
  /** The watches that take the sample and for which it is remembered. */
  readonly remembered: readonly Watch[];
  readonly uses: readonly RuleUse[];
}

const none: MatchedSample = { remembered: [], uses: [] };

export function matchSample(plan: DevicePlan, topic: string, data: JsonObject): MatchedSample {
  const matched: PlannedWatch[] = [];
  for (const group of [plan.byTopic.get(topic), plan.everywhere]) {
    if (group === undefined) continue;
    for (const planned of group) if (takes(planned.watch, data)) matched.push(planned);
  }
  const [first] = matched;
  if (first === undefined) return none;
  const remembered = matched.filter((planned) => planned.remembered).map(({ watch }) => watch);
  return { remembered, uses: matched.length === 1 ? first.uses : merged(matched) };
}

/** A rule whose data sources take the sample by several watches is still triggered once. */
function merged(matched: readonly PlannedWatch[]): RuleUse[] {
  const places = new Map<PlannedRule, number[]>();
  for (const { uses } of matched) {
    for (const use of uses) {
      const known = places.get(use.planned);
      if (known === undefined) places.set(use.planned, [...use.places]);
      else known.push(...use.places);
    }
  }
  return [...places].map(([planned, of]) => useOf(planned, of));
}

function useOf(planned: PlannedRule, places: readonly number[]): RuleUse {
  return {
    planned,
    places,
    triggers: places.some((place) => planned.compiled.sources[place]!.triggers),
  };
}

/** Whether the data has one of the keys; a null counts, it is what the device says. */
export function takes({ keys }: Pick<Watch, 'keys'>, data: JsonObject): boolean {
  return keys.length === 0 || keys.some((key) => dataValue(data, key) !== undefined);
}
