// Last samples: per device and watch, what a rule reads of data sources that do not trigger it.
import { isDeepStrictEqual } from 'node:util';
import type { EpochMs } from '../../model/instant.ts';
import { WorkingSet } from '../../structures/caches.ts';
import type { RuleSample } from './rule-reading.ts';
import type { DurableEntry } from '../../model/journal-entry.ts';
import type { Sample } from '../../model/sample.ts';
import type { EntryLog } from '../../storage/log/entry-log.ts';
import type { UnreadableSamples } from '../../storage/samples/sample-store.ts';
import type { Samples } from '../../storage/samples/samples.ts';
import type { Watch } from './compiled-rule.ts';
import { takes } from './device-plan.ts';

/**
 * Devices in memory. The least recently used ones are evicted, and read again when they are needed.
 */
const devicesMax = 50_000;

/** `newestUntil`: later samples are dated in the future. */
export class LastSamples {
  readonly #newestUntil: () => EpochMs;
  readonly #devices = new WorkingSet<string, Map<string, RuleSample>>(devicesMax);
  readonly #changed = new Map<string, { readonly watchId: string; readonly sample: RuleSample }>();

  constructor(newestUntil: () => EpochMs) {
    this.#newestUntil = newestUntil;
  }

  /** A sample that is dated in the future is none. */
  get(deviceId: string, watchId: string): RuleSample | undefined {
    const sample = this.#devices.get(deviceId)?.get(watchId);
    if (sample === undefined || sample.timestamp > this.#newestUntil()) return undefined;
    return sample;
  }

  /** Keeps the sample unless a newer one is known: a late sample does not replace a newer one. */
  put(watchId: string, sample: RuleSample): void {
    const samples = this.#samplesOf(sample.deviceId);
    const before = samples.get(watchId);
    const until = this.#newestUntil();
    if (sample.timestamp > until) return;
    const isNewer = before !== undefined && before.timestamp > sample.timestamp;
    if (isNewer && before.timestamp <= until) return;
    samples.set(watchId, sample);
    this.#changed.set(`${sample.deviceId} ${watchId}`, { watchId, sample });
  }

  /** Returns the changes since the last call, and marks them as saved. */
  takeChanged(): readonly { readonly watchId: string; readonly sample: RuleSample }[] {
    const taken = [...this.#changed.values()];
    this.#changed.clear();
    return taken;
  }

  /**
   * Returns the devices to `load`, and makes room for them. The other given devices stay in
   * memory.
   */
  missing(deviceIds: readonly string[]): readonly string[] {
    return this.#devices.claim(deviceIds);
  }

  load(deviceId: string, samples: ReadonlyMap<string, RuleSample>): void {
    this.#devices.set(deviceId, new Map(samples));
  }

  forget(deviceId: string): void {
    this.#devices.delete(deviceId);
  }

  /** Also forgets what was not saved: samples of the device were removed. */
  forgetRemoved(deviceId: string): void {
    this.forget(deviceId);
    for (const [key, { sample }] of this.#changed)
      if (sample.deviceId === deviceId) this.#changed.delete(key);
  }

  clear(): void {
    this.#devices.clear();
    this.#changed.clear();
  }

  #samplesOf(deviceId: string): Map<string, RuleSample> {
    const known = this.#devices.get(deviceId);
    if (known !== undefined) return known;
    const samples = new Map<string, RuleSample>();
    this.#devices.set(deviceId, samples);
    return samples;
  }
}

// Last sample search: the newest stored sample that a watch takes and that rules have evaluated.

/** The parts of the samples and of their log that the search reads. */
export type SearchedStore = Pick<Samples, 'samples'> & Pick<EntryLog, 'entriesFrom' | 'position'>;

const searchLimits = {
  /** Evaluated samples without the watched keys that are skipped for one watch. */
  passedOverMax: 100,
  /** Entries after the batch that are read to know which samples are not evaluated yet. */
  backlogMax: 2_000,
  /** Searches between two reads of the journal. */
  togetherMax: 100,
} as const;

export interface SearchedWatch {
  readonly deviceId: string;
  readonly watch: Watch;
  /** The oldest sample of the device in the batch. */
  readonly before: EpochMs;
}

/** Why the newest evaluated sample may be another than the answer. */
export type SearchGap =
  /** Samples that may be newer cannot be read. */
  | { readonly kind: 'unreadable'; readonly from: EpochMs; readonly to: EpochMs }
  /** Too many entries wait, so their samples are skipped by time. */
  | { readonly kind: 'backlog' };

interface LastSampleSearch<W extends SearchedWatch> {
  readonly store: SearchedStore;
  /** Later samples are dated in the future, and are newest to nothing. */
  readonly until: EpochMs;
  /** What is evaluated next. */
  readonly batch: readonly DurableEntry[];
  /** Position of the first entry that is not evaluated. */
  readonly next: number;
  readonly watches: readonly W[];
  /** Called for a gap, maybe several times for one watch. */
  readonly report: (watch: W, gap: SearchGap) => void;
}

/**
 * Returns the newest evaluated sample of each watch, in their order; undefined if none of the
 * newest hundred has its keys. Samples are stored before they are evaluated, so the store also has
 * samples of the batch and of later entries: each of them is left out. When more than 2,000 entries
 * wait, samples from `before` on are left out instead. This is reported, like unreadable samples.
 */
export async function searchLastSamples<W extends SearchedWatch>(
  search: LastSampleSearch<W>,
): Promise<(Sample | undefined)[]> {
  const { watches } = search;
  if (watches.length === 0) return [];
  const waiting = new WaitingSamples(search);
  const found: (Sample | undefined)[] = [];
  await waiting.readOn();
  for (let from = 0; from < watches.length; from += searchLimits.togetherMax) {
    const group = watches.slice(from, from + searchLimits.togetherMax);
    const candidates = await Promise.all(
      group.map(async (watch) => ({ watch, candidate: await searchOne(search, watch, waiting) })),
    );
    await waiting.readOn();
    for (const { watch, candidate } of candidates)
      found.push(await evaluatedOnly(search, watch, waiting, candidate));
  }
  return found;
}

/**
 * Searches again while the candidate became durable during the search: then it is not evaluated
 * yet.
 */
async function evaluatedOnly<W extends SearchedWatch>(
  search: LastSampleSearch<W>,
  watch: W,
  waiting: WaitingSamples,
  candidate: Sample | undefined,
): Promise<Sample | undefined> {
  let found = candidate;
  while (found !== undefined && waiting.has(found)) {
    found = await searchOne(search, watch, waiting);
    await waiting.readOn();
  }
  return found;
}

async function searchOne<W extends SearchedWatch>(
  { store, until, report }: LastSampleSearch<W>,
  watch: W,
  waiting: WaitingSamples,
): Promise<Sample | undefined> {
  if (waiting.isTooLong) report(watch, { kind: 'backlog' });
  const gaps: UnreadableSamples[] = [];
  const found = await searchReadable({ store, until }, watch, waiting, (samples) =>
    gaps.push(samples),
  );
  // A gap that is older than the answer does not matter.
  const newer = gaps.find(({ to }) => to >= (found?.timestamp ?? Number.NEGATIVE_INFINITY));
  if (newer !== undefined) report(watch, { kind: 'unreadable', from: newer.from, to: newer.to });
  return found;
}

async function searchReadable(
  { store, until }: Pick<LastSampleSearch<SearchedWatch>, 'store' | 'until'>,
  { deviceId, watch, before }: SearchedWatch,
  waiting: WaitingSamples,
  unreadable: (samples: UnreadableSamples) => void,
): Promise<Sample | undefined> {
  const limit = searchLimits.passedOverMax;
  const range = {
    deviceId,
    ...(watch.topic !== '*' && { topic: watch.topic }),
    to: waiting.isTooLong ? Math.min(before, until + 1) : until + 1,
    limit,
    unreadable,
  };
  let passedOver = 0;
  for (let skip = 0; passedOver < limit; skip += limit) {
    const samples = await store.samples({ ...range, skip });
    for (const sample of samples) {
      if (waiting.has(sample)) continue;
      if (takes(watch, sample.data)) return sample;
      passedOver += 1;
    }
    if (samples.length < limit) break;
  }
  return undefined;
}

/** The samples that are stored and not evaluated yet. */
class WaitingSamples {
  readonly #store: SearchedStore;
  readonly #samples = new Map<string, Sample[]>();
  readonly #from: number;
  #readTo: number;
  #isTooLong = false;

  constructor({
    store,
    batch,
    next,
  }: Pick<LastSampleSearch<SearchedWatch>, 'store' | 'batch' | 'next'>) {
    this.#store = store;
    this.#from = (batch.at(-1)?.position ?? next - 1) + 1;
    this.#readTo = this.#from;
    this.#add(batch);
  }

  get isTooLong(): boolean {
    return this.#isTooLong;
  }

  has(sample: Sample): boolean {
    const known = this.#samples.get(keyOf(sample)) ?? [];
    return known.some(({ data }) => isDeepStrictEqual(data, sample.data));
  }

  /** Reads the entries that became durable since the last call. */
  async readOn(): Promise<void> {
    this.#isTooLong ||= this.#store.position - this.#from > searchLimits.backlogMax;
    if (this.#isTooLong || this.#readTo >= this.#store.position) return;
    for await (const entries of this.#store.entriesFrom(this.#readTo)) {
      this.#add(entries);
      this.#readTo = (entries.at(-1)?.position ?? this.#readTo - 1) + 1;
      if (this.#readTo - this.#from > searchLimits.backlogMax) break;
    }
  }

  #add(entries: readonly DurableEntry[]): void {
    for (const sample of entries.flatMap((entry) => entry.samples)) {
      const known = this.#samples.get(keyOf(sample));
      if (known === undefined) this.#samples.set(keyOf(sample), [sample]);
      else known.push(sample);
    }
  }
}

function keyOf({ deviceId, topic, timestamp }: Sample): string {
  return `${deviceId} ${timestamp} ${topic}`;
}
