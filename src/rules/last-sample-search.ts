// Last sample search: the newest stored sample that a watch takes, among those that rules have evaluated already.
import { isDeepStrictEqual } from 'node:util';
import type { EpochMs } from '../model/instant.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import type { Sample } from '../model/sample.ts';
import type { SampleStore, UnreadableSamples } from '../samples/sample-store.ts';
import type { Watch } from './compiled-rule.ts';
import { takes } from './device-plan.ts';

/** The parts of the sample store that the search reads. */
export type SearchedStore = Pick<SampleStore, 'samples' | 'entriesFrom' | 'position'>;

const searchLimits = {
  /** Evaluated samples without the watched keys that are passed over for one watch. */
  passedOverMax: 100,
  /** Entries behind the batch that are read to know which samples are not evaluated yet. */
  backlogMax: 2_000,
  /** Searches between two looks at the journal. */
  togetherMax: 100,
} as const;

export interface SearchedWatch {
  readonly deviceId: string;
  readonly watch: Watch;
  /** The oldest sample of the device in the batch. */
  readonly before: EpochMs;
}

/** Why the answer of a search may be another than the newest evaluated sample. */
export type SearchGap =
  /** Samples that may be newer cannot be read. */
  | { readonly kind: 'unreadable'; readonly from: EpochMs; readonly to: EpochMs }
  /** Too many entries wait for all of their samples to be left out one by one. */
  | { readonly kind: 'backlog' };

/** Told of a gap, for a watch maybe several times. */
export type TellGap = (one: SearchedWatch, gap: SearchGap) => void;

/**
 * The newest evaluated sample of each watch, in their order; undefined where none of the newest hundred has its keys. `batch` is what
 * is evaluated next, `next` its first position. Samples are stored before they are evaluated, so the store has samples of the batch and of
 * what waits behind it too: they are left out one by one. When more than 2,000 entries wait, samples from `before` on are left out instead,
 * which is told, like samples that cannot be read.
 */
export async function searchLastSamples(
  store: SearchedStore,
  batch: readonly DurableEntry[],
  next: number,
  wanted: readonly SearchedWatch[],
  tell: TellGap,
): Promise<(Sample | undefined)[]> {
  if (wanted.length === 0) return [];
  const waiting = waitingSamples(store, batch, next);
  const found: (Sample | undefined)[] = [];
  await waiting.readOn();
  for (let from = 0; from < wanted.length; from += searchLimits.togetherMax) {
    const some = wanted.slice(from, from + searchLimits.togetherMax);
    const candidates = await Promise.all(some.map((one) => search(store, one, waiting, tell)));
    // What became durable while the store was read may be among them; then those are searched again.
    await waiting.readOn();
    for (const [i, one] of some.entries()) {
      let candidate = candidates[i];
      while (candidate !== undefined && waiting.has(candidate)) {
        candidate = await search(store, one, waiting, tell);
        await waiting.readOn();
      }
      found.push(candidate);
    }
  }
  return found;
}

async function search(
  store: SearchedStore,
  one: SearchedWatch,
  waiting: WaitingSamples,
  tell: TellGap,
): Promise<Sample | undefined> {
  if (waiting.isTooLong) tell(one, { kind: 'backlog' });
  const left: UnreadableSamples[] = [];
  const found = await searchReadable(store, one, waiting, (samples) => left.push(samples));
  // What is older than the answer would not have been it.
  const newer = left.find(({ to }) => to >= (found?.timestamp ?? Number.NEGATIVE_INFINITY));
  if (newer !== undefined) tell(one, { kind: 'unreadable', from: newer.from, to: newer.to });
  return found;
}

async function searchReadable(
  store: SearchedStore,
  { deviceId, watch, before }: SearchedWatch,
  waiting: WaitingSamples,
  unreadable: (samples: UnreadableSamples) => void,
): Promise<Sample | undefined> {
  const limit = searchLimits.passedOverMax;
  const topic = watch.topic === '*' ? {} : { topic: watch.topic };
  const range = waiting.isTooLong && Number.isFinite(before) ? { to: before } : {};
  let passedOver = 0;
  for (let skip = 0; passedOver < limit; skip += limit) {
    const samples = await store.samples({ deviceId, ...topic, ...range, limit, skip, unreadable });
    for (const sample of samples) {
      if (waiting.has(sample)) continue;
      if (takes(watch, sample.data)) return sample;
      passedOver += 1;
    }
    if (samples.length < limit) break;
  }
  return undefined;
}

interface WaitingSamples {
  readonly isTooLong: boolean;
  has(sample: Sample): boolean;
  /** Takes in what became durable since the last call. */
  readOn(): Promise<void>;
}

/** The samples that are stored and not evaluated yet. */
function waitingSamples(
  store: SearchedStore,
  batch: readonly DurableEntry[],
  next: number,
): WaitingSamples {
  const samples = new Map<string, Sample[]>();
  const keyOf = ({ deviceId, topic, timestamp }: Sample) => `${deviceId} ${timestamp} ${topic}`;
  const add = (entries: readonly DurableEntry[]): void => {
    for (const sample of entries.flatMap((entry) => entry.samples)) {
      const known = samples.get(keyOf(sample));
      if (known === undefined) samples.set(keyOf(sample), [sample]);
      else known.push(sample);
    }
  };
  add(batch);
  const from = (batch.at(-1)?.position ?? next - 1) + 1;
  let readTo = from;
  let isTooLong = false;
  return {
    get isTooLong() {
      return isTooLong;
    },
    has: (sample) =>
      samples.get(keyOf(sample))?.some(({ data }) => isDeepStrictEqual(data, sample.data)) === true,
    async readOn() {
      isTooLong ||= store.position - from > searchLimits.backlogMax;
      if (isTooLong || readTo >= store.position) return;
      for await (const entries of store.entriesFrom(readTo)) {
        add(entries);
        readTo = (entries.at(-1)?.position ?? readTo - 1) + 1;
        if (readTo - from > searchLimits.backlogMax) break;
      }
    },
  };
}
