// Sample store: the port behind which samples are kept and found. Only data crosses it, and answers are promises.
// The log makes entries durable before a store gets them, and gives them again after a crash. See
// `samples.ts` for what uses it.
import type { DataShape, LeafKind } from '../log/data-shape.ts';
import type { LoggedEntry } from '../log/logged-entry.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import type { RemovedRange, StoredEnd } from '../../model/sample-changes.ts';
import type { Sample } from '../../model/sample.ts';
import type { AccumulatorName } from '../../query/summaries/accumulators.ts';
import type { Tally } from '../../query/summaries/facet.ts';
import type { ValueBatch } from '../../query/summaries/ordered-values.ts';
import type { RowRange } from './row-block.ts';

export interface SampleStore {
  /**
   * Entries from this position on must be written again after a restart; all before are kept. Asked
   * once, before the first write.
   */
  replayFrom(): Promise<number>;

  /**
   * Resolves when the samples of the entries can be read. Calls come in the order of positions, the
   * next one maybe before the last has resolved. `replayed` entries come after a restart and before
   * all new ones; what was written of them before changes nothing. An entry with `replaces` removes
   * the samples of its ranges, all copies included (latest, hours, keys): no later read has them, also after
   * a restart. Its own rows stay. Files may have the removed rows for a while.
   */
  write(entries: readonly (LoggedEntry | RowRange)[], origin: 'new' | 'replayed'): Promise<void>;

  /** Devices whose rows may come as ranges. */
  readonly numbered: NumberedDevices;

  /**
   * Finds the samples of the device that are stored already. Resolves when the store can keep up
   * with further writes; a comparison that waits for nothing needs no promise.
   */
  compare(deviceId: string, samples: readonly ComparedSample[]): Comparison | Promise<Comparison>;

  /** Where the rows of each device end. Resolves when the store can keep up, as `compare` does. */
  ends(deviceIds: readonly string[]): DeviceEnds | Promise<DeviceEnds>;

  /**
   * Samples of one device, newest first; samples of one instant in reverse order of storing
   * (interface 4.4).
   */
  samples(scan: SampleScan): Promise<FoundSamples>;

  /** The same range oldest first, in batches of bounded size, for exports of any length. */
  exportSamples(range: SampleRange): AsyncIterable<FoundSamples>;

  /** The same samples in the same order as runs of columns, without `meta`. */
  exportColumns(range: SampleRange): AsyncIterable<FoundRuns>;

  /** Topics that have samples, in the order of their newest sample, newest first. */
  topics(
    deviceId: string,
  ): Promise<readonly { readonly topic: string; readonly newest: EpochMs }[]>;

  /**
   * Whether samples of the device are stored, or the last attempt to drop them failed, so that a
   * restart would bring them back.
   */
  mayHold(deviceId: string): Promise<boolean>;

  /**
   * The newest readable sample up to `until` of each topic of many devices, in one pass: one list per
   * device, in the order of `deviceIds`, newest first, then by topic. A device without samples has an empty
   * list. With `from`, a topic without a sample from then on and up to `until` is left out.
   */
  latest(request: LatestRequest): Promise<FoundLatest>;

  /**
   * One tally of the accumulator's facet per device and bucket, undefined exactly where no value of
   * the key is present and not null. Buckets are half-open, `edges[i]` to `edges[i + 1]`. `raw`
   * reads samples; `hours` reads hourly aggregates, whose edges must be whole UTC hours, and may
   * differ only in speed. Throws Problem `samplesDamaged` when some of what is to be read cannot be
   * read.
   */
  buckets(request: BucketRequest): Promise<readonly (readonly (Tally | undefined)[])[]>;

  /**
   * The values of some keys of a topic in the order of time, those of one instant in the order of
   * storing: every row from `from` on and before `to`, also those without any of the keys, in batches
   * of 8,192 rows at most. With `before`, rows with the last value of each key before `from` come
   * first; with `after`, rows with the first value of each at or behind `to` come last, of those of
   * one instant the last that was stored. A batch may change when the next is asked for. Throws
   * Problem `samplesDamaged` when some of it cannot be read.
   */
  values(request: ValuesRequest): AsyncIterable<ValueBatch>;

  /**
   * The keys ever measured, for each of `topicsMax` topics, 50 without it, with the newest samples;
   * no row is read for it. An object's keys have paths of their own, `object` stands for objects
   * too deep or wide to be taken apart.
   */
  measuredKeys(deviceId: string, topicsMax?: number): Promise<readonly MeasuredTopic[]>;

  /** Samples and the bytes they take, by workspace. */
  usage(): Promise<ReadonlyMap<string, WorkspaceUsage>>;

  /**
   * About how many samples of the workspace the rules would drop that are there now, and their
   * bytes; no row is read.
   */
  previewExpiry(workspaceId: string, rules: RetentionTimes): Promise<WorkspaceUsage>;

  /**
   * Samples that the rules do not keep are hidden from every query until the next call says
   * otherwise, also those that come later. What is hidden is dropped in blocks of up to some days,
   * and its space given back, also on a full disk.
   */
  retain(rules: RetentionTimes): Promise<DroppedSamples>;

  /** How many samples of the device the ranges have, by topic; topics without any are left out. */
  count(deviceId: string, ranges: readonly RemovedRange[]): Promise<readonly CountedTopic[]>;

  /** Where the visible rows of the device end, for `Replacement.before`. Resolves as `compare` does. */
  endOf(deviceId: string): Promise<StoredEnd>;

  /** Whether replacements may remove this number of ranges now. */
  takesRanges(deviceId: string, count: number): boolean;

  /** Whether removed rows of the device are still where they were, hidden. */
  isRemoving(deviceId: string): boolean;

  /** Resolves when removed rows are out of files and their ranges free again, or that has failed for now. */
  rewritten(): Promise<void>;

  /** Drops every sample of the device that was logged before the position. */
  dropDevice(deviceId: string, before: number): Promise<DroppedSamples>;

  /** Makes durable what was written and closes; afterwards every call rejects. */
  close(): Promise<void>;
}

export interface CountedTopic {
  readonly topic: string;
  readonly samples: number;
  /** Times of the first and the last of them. */
  readonly oldest: EpochMs;
  readonly newest: EpochMs;
}

export interface NumberedDevices {
  /** Undefined for a device without a number. */
  readonly numberOf: (deviceId: string) => number | undefined;
  /** Whether rows of the device may come as ranges now; otherwise they are compared first. */
  readonly takesRows: (deviceId: string) => boolean;
  /** Also of a device that was deleted since. */
  readonly idOf: (device: number) => string;
  /** Time of the newest row; -Infinity without any. */
  readonly newestOf: (device: number) => EpochMs;
  /** See `Comparison`. */
  readonly nextOrderOf: (device: number) => number;
}

/** What a sample is recognized by: device, topic, time and data. */
export interface ComparedSample {
  readonly topic: string;
  readonly timestamp: EpochMs;
  readonly data: JsonObject;
}

export interface Comparison {
  /** Indexes of the samples that are stored. */
  readonly identical: ReadonlySet<number>;
  /**
   * What the next row of the device is numbered at least: one more than its last row, 0 without
   * any.
   */
  readonly nextOrder: number;
}

/** In the order of the devices. */
export interface DeviceEnds {
  /** Every sample has this time at most; -Infinity without any. */
  readonly newest: Float64Array;
  /** See `Comparison`. */
  readonly nextOrders: Float64Array;
}

/**
 * Times before which samples are not kept, by data flow, else by workspace; all are kept where
 * neither has one.
 */
export interface RetentionTimes {
  readonly workspaces: ReadonlyMap<string, EpochMs>;
  readonly dataFlows: ReadonlyMap<string, EpochMs>;
}

export interface SampleRange {
  readonly deviceId: string;
  /** One topic, or all when absent. */
  readonly topic?: string;
  /** Inclusive. */
  readonly from?: EpochMs;
  /** Exclusive. */
  readonly to?: EpochMs;
}

export interface SampleScan extends SampleRange {
  readonly limit: number;
  readonly skip: number;
}

export interface FoundSamples {
  readonly samples: readonly Sample[];
  /**
   * Each stretch of samples that the read left out because it cannot be read, once; the first batch
   * of an export names those that are known before.
   */
  readonly unreadable: readonly UnreadableSamples[];
}

export interface FoundRuns {
  /** What they give changes when the next batch is asked for. */
  readonly runs: readonly SampleRun[];
  /** See `FoundSamples.unreadable`. */
  readonly unreadable: readonly UnreadableSamples[];
}

/** Samples of one topic that follow each other: the places from `from` on and before `to`. */
export interface SampleRun {
  readonly topic: string;
  /** The same object for runs of the same rows. */
  readonly sorted: SampleColumns;
  readonly from: number;
  readonly to: number;
}

/** Samples in columns, in the order of time. */
export interface SampleColumns {
  /** Of each place. */
  readonly timestamps: Float64Array;
  /** The row at each place; undefined when rows are in order as they stand. */
  readonly permutation: Uint32Array | undefined;
  readonly rows: {
    /** May become more, with more columns, while rows are added. */
    readonly shapes: readonly DataShape[];
    /** The shape of each row; undefined when there is one shape only. */
    readonly shapeIds: Uint16Array | undefined;
    /** For each shape the columns of its leaves, in their order. */
    readonly shapeColumns: readonly (readonly number[])[];
    readonly columns: readonly SampleColumn[];
  };
}

/**
 * The values of one path and kind; entries of rows whose shape lacks the leaf have no meaning. Only
 * what the kind has is read: it is decoded then.
 */
export interface SampleColumn {
  readonly kind: LeafKind;
  /** Numbers, or booleans as 0 and 1. */
  readonly numbers: Float64Array | Uint8Array;
  /** Index into `texts` for each row of other kinds. */
  readonly ids: Uint32Array | Float64Array;
  readonly texts: readonly string[];
}

export interface LatestRequest {
  readonly deviceIds: readonly string[];
  /** All topics when absent. */
  readonly topics?: readonly string[];
  /** A later sample counts only for a topic that has no other; with `from`, it never counts. */
  readonly until: EpochMs;
  /** Older samples do not count. */
  readonly from?: EpochMs | undefined;
}

export interface FoundLatest {
  readonly samples: readonly (readonly Sample[])[];
  /** See `FoundSamples.unreadable`. */
  readonly unreadable: readonly UnreadableSamples[];
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

export interface BucketRequest {
  readonly source: 'raw' | 'hours';
  readonly deviceIds: readonly string[];
  readonly topic: string;
  /** First looked up literally, then as a dotted path, also into arrays (contract 35). */
  readonly dataKey: string;
  readonly accumulator: AccumulatorName;
  /** Ascending, at least two. */
  readonly edges: readonly EpochMs[];
}

export interface ValuesRequest {
  readonly deviceId: string;
  readonly topic: string;
  /** Data keys, as in `BucketRequest`; none for times only. */
  readonly keys: readonly string[];
  /** Inclusive. */
  readonly from: EpochMs;
  /** Exclusive. */
  readonly to: EpochMs;
  readonly before: boolean;
  readonly after: boolean;
  /** Whether only numbers and booleans count as values before and behind. */
  readonly numeric?: boolean;
}

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
  /** Freed bytes. */
  readonly bytes: number;
}

/** What opening or reading finds damaged. */
export interface StoreDamage {
  readonly kind: 'manifest' | 'segment' | 'chunk' | 'page' | 'devices' | 'journal' | 'records';
  readonly path: string;
  readonly reason: string;
}
