// Last sample loader: brings the last samples that rules read into memory, from the records and from the store.
import type { EpochMs } from '../../model/instant.ts';
import type { DurableEntry } from '../../model/journal-entry.ts';
import type { RecordsDb } from '../../storage/records/records.ts';
import { findLastSamples } from '../../storage/records/rows/rule-state.ts';
import type { CompiledRule } from './compiled-rule.ts';
import { rulesOfWatch } from './device-plan.ts';
import { ruleSampleFrom } from './evaluation.ts';
import {
  type SearchedStore,
  type SearchedWatch,
  type SearchGap,
  searchLastSamples,
} from './last-sample-search.ts';
import type { LastSamples } from './last-samples.ts';
import type { Plans } from './plans.ts';
import type { RuleIndex } from './rule-index.ts';
import type { RuleSample } from './rule-reading.ts';

export interface WantedDevice {
  readonly workspaceId: string;
  /**
   * Timestamp of the oldest sample of the device that is about to be evaluated; Infinity without
   * one.
   */
  readonly before: EpochMs;
}

interface LoaderParts {
  readonly db: RecordsDb;
  readonly store: SearchedStore;
  readonly last: LastSamples;
  readonly plans: Plans;
  readonly index: RuleIndex;
  /** Samples dated later are not for rules. */
  readonly until: EpochMs;
}

type SamplesByWatch = Map<string, RuleSample>;

export async function loadLastSamples(
  { db, store, last, plans, index, until }: LoaderParts,
  {
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
  },
): Promise<void> {
  const missing = last.missing([...wanted.keys()]).flatMap((deviceId) => {
    const device = wanted.get(deviceId);
    if (device === undefined) return [];
    return [{ deviceId, ...device }];
  });
  if (missing.length === 0) return;
  const saved = await savedSamples(
    db,
    missing.map(({ deviceId }) => deviceId),
    until,
  );
  // A saved sample may be outdated: while its rule was inactive, none was saved.
  const watches = missing.flatMap(({ deviceId, workspaceId, before }) =>
    index
      .watchesOf(deviceId, workspaceId)
      .map((watch) => ({ deviceId, workspaceId, watch, before })),
  );
  const found = await searchLastSamples({
    store,
    until,
    batch,
    next,
    watches,
    report(watch, gap) {
      for (const rule of rulesReading(plans, index, watch)) uncertain(rule, watch.deviceId, gap);
    },
  });
  for (const [i, { deviceId, watch }] of watches.entries())
    keepNewer(saved.get(deviceId), watch.id, found[i]);
  for (const { deviceId, workspaceId } of missing) {
    last.load(deviceId, saved.get(deviceId) ?? new Map());
    plans.relate(deviceId, workspaceId);
  }
}

async function savedSamples(
  db: RecordsDb,
  deviceIds: readonly string[],
  until: EpochMs,
): Promise<ReadonlyMap<string, SamplesByWatch>> {
  const saved = new Map(deviceIds.map((id): [string, SamplesByWatch] => [id, new Map()]));
  for (const row of await findLastSamples(db, deviceIds))
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
