// The rule book: every active rule compiled once, the plan of each device, and what rules remember; kept current through record changes.
import type { EpochMs } from '../model/instant.ts';
import type { RecordChange } from '../model/record.ts';
import type { Rule } from '../model/rule.ts';
import { findCustomLogics } from '../store/records/custom-logic.ts';
import type { Records } from '../store/records/database.ts';
import { findOutputConnectors } from '../store/records/output-connectors.ts';
import { findDeviceHolds, findLastSamples } from '../store/records/rule-state.ts';
import { findActiveRules } from '../store/records/rules.ts';
import { tagsOfDevices } from '../store/records/tags.ts';
import type { SampleStore } from '../store/sample-store.ts';
import { type CompiledRule, compileRule, type Watch } from './compiled-rule.ts';
import { type DevicePlan, planDevice, takes } from './device-plan.ts';
import { type RuleMemory, seenSampleFrom } from './evaluation.ts';
import { createHolds } from './holds.ts';
import { createLastSamples } from './last-samples.ts';
import type { SeenSample } from './reading.ts';

/** How far back the store is searched for a last sample that has the key. */
const searchedSamplesMax = 100;
/** Plans kept in memory; beyond it all are made anew as they are needed. */
const plansMax = 100_000;

export interface RuleBook {
  readonly memory: RuleMemory;
  readonly size: () => number;
  /** Must be told every change of a record. */
  recordChanged(change: RecordChange): void;
  /** Takes in what changed. To be called by one at a time, like `prepare`. */
  refresh(): Promise<void>;
  /** Reads what the rules of these devices need; samples from `before` on do not count as known. */
  prepare(devices: ReadonlyMap<string, { readonly workspaceId: string; readonly before: EpochMs }>): Promise<void>;
  /** Reads the last samples that a timed run of the rule needs. */
  prepareRule(compiled: CompiledRule): Promise<void>;
  /** Undefined when no rule looks at the device. */
  planOf(deviceId: string): DevicePlan | undefined;
  rule(id: string): CompiledRule | undefined;
  rules(): Iterable<CompiledRule>;
  /** Forgets everything, so that the next `refresh` reads what is durable: after a write that failed. */
  reset(): void;
}

export function createRuleBook(records: Pick<Records, 'db' | 'sealer'>, store: Pick<SampleStore, 'samples'>): RuleBook {
  const memory: RuleMemory = { last: createLastSamples(), holds: createHolds() };
  const rules = new Map<string, CompiledRule>();
  const plans = new Map<string, DevicePlan | null>();
  const byDevice = new Map<string, Set<CompiledRule>>();
  const byTag = new Map<string, Set<CompiledRule>>();
  /** Since the start: a rule that was inactive for a while may have left last samples that are not the last any more. */
  let rulesChanged = false;
  let stale: Set<string> | 'all' = 'all';
  let staleDevices = new Set<string>();

  const parts = async (found: readonly Rule[]) => {
    const actionIds = new Set(found.flatMap(({ actions }) => actions.map(({ id }) => id)));
    const blockIds = new Set(found.flatMap(({ logic }) => logic.customLogic?.customLogicId ?? []));
    const connectors = await findOutputConnectors(records, [...actionIds]);
    const blocks = await findCustomLogics(records.db, [...blockIds]);
    return {
      connectors: new Map(connectors.map((connector) => [connector.id, connector])),
      customLogic: new Map(blocks.map((block) => [block.id, block])),
    };
  };

  const drop = (id: string): void => {
    const known = rules.get(id);
    if (known === undefined) return;
    rules.delete(id);
    memory.holds.forget(id);
    for (const index of [byDevice, byTag]) for (const set of index.values()) set.delete(known);
  };

  const take = async (found: readonly Rule[]): Promise<void> => {
    const used = await parts(found);
    for (const rule of found) {
      const compiled = compileRule(rule, used);
      if (compiled === undefined) continue;
      rules.set(rule.id, compiled);
      for (const { deviceIds, tagIds } of compiled.sources) {
        for (const id of deviceIds) addTo(byDevice, id, compiled);
        for (const id of tagIds) addTo(byTag, id, compiled);
      }
    }
    for (const { ruleId, deviceId, activation, holds } of await findDeviceHolds(
      records.db,
      found.map(({ id }) => id),
    )) {
      if (rules.get(ruleId)?.rule.activation === activation) memory.holds.load(ruleId, deviceId, holds);
    }
  };

  const watchesOf = (deviceId: string): readonly Watch[] => {
    const watches = new Map<string, Watch>();
    for (const compiled of byDevice.get(deviceId) ?? []) {
      for (const { watch } of compiled.sources) watches.set(watch.id, watch);
    }
    for (const compiled of taggedRules) for (const { watch } of compiled.sources) watches.set(watch.id, watch);
    return [...watches.values()];
  };
  /** Rules with tag inputs: their watches may be those of any device. */
  let taggedRules: readonly CompiledRule[] = [];

  const loadLast = async (wanted: ReadonlyMap<string, EpochMs>): Promise<void> => {
    const missing = [...wanted.keys()].filter((id) => !memory.last.has(id));
    if (missing.length === 0) return;
    const saved = await findLastSamples(records.db, missing);
    for (const deviceId of missing) {
      const known = new Map<string, SeenSample>();
      for (const row of saved) {
        const sample = row.deviceId === deviceId ? seenSampleFrom(row.sample) : undefined;
        if (sample !== undefined) known.set(watchId(row.topic, row.dataKey), sample);
      }
      for (const watch of watchesOf(deviceId)) {
        const saved = known.get(watch.id);
        if (saved !== undefined && !rulesChanged) continue;
        const sample = await searched(deviceId, watch, wanted.get(deviceId)!);
        if (sample !== undefined && sample.timestamp >= (saved?.timestamp ?? -Infinity)) known.set(watch.id, sample);
      }
      memory.last.load(deviceId, known);
    }
  };

  const searched = async (deviceId: string, watch: Watch, to: EpochMs): Promise<SeenSample | undefined> => {
    const topic = watch.topic === '*' ? {} : { topic: watch.topic };
    const range = Number.isFinite(to) ? { to } : {};
    const samples = await store.samples({ deviceId, ...topic, ...range, limit: searchedSamplesMax, skip: 0 });
    return samples.find(({ data }) => takes(watch, data));
  };

  return {
    memory,
    size: () => rules.size,
    recordChanged({ kind, id }) {
      if (kind === 'device') staleDevices.add(id);
      else if (kind === 'tag') plans.clear();
      else if (stale === 'all') return;
      else if (kind === 'rule') stale.add(id);
      else if (kind === 'outputConnector' || kind === 'customLogic') {
        for (const { rule } of rules.values()) {
          const isUsed =
            rule.actions.some((action) => action.id === id) || rule.logic.customLogic?.customLogicId === id;
          if (isUsed) stale.add(rule.id);
        }
      }
    },
    async refresh() {
      const devices = staleDevices;
      staleDevices = new Set();
      for (const id of devices) plans.delete(id);
      const ids = stale;
      if (ids !== 'all' && ids.size === 0) return;
      stale = new Set();
      rulesChanged = ids !== 'all';
      try {
        const found = await findActiveRules(records.db, ids === 'all' ? undefined : [...ids]);
        for (const id of ids === 'all' ? [...rules.keys()] : ids) drop(id);
        await take(found);
      } catch (error) {
        stale = 'all';
        throw error;
      }
      taggedRules = [...rules.values()].filter((compiled) => compiled.byTag);
      plans.clear();
      // A rule may watch what nobody watched before; what is known of its devices is read again.
      memory.last.clear();
    },
    async prepare(devices) {
      const unknown = [...devices.keys()].filter((id) => !plans.has(id));
      if (plans.size + unknown.length > plansMax) plans.clear();
      if (unknown.length > 0) {
        const tags = byTag.size === 0 ? new Map<string, { id: string }[]>() : await tagsOfDevices(records.db, unknown);
        for (const id of unknown) {
          const held = new Set((tags.get(id) ?? []).map((tag) => tag.id));
          const candidates = new Set(byDevice.get(id));
          for (const tag of held) for (const compiled of byTag.get(tag) ?? []) candidates.add(compiled);
          const { workspaceId } = devices.get(id)!;
          const own = [...candidates].filter(({ rule }) => rule.workspaceId === workspaceId);
          plans.set(id, planDevice(id, held, own) ?? null);
        }
      }
      const wanted = new Map<string, EpochMs>();
      for (const [id, { before }] of devices) {
        const plan = plans.get(id);
        if (!plan?.remembers) continue;
        wanted.set(id, before);
        for (const other of plan.otherDevices) wanted.set(other, devices.get(other)?.before ?? Infinity);
      }
      await loadLast(wanted);
    },
    async prepareRule({ sources }) {
      await loadLast(new Map(sources.flatMap(({ deviceIds }) => deviceIds.map((id) => [id, Infinity]))));
    },
    planOf: (deviceId) => plans.get(deviceId) ?? undefined,
    rule: (id) => rules.get(id),
    rules: () => rules.values(),
    reset() {
      stale = 'all';
      memory.last.clear();
      memory.holds.clear();
    },
  };
}

function addTo(index: Map<string, Set<CompiledRule>>, id: string, compiled: CompiledRule): void {
  const set = index.get(id);
  if (set === undefined) index.set(id, new Set([compiled]));
  else set.add(compiled);
}

/** What a watch is saved under: its topic, and its keys one per line. */
function watchId(topic: string, dataKey: string): string {
  return dataKey === '' ? topic : `${topic}\n${dataKey}`;
}
