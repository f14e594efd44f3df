// Last sample search: the newest stored sample that a watch takes and that rules have evaluated.
import { isDeepStrictEqual } from 'node:util';
import type { EpochMs } from '../../model/instant.ts';
import type { DurableEntry } from '../../model/journal-entry.ts';
import type { Sample } from '../../model/sample.ts';
import type { EntryLog } from '../../storage/log/entry-log.ts';
import type { UnreadableSamples } from '../../storage/samples/sample-store.ts';
import type { Samples } from '../../storage/samples/samples.ts';
import type { Watch } from './compiled-rule.ts';
import { takes } from './device-plan.ts';

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
