// Rule registry: the compiled active rules, the plan of each device and the state of rules, updated by record changes.
import { type EpochMs, newestUntil } from '../../model/instant.ts';
import type { DurableEntry } from '../../model/journal-entry.ts';
import type { ChangeFollower, RecordChange } from '../../model/record.ts';
import type { Records, RecordsDb } from '../../storage/records/records.ts';
import { alarmSourceRows } from '../../storage/records/rows/alarms.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { placeRows } from '../../storage/records/rows/places.ts';
import {
  type JudgedDevice,
  lastSampleRows,
  conditionStateRows,
  judgedTimeRows,
} from '../../storage/records/rows/rule-state.ts';
import { ruleRows } from '../../storage/records/rows/rules.ts';
import { AlarmSources } from './alarm-sources.ts';
import { type CompiledRule, compileRules } from './compiled-rule.ts';
import {
  type DevicePlan,
  planLimits,
  Plans,
  rulesOfWatch,
  rulesWithStates,
} from './device-plan.ts';
import { RuleMemory, ruleSampleFrom } from './evaluation.ts';
import {
  type SearchedStore,
  type SearchedWatch,
  type SearchGap,
  searchLastSamples,
} from './last-samples.ts';
import { RuleIndex } from './rule-index.ts';
import type { RuleSample } from './rule-reading.ts';

/** Failures while something is prepared. The rest is prepared all the same. */
export interface PreparationFailures {
  /**
   * The rule threw while the device was planned: in this batch it does not evaluate samples of the
   * device.
   */
  planningFailed(compiled: CompiledRule, deviceId: string, error: unknown): void;
  /**
   * The last sample that the rule reads of the device may be another than the newest. May be called
   * several times.
   */
  lastSampleUncertain(compiled: CompiledRule, deviceId: string, gap: SearchGap): void;
}

/** `refresh`, `prepare` and `prepareRule` must not run at the same time. */
export class RuleRegistry implements ChangeFollower {
  readonly #db: RecordsDb;
  readonly memory: RuleMemory;
  readonly alarmSources = new AlarmSources();
  readonly #index = new RuleIndex();
  readonly #sealer: Records['sealer'];
  readonly #store: SearchedStore;
  readonly #plans: Plans;
  readonly #failed: (ruleId: string, error: unknown) => void;
  readonly #pending = new PendingChanges();
  readonly size = (): number => this.#index.size;
  readonly recordChanged: (change: RecordChange) => void = this.#pending.recordChanged;
  readonly changesMissed: () => void = this.#pending.changesMissed;
  /** Undefined when no rule reads the device. Throws for a device that was not prepared. */
  readonly planOf: (deviceId: string) => DevicePlan | undefined;
  readonly rule: (id: string) => CompiledRule | undefined = this.#index.rule;
  readonly rules: () => Iterable<CompiledRule> = this.#index.all;

  /**
   * `failed` is called for a rule that cannot be read or compiled. The others are used without it.
   */
  constructor(
    { db, sealer }: Records,
    store: SearchedStore,
    failed: (ruleId: string, error: unknown) => void,
    now: () => EpochMs,
    plansMax: number = planLimits.plansMax,
  ) {
    this.#db = db;
    this.memory = new RuleMemory(() => newestUntil(now()), now);
    const plans = new Plans((id) => forgetDevice(this.memory, id), plansMax);
    this.#sealer = sealer;
    this.#store = store;
    this.#plans = plans;
    this.#failed = failed;
    this.planOf = plans.find;
  }

  /** Applies the record changes, which have no effect before. Resolves to true when rules were added, removed or changed. */
  async refresh(): Promise<boolean> {
    const changes = this.#pending.take();
    try {
      return await this.#applyChanges(changes);
    } catch (error) {
      this.#pending.putBack(changes);
      throw error;
    }
  }

  /**
   * Loads what the rules of the devices need. The entries, and those after them, are evaluated
   * next.
   */
  prepare(entries: readonly DurableEntry[], failures: PreparationFailures): Promise<void> {
    return this.#prepareAll(
      devicesOf(entries),
      { batch: entries, next: entries[0]?.position ?? 0 },
      failures,
    );
  }

  /** The same for devices that no entry is about, each with its workspace. */
  prepareDevices(
    devices: ReadonlyMap<string, string>,
    next: number,
    failures: PreparationFailures,
  ): Promise<void> {
    return this.#prepareAll(
      new Map([...devices].map(([id, workspaceId]) => [id, { workspaceId, before: Infinity }])),
      { batch: [], next },
      failures,
    );
  }

  /**
   * Loads the last samples that a timed run of the rule needs, of entries before the position
   * `next`.
   */
  async prepareRule(
    { sources, rule: { workspaceId } }: CompiledRule,
    next: number,
    failures: PreparationFailures,
  ): Promise<void> {
    const ids = sources.flatMap(({ deviceIds }) => deviceIds);
    await this.#loadLastSamples({
      wanted: new Map(ids.map((id) => [id, { workspaceId, before: Infinity }])),
      batch: [],
      next,
      uncertain: failures.lastSampleUncertain,
    });
  }

  /**
   * Samples of the device were removed: its last samples are searched again. Call `prepare` for the entries
   * that follow.
   */
  async samplesRemoved(deviceId: string): Promise<void> {
    this.memory.last.forgetRemoved(deviceId);
    await lastSampleRows.removeOf(this.#db, deviceId);
  }

  /** The devices whose rules judged samples since the last call, and marks them as saved. */
  takeJudged(): readonly JudgedDevice[] {
    return takeJudged(this.memory);
  }

  /** Call after a write that failed: the next `refresh` reads again what is durable. */
  reset(): void {
    this.#pending.changesMissed();
    this.memory.last.clear();
    this.memory.states.clear();
    this.memory.judged.clear();
    this.alarmSources.clear();
  }

  async #applyChanges(changes: Changes): Promise<boolean> {
    let ids: ReadonlySet<string> | undefined;
    if (!changes.isAll) ids = await this.#changedRules(changes);
    for (const id of changes.devices) {
      this.#plans.forget(id);
      this.memory.states.forgetDevice(id);
    }
    this.#forgetWorkspaces(this.#index.workspacesWithTags([...changes.tags]));
    // A place that moves takes along all that is below, and other places above it get and lose devices.
    if (changes.places.size > 0) this.#forgetWorkspaces(this.#index.workspacesWithPlaces());
    if (ids?.size === 0) return false;
    await this.#reloadRules(ids);
    return true;
  }

  async #changedRules({ rules, used, devices }: Changes): Promise<ReadonlySet<string>> {
    const changed = new Set(rules);
    for (const id of used) for (const ruleId of this.#index.using(id)) changed.add(ruleId);
    // A rule that names a device changes when the device moves to another workspace, or back.
    const named = [...devices].flatMap((id) => {
      const workspaceId = this.#index.namedWorkspace(id);
      if (workspaceId === undefined) return [];
      return [{ id, workspaceId }];
    });
    const workspaces = await deviceRows.workspacesOf(
      this.#db,
      named.map(({ id }) => id),
    );
    for (const { id, workspaceId } of named) {
      const hasMoved = (workspaces.get(id) ?? workspaceId) !== workspaceId;
      if (hasMoved) for (const ruleId of this.#index.namedBy(id)) changed.add(ruleId);
    }
    return changed;
  }

  /** Every rule when `ids` is undefined. */
  async #reloadRules(ids: ReadonlySet<string> | undefined): Promise<void> {
    const { rules, broken } = await ruleRows.activeOf(this.#db, ids && [...ids]);
    for (const { id, error } of broken) this.#failed(id, error);
    const workspaces = new Set(rules.map(({ workspaceId }) => workspaceId));
    const compiled = await compileRules(
      { db: this.#db, sealer: this.#sealer },
      rules,
      this.#failed,
    );
    for (const id of ids ?? this.#index.ids()) {
      const known = this.#index.remove(id);
      if (known === undefined) continue;
      this.memory.states.forgetTimed(id);
      this.alarmSources.forget(id);
      workspaces.add(known.rule.workspaceId);
    }
    for (const rule of compiled) this.#index.add(rule);
    await this.#loadStates(rules.map(({ id }) => ({ ruleId: id, deviceId: '' })));
    const withAlarms = compiled.filter(({ alarms }) => alarms.size > 0).map(({ rule }) => rule.id);
    for (const source of await alarmSourceRows.ofRules(this.#db, withAlarms))
      this.alarmSources.add(source);
    this.#forgetWorkspaces(workspaces);
  }

  /** Reads what was saved by the present activations of the rules; '' is the device of timed runs. */
  async #loadStates(
    of: readonly { readonly ruleId: string; readonly deviceId: string }[],
  ): Promise<void> {
    for (const saved of await conditionStateRows.find(this.#db, of)) {
      const isCurrent = this.#index.rule(saved.ruleId)?.rule.activation === saved.activation;
      if (isCurrent) this.memory.states.load(saved);
    }
  }

  /**
   * Discards what was made for the rules of the workspaces: a new rule may watch what none watched
   * before.
   */
  #forgetWorkspaces(ids: Iterable<string>): void {
    for (const id of ids)
      for (const one of this.#plans.forgetWorkspace(id)) forgetDevice(this.memory, one);
  }

  async #prepareAll(
    devices: Devices,
    { batch, next }: { readonly batch: readonly DurableEntry[]; readonly next: number },
    failures: PreparationFailures,
  ): Promise<void> {
    await this.#makePlans(devices, failures);
    await this.#loadLastSamples({
      wanted: devicesToLoad(this.#plans, devices),
      batch,
      next,
      uncertain: failures.lastSampleUncertain,
    });
  }

  async #makePlans(devices: Devices, { planningFailed }: PreparationFailures): Promise<void> {
    const withStates: { readonly ruleId: string; readonly deviceId: string }[] = [];
    const unplanned = this.#plans.missing(devices);
    let groups = noGroups;
    if (this.#index.hasTags) groups = await placeRows.groupsOfDevices(this.#db, unplanned);
    for (const id of unplanned) {
      const workspaceId = devices.get(id)?.workspaceId ?? '';
      const own = groups.get(id) ?? new Set();
      const rules = this.#index.rulesFor(id, own, workspaceId);
      const plan = this.#plans.make({ id, workspaceId, tags: own, rules }, (compiled, error) =>
        planningFailed(compiled, id, error),
      );
      this.memory.states.forgetDevice(id);
      for (const { rule } of plan === undefined ? [] : rulesWithStates(plan))
        withStates.push({ ruleId: rule.id, deviceId: id });
    }
    try {
      await this.#loadStates(withStates);
      await this.#loadJudgedTimes(unplanned);
    } catch (error) {
      // A plan must not be used without its states.
      for (const id of unplanned) this.#plans.forget(id);
      throw error;
    }
  }

  /** Of an earlier activation, none counts. */
  async #loadJudgedTimes(deviceIds: readonly string[]): Promise<void> {
    const planned = deviceIds.filter((id) => this.#plans.known(id) !== undefined);
    for (const { deviceId, times } of await judgedTimeRows.find(this.#db, planned))
      for (const { compiled, judged } of this.#plans.known(deviceId)?.rules ?? []) {
        const [activation, ...saved] = times[compiled.rule.id] ?? [];
        if (activation !== compiled.rule.activation) continue;
        for (const place of judged.keys()) judged[place] = saved[place] ?? null;
      }
  }

  async #loadLastSamples({
    wanted,
    batch,
    next,
    uncertain,
  }: {
    readonly wanted: ReadonlyMap<string, WantedDevice>;
    /** The entries that are evaluated next. */
    readonly batch: readonly DurableEntry[];
    /** Position of the first entry that is not evaluated. */
    readonly next: number;
    /**
     * The last sample that the rule reads of the device may be another than the newest. May be called
     * several times.
     */
    readonly uncertain: (compiled: CompiledRule, deviceId: string, gap: SearchGap) => void;
  }): Promise<void> {
    const { last } = this.memory;
    const until = this.memory.newestUntil();
    const missing = last.missing([...wanted.keys()]).flatMap((deviceId) => {
      const device = wanted.get(deviceId);
      if (device === undefined) return [];
      return [{ deviceId, ...device }];
    });
    if (missing.length === 0) return;
    const saved = await savedSamples(
      this.#db,
      missing.map(({ deviceId }) => deviceId),
      until,
    );
    // A saved sample may be outdated: while its rule was inactive, none was saved.
    const watches = missing.flatMap(({ deviceId, workspaceId, before }) =>
      this.#index
        .watchesOf(deviceId, workspaceId)
        .map((watch) => ({ deviceId, workspaceId, watch, before })),
    );
    const found = await searchLastSamples({
      store: this.#store,
      until,
      batch,
      next,
      watches,
      report: (watch, gap) => {
        for (const rule of rulesReading(this.#plans, this.#index, watch))
          uncertain(rule, watch.deviceId, gap);
      },
    });
    for (const [i, { deviceId, watch }] of watches.entries())
      keepNewer(saved.get(deviceId), watch.id, found[i]);
    for (const { deviceId, workspaceId } of missing) {
      last.load(deviceId, saved.get(deviceId) ?? new Map());
      this.#plans.relate(deviceId, workspaceId);
    }
  }
}

/** All of it is in the records, because batches are written before anything is discarded. */
function forgetDevice({ last, states }: RuleMemory, deviceId: string): void {
  last.forget(deviceId);
  states.forgetDevice(deviceId);
}

type Devices = ReadonlyMap<string, WantedDevice>;

function takeJudged({ judged: changed }: RuleMemory): readonly JudgedDevice[] {
  const taken = [...changed].map(({ deviceId, rules }) => ({
    deviceId,
    times: Object.fromEntries(
      rules
        .filter(({ judged }) => judged.some((at) => at !== null))
        .map(({ compiled: { rule }, judged }) => [rule.id, [rule.activation, ...judged]]),
    ),
  }));
  changed.clear();
  return taken;
}

const noGroups: ReadonlyMap<string, ReadonlySet<string>> = new Map();

/** The devices whose last samples their rules read, and the other devices that those rules name. */
function devicesToLoad(plans: Plans, devices: Devices): Devices {
  const wanted = new Map<string, WantedDevice>();
  for (const [id, device] of devices) {
    const plan = plans.find(id);
    if (plan?.needsLastSamples !== true) continue;
    wanted.set(id, device);
    const { workspaceId } = device;
    for (const other of plan.otherDevices)
      wanted.set(other, devices.get(other) ?? { workspaceId, before: Infinity });
  }
  return wanted;
}

function devicesOf(entries: readonly DurableEntry[]): Devices {
  const devices = new Map<string, { readonly workspaceId: string; before: EpochMs }>();
  const note = (deviceId: string, workspaceId: string, timestamp: EpochMs): void => {
    const known = devices.get(deviceId);
    if (known === undefined) devices.set(deviceId, { workspaceId, before: timestamp });
    else known.before = Math.min(known.before, timestamp);
  };
  for (const entry of entries) {
    const { summary } = entry;
    if (summary !== undefined) note(entry.deviceId, summary.workspaceId, summary.oldest);
    else
      for (const { deviceId, workspaceId, timestamp } of entry.samples)
        note(deviceId, workspaceId, timestamp);
  }
  return devices;
}

// Last sample loader: brings the last samples that rules read into memory, from the records and from the store.

interface WantedDevice {
  readonly workspaceId: string;
  /**
   * Timestamp of the oldest sample of the device that is about to be evaluated; Infinity without
   * one.
   */
  readonly before: EpochMs;
}

type SamplesByWatch = Map<string, RuleSample>;

async function savedSamples(
  db: RecordsDb,
  deviceIds: readonly string[],
  until: EpochMs,
): Promise<ReadonlyMap<string, SamplesByWatch>> {
  const saved = new Map(deviceIds.map((id): [string, SamplesByWatch] => [id, new Map()]));
  for (const row of await lastSampleRows.find(db, deviceIds))
    keepNewer(saved.get(row.deviceId), watchId(row), savedSample(row.sample, until));
  return saved;
}

/** Undefined for one that is dated in the future, so that the store is asked for another. */
function savedSample(value: unknown, until: EpochMs): RuleSample | undefined {
  const sample = ruleSampleFrom(value);
  return sample !== undefined && sample.timestamp > until ? undefined : sample;
}

function keepNewer(
  samples: SamplesByWatch | undefined,
  id: string,
  sample: RuleSample | undefined,
): void {
  if (samples === undefined || sample === undefined) return;
  const known = samples.get(id);
  if (known === undefined || sample.timestamp >= known.timestamp) samples.set(id, sample);
}

/**
 * Rules that read the last sample of the watch: by tags of the device, or because they name the
 * device.
 */
function rulesReading(
  plans: Plans,
  index: RuleIndex,
  { deviceId, workspaceId, watch }: SearchedWatch & { readonly workspaceId: string },
): ReadonlySet<CompiledRule> {
  const plan = plans.known(deviceId);
  const byPlan = (plan && rulesOfWatch(plan, watch)) ?? [];
  const naming = index
    .rulesFor(deviceId, new Set(), workspaceId)
    .filter(({ needsLastSamples }) => needsLastSamples)
    .filter(({ sources }) =>
      sources.some((source) => source.watch.id === watch.id && source.deviceIds.includes(deviceId)),
    );
  return new Set([...byPlan, ...naming]);
}

/** The id under which a watch is saved: its topic, then its keys, one per line. */
function watchId({ topic, dataKey }: { readonly topic: string; readonly dataKey: string }): string {
  if (dataKey === '') return topic;
  return `${topic}\n${dataKey}`;
}

// Pending changes: what happened to the records of rules since the last refresh.

interface Changes {
  /** Every rule must be read again. */
  readonly isAll: boolean;
  readonly rules: ReadonlySet<string>;
  /** Output connectors and custom logic, which rules use. */
  readonly used: ReadonlySet<string>;
  readonly devices: ReadonlySet<string>;
  readonly tags: ReadonlySet<string>;
  /** Places that may have moved, with all that is below. */
  readonly places: ReadonlySet<string>;
}

/** Starts with `isAll`. */
export class PendingChanges implements ChangeFollower {
  #isAll = true;
  #rules = new Set<string>();
  #used = new Set<string>();
  #devices = new Set<string>();
  #tags = new Set<string>();
  #places = new Set<string>();
  readonly recordChanged = ({ kind, id, action }: RecordChange): void => {
    // A state of a rule that was changed by others is read again, with the plan of its device.
    if (kind === 'device' || kind === 'conditionState') this.#devices.add(id);
    if (kind === 'conditionState') this.#rules.add(id);
    // No device has a new tag. A device that gets or loses a tag changes itself.
    if (kind === 'tag' && action !== 'created') this.#tags.add(id);
    // No device is at a new place.
    if (kind === 'place' && action !== 'created') this.#places.add(id);
    if (kind === 'rule') this.#rules.add(id);
    if (kind === 'outputConnector' || kind === 'customLogic') this.#used.add(id);
  };
  readonly changesMissed = (): void => {
    this.#isAll = true;
  };

  take(): Changes {
    const taken = {
      isAll: this.#isAll,
      rules: this.#rules,
      used: this.#used,
      devices: this.#devices,
      tags: this.#tags,
      places: this.#places,
    };
    this.#isAll = false;
    this.#rules = new Set();
    this.#used = new Set();
    this.#devices = new Set();
    this.#tags = new Set();
    this.#places = new Set();
    return taken;
  }

  /** Call when the refresh with these changes failed. The next one reads every rule. */
  putBack(changes: Changes): void {
    this.#isAll = true;
    for (const id of changes.devices) this.#devices.add(id);
  }
}
