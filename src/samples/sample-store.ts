// The sample store's port: append durably, read what was appended. Embedded chunks and a ClickHouse cluster stand behind it.
import type { AccumulatorName } from '../summaries/accumulators.ts';
import type { Tally } from '../summaries/facet.ts';
import type { EpochMs } from '../model/instant.ts';
import type { DurableEntry, JournalEntry } from '../model/journal-entry.ts';
import type { Sample, StoredSample } from '../model/sample.ts';

export interface SampleStore {
  /**
   * Makes the entry durable and its samples visible to every later read, leaving out samples identical to stored ones.
   * Resolves after the fsync; rejects without effect when the disk refuses (`storageFull`) or writing has stopped.
   * Many calls in flight share one fsync. An entry of which nothing is left (all samples identical to stored ones, no note, no
   * state, no metrics, no trace) is not written: its answer has no samples, and as position that of the entry which comes next.
   */
  append(entry: JournalEntry): Promise<DurableEntry>;

  /** Samples of one device, newest first; samples of one instant in reverse order of storing (interface 4.4). */
  samples(scan: SampleScan): Promise<Sample[]>;

  /** The same range oldest first, in batches of bounded size, for exports of any length. */
  exportSamples(range: SampleRange): AsyncIterable<readonly Sample[]>;

  /** The newest readable sample of the device, of one topic or of all; `unreadable` as in a range. */
  latestSample(
    deviceId: string,
    topic?: string,
    unreadable?: (samples: UnreadableSamples) => void,
  ): Promise<Sample | undefined>;

  /** Topics that have samples, in the order of their newest sample, newest first. */
  topics(
    deviceId: string,
  ): Promise<readonly { readonly topic: string; readonly newest: EpochMs }[]>;

  /**
   * One tally of the accumulator's facet per device and bucket, undefined exactly where the key has no value present and not null.
   * Buckets are half-open, `edges[i]` to `edges[i + 1]`.
   * `raw` reads samples; `hours` reads hourly aggregates, whose edges must be whole UTC hours. Throws Problem `samplesDamaged` when some
   * of what is to be read cannot be read.
   */
  buckets(request: BucketRequest): Promise<readonly (readonly (Tally | undefined)[])[]>;

  /**
   * Samples of the given devices stored after the cursor (exclusive) or since a time of storing, in order of storing, batch by batch up
   * to the newest durable one. Throws Problem `cursorTooOld` with the oldest cursor still kept.
   */
  replay(
    since: ReplayStart,
    wanted: (sample: StoredSample) => boolean,
  ): AsyncIterable<readonly StoredSample[]>;

  /** Durable entries from a journal position on, for followers that catch up after a restart. */
  entriesFrom(position: number): AsyncIterable<readonly DurableEntry[]>;

  /** Whether some of the entries from one position on and before another are known to be lost, so that followers never get them again. */
  isLost(from: number, to: number): boolean;

  /** Followers tell how far they are; the journal keeps what any of them has not seen. */
  setFollowerPosition(follower: string, position: number): void;

  /**
   * Resolves when what followers told is on disk. To be awaited before anything is acknowledged: a follower that a crash takes away
   * would begin anew, behind what it has not seen.
   */
  saveFollowerPositions(): Promise<void>;

  /** What the follower told last, also before a restart; undefined when it never did. It may be some entries behind after a crash. */
  followerPosition(follower: string): number | undefined;

  /** Ends the follower's hold on the journal. */
  removeFollower(follower: string): void;

  /** The position behind the newest durable entry, which is what the next one gets. */
  readonly position: number;

  /**
   * The keys ever measured, for each of `topicsMax` topics, 50 without it, with the newest samples; nothing is read for it. An object's keys have paths of
   * their own, `object` stands for objects too deep or wide to be taken apart.
   */
  measuredKeys(deviceId: string, topicsMax?: number): Promise<readonly MeasuredTopic[]>;

  /** Samples and the bytes they take, by workspace. */
  usage(): Promise<ReadonlyMap<string, WorkspaceUsage>>;

  /**
   * Samples older than `keepFrom` says for their workspace and data flow (undefined: kept for ever) are hidden from every query until the
   * next call says otherwise, also those that come later. What is hidden is dropped in blocks of up to some days, and its space given
   * back, also on a full disk.
   */
  dropExpired(
    keepFrom: (workspaceId: string, dataFlowId: string | null) => EpochMs | undefined,
  ): Promise<DroppedSamples>;

  /** Drops every sample of the device that was stored before the call. */
  dropDevice(deviceId: string): Promise<DroppedSamples>;

  /** Flushes and closes; afterwards every call rejects. */
  close(): Promise<void>;
}

export interface SampleRange {
  readonly deviceId: string;
  /** One topic, or all when absent. */
  readonly topic?: string;
  /** Inclusive. */
  readonly from?: EpochMs;
  /** Exclusive. */
  readonly to?: EpochMs;
  /**
   * Called once for each stretch of samples that the read came upon and left out because it cannot be read; an export calls it for those
   * that are known before its first batch.
   */
  readonly unreadable?: ((samples: UnreadableSamples) => void) | undefined;
}

/** Stored samples of one topic that cannot be read, by the times of the first and the last. */
export interface UnreadableSamples {
  readonly deviceId: string;
  readonly topic: string;
  readonly from: EpochMs;
  /** Inclusive. */
  readonly to: EpochMs;
  /** Where they are, in words for an operator. */
  readonly place: string;
}

export interface SampleScan extends SampleRange {
  readonly limit: number;
  readonly skip: number;
}

export interface BucketRequest {
  readonly source: 'raw' | 'hours';
  readonly deviceIds: readonly string[];
  readonly topic: string;
  /** First looked up as it stands, then as a dotted path, also into arrays (contract 35). */
  readonly dataKey: string;
  readonly accumulator: AccumulatorName;
  /** Ascending, at least two. */
  readonly edges: readonly EpochMs[];
}

export type ReplayStart = { readonly cursor: string } | { readonly storedSince: EpochMs };

export type MeasuredType = 'number' | 'boolean' | 'string' | 'null' | 'array' | 'object';

export interface MeasuredTopic {
  readonly topic: string;
  readonly keys: readonly {
    readonly path: readonly string[];
    readonly types: readonly MeasuredType[];
  }[];
}

export interface WorkspaceUsage {
  readonly samples: number;
  readonly bytes: number;
}

export interface DroppedSamples {
  readonly samples: number;
  /** Bytes given back. */
  readonly bytes: number;
}
