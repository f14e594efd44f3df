// Reported reads: reads of the sample store that report what they cannot read, or refuse to answer without it.
import { type EpochMs, formatInstant, newestUntil } from '../../model/instant.ts';
import { problem } from '../../model/problem.ts';
import type { Sample } from '../../model/sample.ts';
import type {
  LatestRequest,
  SampleRange,
  SampleRun,
  SampleScan,
  SampleStore,
  UnreadableSamples,
} from './sample-store.ts';

type Unreadable = (samples: UnreadableSamples) => void;

interface Reported {
  /** Called for what the read skips; see `FoundSamples.unreadable`. */
  readonly unreadable?: Unreadable | undefined;
}

export type ReportedRange = SampleRange & Reported;

export interface ReportedReads {
  /** See `SampleStore.samples`. */
  samples(scan: SampleScan & Reported): Promise<readonly Sample[]>;

  /**
   * See `SampleStore.exportSamples`. `unreadable` is called before the first batch for what is
   * known then.
   */
  exportSamples(range: ReportedRange): AsyncIterable<readonly Sample[]>;

  /** See `SampleStore.exportColumns`. `unreadable` is called as by `exportSamples`. */
  exportColumns(range: ReportedRange): AsyncIterable<readonly SampleRun[]>;

  /**
   * The newest readable sample of the device, of one topic or of all; undefined without any. One
   * that is dated in the future only if there is no other (contract 42).
   */
  latestSample(
    deviceId: string,
    topic?: string,
    unreadable?: Unreadable,
  ): Promise<Sample | undefined>;

  /** See `SampleStore.latest`; without `until`, that is a day ahead of now. */
  latest(
    request: Omit<LatestRequest, 'until'> & Reported & { readonly until?: EpochMs },
  ): Promise<readonly (readonly Sample[])[]>;
}

/** Reads that report what they skip before they return. */
export function reportingReads(store: SampleStore, now: () => EpochMs): ReportedReads {
  async function samples({
    unreadable,
    ...scan
  }: SampleScan & Reported): Promise<readonly Sample[]> {
    const found = await store.samples(scan);
    if (unreadable !== undefined) found.unreadable.forEach(unreadable);
    return found.samples;
  }
  return {
    samples,
    async *exportSamples({ unreadable, ...range }) {
      for await (const found of store.exportSamples(range)) {
        if (unreadable !== undefined) found.unreadable.forEach(unreadable);
        if (found.samples.length > 0) yield found.samples;
      }
    },
    async *exportColumns({ unreadable, ...range }) {
      for await (const found of store.exportColumns(range)) {
        if (unreadable !== undefined) found.unreadable.forEach(unreadable);
        if (found.runs.length > 0) yield found.runs;
      }
    },
    async latestSample(deviceId, topic, unreadable) {
      const topics = await store.topics(deviceId);
      const newest = topics.find((each) => topic === undefined || each.topic === topic)?.newest;
      const scan = { deviceId, ...(topic !== undefined && { topic }), limit: 1, skip: 0 };
      const until = newestUntil(now());
      let found;
      if (newest !== undefined && newest > until)
        found = await store.samples({ ...scan, to: until + 1 });
      else if (newest !== undefined) found = await store.samples({ ...scan, from: newest });
      // What is newest may be unreadable; then the newest readable sample is asked for.
      if (found === undefined || found.samples.length === 0) found = await store.samples(scan);
      if (unreadable !== undefined) found.unreadable.forEach(unreadable);
      return found.samples[0];
    },
    async latest({ unreadable, ...request }) {
      const found = await store.latest({ until: newestUntil(now()), ...request });
      if (unreadable !== undefined) found.unreadable.forEach(unreadable);
      return found.samples;
    },
  };
}

// Refuses what cannot be answered without samples that are damaged.

/** Throws Problem `samplesDamaged`, which names them. */
export function refuseUnreadable({ from, to, deviceId, topic, place }: UnreadableSamples): never {
  throw problem('samplesDamaged', {
    deviceId,
    topic,
    from: formatInstant(from),
    to: formatInstant(to),
    place,
  });
}
