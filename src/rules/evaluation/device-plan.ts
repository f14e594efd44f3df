// Device plan: the rules that samples of a device may trigger or update, by topic and key.
import { dataValue } from '../../model/sample.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import type { CompiledRule, Watch } from './compiled-rule.ts';
import type { ConditionState } from './condition-states.ts';
import { WorkingSet } from '../../structures/caches.ts';

/** A rule for one device. */
export interface PlannedRule {
  readonly compiled: CompiledRule;
  /** Whether the device is an input of each data source. */
  readonly contains: readonly boolean[];
  /** The condition state of the device, cached by the evaluation. */
  cell?: ConditionState | undefined;
  /** The time of the newest sample that it judged, of each data source; null without one. */
  readonly judged: (EpochMs | null)[];
}

interface PlannedWatch {
  readonly watch: Watch;
  /** Whether its last sample must be kept. */
  readonly remembered: boolean;
  readonly uses: readonly RuleUse[];
}

/** A rule, with the indexes of its data sources that take a sample. */
interface RuleUse {
  readonly planned: PlannedRule;
  readonly places: readonly number[];
  /** Whether any of them triggers the rule. */
  readonly triggers: boolean;
}

export interface DevicePlan {
  readonly deviceId: string;
  readonly rules: readonly PlannedRule[];
  readonly byTopic: ReadonlyMap<string, readonly PlannedWatch[]>;
  /** The watches of all topics. */
  readonly everywhere: readonly PlannedWatch[];
  /** Whether its rules need last samples. */
  readonly needsLastSamples: boolean;
  /** Whether formulas of its rules read more than the sample. */
  readonly needsFormulas: boolean;
  /** Other devices whose last samples its rules read. */
  readonly otherDevices: readonly string[];
}

/** Called for a rule that threw while a device was planned. */
type PlanningFailed = (compiled: CompiledRule, error: unknown) => void;

/**
 * Returns undefined when no rule reads the device. The plan omits a rule that throws, and `failed`
 * is called.
 */
export function planDevice(
  deviceId: string,
  tags: ReadonlySet<string>,
  rules: Iterable<CompiledRule>,
  failed: PlanningFailed = rethrow,
): DevicePlan | undefined {
  const watches = new Map<string, { watch: Watch; remembered: boolean; uses: RuleUse[] }>();
  const others = new Set<string>();
  const plannedRules: PlannedRule[] = [];
  for (const compiled of rules) {
    const contains = inputsOf(compiled, deviceId, tags, failed);
    if (!contains.includes(true)) continue;
    const planned: PlannedRule = { compiled, contains, judged: compiled.sources.map(() => null) };
    plannedRules.push(planned);
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
    deviceId,
    rules: plannedRules,
    byTopic,
    everywhere,
    needsLastSamples: [...watches.values()].some(({ remembered }) => remembered),
    needsFormulas: plannedRules.some(({ compiled }) => compiled.formulas.length > 0),
    otherDevices: [...others],
  };
}

const rethrow: PlanningFailed = (_compiled, error) => {
  throw error;
};

/** Whether the device is an input of each data source; empty after an error. */
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

/** The rules of the plan whose evaluation depends on their condition state of the device. */
export function rulesWithStates({ byTopic, everywhere }: DevicePlan): Set<CompiledRule> {
  const rules = new Set<CompiledRule>();
  // Those of scripts are read from the records.
  for (const { uses } of [...byTopic.values(), everywhere].flat())
    for (const { planned, triggers } of uses)
      if (triggers && planned.compiled.logic.type !== 'CUSTOM_LOGIC') rules.add(planned.compiled);
  return rules;
}

/** The rules that need the last sample of the watch. */
export function rulesOfWatch(
  { byTopic, everywhere }: DevicePlan,
  { id, topic }: Watch,
): readonly CompiledRule[] {
  const groups = [everywhere, byTopic.get(topic) ?? []].flat();
  const uses = groups.find(({ watch }) => watch.id === id)?.uses ?? [];
  return uses
    .map(({ planned }) => planned.compiled)
    .filter(({ needsLastSamples }) => needsLastSamples);
}

interface MatchedSample {
  /** The watches that keep the sample as their last one. */
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
  if (matched.length === 1) return { remembered, uses: first.uses };
  return { remembered, uses: merged(matched) };
}

/** A rule is triggered once, also when several of its watches take the sample. */
function merged(matched: readonly PlannedWatch[]): RuleUse[] {
  const places = new Map<PlannedRule, number[]>();
  for (const { uses } of matched) {
    for (const use of uses) {
      const known = places.get(use.planned);
      if (known === undefined) places.set(use.planned, [...use.places]);
      else known.push(...use.places);
    }
  }
  return [...places].map(([planned, indexes]) => useOf(planned, indexes));
}

function useOf(planned: PlannedRule, places: readonly number[]): RuleUse {
  return {
    planned,
    places,
    triggers: triggersAt(planned.compiled, places),
  };
}

/** Whether one of the data sources triggers the rule. */
export function triggersAt({ sources }: CompiledRule, places: readonly number[]): boolean {
  return places.some((place) => sources[place]?.triggers === true);
}

/** Whether the data has one of the keys. A null counts, because the device sent it. */
export function takes({ keys }: Watch, data: JsonObject): boolean {
  return keys.length === 0 || keys.some((key) => dataValue(data, key) !== undefined);
}

// Plans in memory: one per device that sent something, found by device, discarded by device or workspace.

export const planLimits = {
  /**
   * Devices with a plan, and with condition states in memory. The least recently used ones are
   * evicted, first of workspaces with more than an equal share, and read again when they send.
   */
  plansMax: 100_000,
} as const;

interface StoredPlan {
  readonly workspaceId: string;
  readonly plan: DevicePlan | undefined;
  /** A rule threw and is not in the plan. */
  readonly isPartial: boolean;
}

/** `evicted` is called with devices whose plans are no longer in memory or incomplete. */
export class Plans {
  readonly #evicted: (deviceId: string) => void;
  readonly #devicesOf = new Map<string, Set<string>>();
  readonly #plans: WorkingSet<string, StoredPlan>;

  constructor(evicted: (deviceId: string) => void, max: number = planLimits.plansMax) {
    this.#evicted = evicted;
    this.#plans = new WorkingSet<string, StoredPlan>(
      max,
      ({ workspaceId }, id) => {
        this.#devicesOf.get(workspaceId)?.delete(id);
        evicted(id);
      },
      ({ workspaceId }) => workspaceId,
    );
  }

  /**
   * Undefined when no rule reads the device. Throws when its plan was not made, because rules
   * would be skipped without notice.
   */
  readonly find = (deviceId: string): DevicePlan | undefined => {
    const known = this.#plans.get(deviceId);
    if (known === undefined) throw new Error(`The rules of device ${deviceId} were not prepared`);
    return known.plan;
  };

  /**
   * Returns the devices that need a plan. The other given devices keep theirs while these are
   * made. A plan without a rule that threw is made again.
   */
  missing(devices: ReadonlyMap<string, { readonly workspaceId: string }>): readonly string[] {
    for (const [id, { workspaceId }] of devices) {
      const known = this.#plans.get(id);
      const isOfOther = known !== undefined && known.workspaceId !== workspaceId;
      if (isOfOther || known?.isPartial === true) this.#plans.delete(id);
      // The rule that is not in the plan has samples to keep, which arrived in the meantime.
      if (!isOfOther && known?.isPartial === true) this.#evicted(id);
    }
    return this.#plans.claim(devices.keys());
  }

  make(
    {
      id,
      workspaceId,
      tags,
      rules,
    }: {
      readonly id: string;
      readonly workspaceId: string;
      readonly tags: ReadonlySet<string>;
      readonly rules: Iterable<CompiledRule>;
    },
    failed: PlanningFailed,
  ): DevicePlan | undefined {
    let isPartial = false;
    const plan = planDevice(id, tags, rules, (compiled, error) => {
      isPartial = true;
      failed(compiled, error);
    });
    this.#plans.set(id, { workspaceId, plan, isPartial });
    this.relate(id, workspaceId);
    return plan;
  }

  /** As `find`, and undefined when the plan was not made. */
  known(deviceId: string): DevicePlan | undefined {
    return this.#plans.get(deviceId)?.plan;
  }

  forget(deviceId: string): void {
    this.#plans.delete(deviceId);
  }

  /** Call when rules of the workspace keep samples of the device. */
  relate(deviceId: string, workspaceId: string): void {
    const devices = this.#devicesOf.get(workspaceId);
    if (devices === undefined) this.#devicesOf.set(workspaceId, new Set([deviceId]));
    else devices.add(deviceId);
  }

  /** Discards the plans of the workspace. Returns the devices that are related to it. */
  forgetWorkspace(workspaceId: string): Iterable<string> {
    const devices = this.#devicesOf.get(workspaceId) ?? [];
    this.#devicesOf.delete(workspaceId);
    for (const id of devices) this.#plans.delete(id);
    return devices;
  }
}
