// The rule book: every active rule compiled once, the plan of each device, and what rules remember; kept current through record changes.
import type { EpochMs } from '../model/instant.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import type { RecordChange } from '../model/record.ts';
import type { Rule } from '../model/rule.ts';
import { findCustomLogics } from '../records/rows/custom-logic.ts';
import type { Records, RecordsDb } from '../records/records.ts';
import { workspacesOfDevices } from '../records/rows/devices.ts';
import { findOpenOutputConnectors } from '../records/rows/output-connectors.ts';
import { findDeviceHolds, findLastSamples } from '../records/rows/rule-state.ts';
import { findActiveRules } from '../records/rows/rules.ts';
import { tagsOfDevices } from '../records/rows/tags.ts';
import { type CompiledRule, compileRule, type RuleParts, type Watch } from './compiled-rule.ts';
import { type DevicePlan, rulesOfWatch } from './device-plan.ts';
import { type RuleMemory, seenSampleFrom } from './evaluation.ts';
import { createHolds } from './condition-states.ts';
import {
  type SearchedStore,
  type SearchedWatch,
  type SearchGap,
  searchLastSamples,
} from './last-sample-search.ts';
import { createLastSamples } from './last-samples.ts';
import { createPlans } from './plans.ts';
import type { SeenSample } from './rule-reading.ts';
import { createRuleIndex } from './rule-index.ts';

/** What goes wrong while something is prepared; the others are prepared all the same. */
export interface PreparationMisses {
  /** The rule threw while the device was planned: samples of the device do not meet it in this batch. */
  planningFailed(compiled: CompiledRule, deviceId: string, error: unknown): void;
  /** The last sample that the rule reads of the device may be another than the newest; maybe told several times. */
  lastSampleUncertain(compiled: CompiledRule, deviceId: string, gap: SearchGap): void;
}

export interface RuleBook {
  readonly memory: RuleMemory;
  readonly size: () => number;
  /** To be called for every change of a record; nothing that `prepare` made changes before the next `refresh`. */
  recordChanged(change: RecordChange): void;
  /** Takes in what changed; true when rules came, went or changed. To be called by one at a time, like `prepare`. */
  refresh(): Promise<boolean>;
  /** Reads what the rules of the entries' devices need; the entries are evaluated next, and with them what comes behind. */
  prepare(entries: readonly DurableEntry[], misses: PreparationMisses): Promise<void>;
  /** Reads the last samples that a timed run of the rule needs, behind the position `next` nothing counts. */
  prepareRule(compiled: CompiledRule, next: number, misses: PreparationMisses): Promise<void>;
  /** Undefined when no rule looks at the device. Throws for a device that was not prepared. */
  planOf(deviceId: string): DevicePlan | undefined;
  rule(id: string): CompiledRule | undefined;
  rules(): Iterable<CompiledRule>;
  /** Forgets everything, so that the next `refresh` reads what is durable: after a write that failed. */
  reset(): void;
}

/** `failed` is told of a rule that cannot be read or compiled; the others go on without it. */
export function createRuleBook(
  records: Pick<Records, 'db'>,
  store: SearchedStore,
  failed: (ruleId: string, error: unknown) => void,
): RuleBook {
  const { db } = records;
  const memory: RuleMemory = { last: createLastSamples(), holds: createHolds() };
  const index = createRuleIndex();
  const plans = createPlans(memory.last.forget);
  let stale: Set<string> | 'all' = 'all';
  let staleDevices = new Set<string>();
  let staleTags = new Set<string>();

  /** What was made for the rules of a workspace is made anew: a rule may watch what none watched before. */
  const forgetWorkspaces = (workspaceIds: Iterable<string>): void => {
    for (const id of workspaceIds)
      for (const device of plans.forgetWorkspace(id)) memory.last.forget(device);
  };

  const take = async (found: readonly Rule[]): Promise<void> => {
    const parts = await partsOf(db, found);
    for (const rule of found) {
      const compiled = compiledOr(failed, rule, parts);
      if (compiled !== undefined) index.add(compiled);
    }
    const ids = found.map(({ id }) => id);
    for (const { ruleId, deviceId, activation, holds } of await findDeviceHolds(db, ids)) {
      if (index.rule(ruleId)?.rule.activation === activation)
        memory.holds.load(ruleId, deviceId, holds);
    }
  };

  /** Rules with the device as an input change when it moves to another workspace, or out of it and back. */
  const staleByMoves = async (deviceIds: readonly string[]): Promise<void> => {
    const named = deviceIds.filter((id) => index.namedWorkspace(id) !== undefined);
    const workspaces = await workspacesOfDevices(db, named);
    for (const id of named) {
      if (stale === 'all') return;
      if ((workspaces.get(id) ?? index.namedWorkspace(id)) === index.namedWorkspace(id)) continue;
      for (const ruleId of index.namedBy(id)) stale.add(ruleId);
    }
  };

  const refreshRules = async (ids: Set<string> | 'all'): Promise<void> => {
    const { rules: found, broken } = await findActiveRules(
      db,
      ids === 'all' ? undefined : [...ids],
    );
    for (const { id, error } of broken) failed(id, error);
    const changed = new Set(found.map(({ workspaceId }) => workspaceId));
    for (const id of ids === 'all' ? index.ids() : ids) {
      const known = index.remove(id);
      if (known === undefined) continue;
      memory.holds.forget(id);
      changed.add(known.rule.workspaceId);
    }
    await take(found);
    forgetWorkspaces(changed);
  };

  /** Rules that read the last sample of the watch: by the device's own tags, or because they name the device. */
  const rulesReading = (
    deviceId: string,
    workspaceId: string,
    watch: Watch,
  ): ReadonlySet<CompiledRule> => {
    const plan = plans.known(deviceId);
    const naming = index
      .rulesFor(deviceId, new Set(), workspaceId)
      .filter(({ remembers }) => remembers)
      .filter(({ sources }) =>
        sources.some((one) => one.watch.id === watch.id && one.deviceIds.includes(deviceId)),
      );
    return new Set([...(plan === undefined ? [] : rulesOfWatch(plan, watch)), ...naming]);
  };

  const loadLast = async (
    wanted: ReadonlyMap<string, { readonly workspaceId: string; readonly before: EpochMs }>,
    batch: readonly DurableEntry[],
    next: number,
    misses: PreparationMisses,
  ): Promise<void> => {
    const missing = memory.last.missing([...wanted.keys()]);
    if (missing.length === 0) return;
    const known = new Map(missing.map((id) => [id, new Map<string, SeenSample>()]));
    for (const row of await findLastSamples(db, missing)) {
      const sample = seenSampleFrom(row.sample);
      if (sample !== undefined)
        known.get(row.deviceId)!.set(watchId(row.topic, row.dataKey), sample);
    }
    // What was saved may be outdated: while its rule was inactive, nothing was saved.
    const watched = missing.flatMap((deviceId): SearchedWatch[] => {
      const { workspaceId, before } = wanted.get(deviceId)!;
      return index.watchesOf(deviceId, workspaceId).map((watch) => ({ deviceId, watch, before }));
    });
    const found = await searchLastSamples(
      store,
      batch,
      next,
      watched,
      ({ deviceId, watch }, gap) => {
        const { workspaceId } = wanted.get(deviceId)!;
        for (const rule of rulesReading(deviceId, workspaceId, watch))
          misses.lastSampleUncertain(rule, deviceId, gap);
      },
    );
    for (const [i, { deviceId, watch }] of watched.entries()) {
      const sample = found[i];
      const samples = known.get(deviceId)!;
      if (
        sample !== undefined &&
        sample.timestamp >= (samples.get(watch.id)?.timestamp ?? -Infinity)
      ) {
        samples.set(watch.id, sample);
      }
    }
    for (const [deviceId, samples] of known) {
      memory.last.load(deviceId, samples);
      plans.relate(deviceId, wanted.get(deviceId)!.workspaceId);
    }
  };

  return {
    memory,
    size: () => index.size,
    recordChanged({ kind, id, action }) {
      if (kind === 'device') staleDevices.add(id);
      // Which devices carry a tag is told by the devices; a new tag is carried by none.
      else if (kind === 'tag' && action !== 'created') staleTags.add(id);
      else if (stale === 'all') return;
      else if (kind === 'rule') stale.add(id);
      else if (kind === 'outputConnector' || kind === 'customLogic') {
        for (const ruleId of index.using(id)) stale.add(ruleId);
      }
    },
    async refresh() {
      const devices = [...staleDevices];
      const tags = [...staleTags];
      staleDevices = new Set();
      staleTags = new Set();
      const ids = stale;
      try {
        await staleByMoves(devices);
        stale = new Set();
        for (const id of devices) plans.forget(id);
        forgetWorkspaces(index.workspacesWithTags(tags));
        if (ids !== 'all' && ids.size === 0) return false;
        await refreshRules(ids);
        return true;
      } catch (error) {
        stale = 'all';
        for (const id of devices) staleDevices.add(id);
        throw error;
      }
    },
    async prepare(entries, misses) {
      const devices = devicesOf(entries);
      const unknown = plans.missing(devices);
      const tags = index.hasTags
        ? await tagsOfDevices(db, unknown)
        : new Map<string, { id: string }[]>();
      for (const id of unknown) {
        const { workspaceId } = devices.get(id)!;
        const held = new Set((tags.get(id) ?? []).map((tag) => tag.id));
        plans.make(
          id,
          workspaceId,
          held,
          index.rulesFor(id, held, workspaceId),
          (compiled, error) => misses.planningFailed(compiled, id, error),
        );
      }
      const wanted = new Map<string, { readonly workspaceId: string; readonly before: EpochMs }>();
      for (const [id, device] of devices) {
        const plan = plans.of(id);
        if (!plan?.remembers) continue;
        wanted.set(id, device);
        for (const other of plan.otherDevices) {
          wanted.set(
            other,
            devices.get(other) ?? { workspaceId: device.workspaceId, before: Infinity },
          );
        }
      }
      await loadLast(wanted, entries, entries[0]?.position ?? 0, misses);
    },
    async prepareRule({ sources, rule: { workspaceId } }, next, misses) {
      const ids = sources.flatMap(({ deviceIds }) => deviceIds);
      await loadLast(
        new Map(ids.map((id) => [id, { workspaceId, before: Infinity }])),
        [],
        next,
        misses,
      );
    },
    planOf: plans.of,
    rule: index.rule,
    rules: index.all,
    reset() {
      stale = 'all';
      memory.last.clear();
      memory.holds.clear();
    },
  };
}

async function partsOf(db: RecordsDb, rules: readonly Rule[]): Promise<RuleParts> {
  const actionIds = new Set(rules.flatMap(({ actions }) => actions.map(({ id }) => id)));
  const blockIds = new Set(rules.flatMap(({ logic }) => logic.customLogic?.customLogicId ?? []));
  const connectors = await findOpenOutputConnectors(db, [...actionIds]);
  const blocks = await findCustomLogics(db, [...blockIds]);
  const isInWorkspace = await inputsInWorkspace(db, rules);
  return {
    connectors: new Map(connectors.map((connector) => [connector.id, connector])),
    customLogic: new Map(blocks.map((block) => [block.id, block])),
    isInWorkspace,
  };
}

/** Tells which devices the rules may read: those that were moved to another workspace since are none of theirs. */
export async function inputsInWorkspace(
  db: RecordsDb,
  rules: readonly Rule[],
): Promise<NonNullable<RuleParts['isInWorkspace']>> {
  const inputs = rules.flatMap((rule) => rule.inputs.filter(({ type }) => type === 'DEVICE'));
  const workspaces = await workspacesOfDevices(db, [...new Set(inputs.map(({ id }) => id))]);
  // A device that was deleted is in none, and has no samples.
  return (deviceId, workspaceId) => (workspaces.get(deviceId) ?? workspaceId) === workspaceId;
}

function compiledOr(
  failed: (ruleId: string, error: unknown) => void,
  rule: Rule,
  parts: RuleParts,
) {
  try {
    return compileRule(rule, parts);
  } catch (error) {
    failed(rule.id, error);
    return undefined;
  }
}

function devicesOf(entries: readonly DurableEntry[]) {
  const devices = new Map<string, { workspaceId: string; before: EpochMs }>();
  for (const { samples } of entries) {
    for (const { deviceId, workspaceId, timestamp } of samples) {
      const known = devices.get(deviceId);
      if (known === undefined) devices.set(deviceId, { workspaceId, before: timestamp });
      else known.before = Math.min(known.before, timestamp);
    }
  }
  return devices;
}

/** What a watch is saved under: its topic, and its keys one per line. */
function watchId(topic: string, dataKey: string): string {
  return dataKey === '' ? topic : `${topic}\n${dataKey}`;
}
