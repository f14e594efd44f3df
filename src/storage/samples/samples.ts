// Samples: the log and the sample store as one. Entries go to the log first; reads go to the store.
import { join } from 'node:path';
import type { EpochMs } from '../../model/instant.ts';
import { type DurableEntry, isWritten, type JournalEntry } from '../../model/journal-entry.ts';
import type { JsonObject } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';
import { missing } from '../../structures/missing.ts';
import { type DataShape, leafKinds, LeafValues, ShapeInterner } from '../log/data-shape.ts';
import { makeFolder } from '../log/durable-file.ts';
import type { EntryRows } from '../log/entry-codec.ts';
import { EntryLog } from '../log/entry-log.ts';
import type { JournalEndSeen } from '../log/journal-recovery.ts';
import type { JournalSettings } from '../log/journal.ts';
import { journalStart } from '../log/journal-block.ts';
import type { RowColumns } from '../log/logged-entry.ts';
import { type PlacedColumns, type ReservedRows, SingleRows } from './single-rows.ts';
import {
  columnEntryOf,
  durableEntryOf,
  type EntryGroup,
  EntryGroups,
  PendingEntries,
  type PendingEntry,
  type PlacedRows,
} from './pending-entries.ts';
import { type ReportedReads, reportingReads } from './reported-reads.ts';
import type { Comparison, DroppedSamples, SampleStore, StoreDamage } from './sample-store.ts';

export interface Samples
  extends ReportedReads,
    Pick<
      SampleStore,
      | 'topics'
      | 'mayHold'
      | 'buckets'
      | 'values'
      | 'measuredKeys'
      | 'usage'
      | 'previewExpiry'
      | 'retain'
      | 'count'
      | 'endOf'
      | 'takesRanges'
      | 'isRemoving'
      | 'rewritten'
    > {
  /**
   * Makes the entry durable and its samples visible to every later read, without samples
   * identical to stored ones. Resolves after the fsync; rejects without effect when the disk
   * refuses (`storageFull`) or writing has stopped. Many calls in flight share one fsync. An entry
   * of which nothing is left (all samples identical to stored ones, no note, no state, no metrics,
   * no trace) is not written: its answer has no samples and the position that the next entry will
   * get. An entry with `replaces` removes stored samples of its device, those of entries in progress
   * included, and its own samples are compared with none. Rejects with `tooManyRemovals` where the store has as many
   * removed ranges as it takes, until `rewritten`.
   */
  append(entry: JournalEntry): Promise<DurableEntry>;

  /**
   * As `append`, for the rows of devices in columns that are later than every sample of their
   * device. Parts that are not are left without effect: `append` finds which of them are stored.
   * Undefined when columns do not take the data.
   */
  appendColumns(entries: ColumnEntries): Promise<PlacedColumns | undefined>;

  /** Drops every sample of the device that was stored before the call. */
  dropDevice(deviceId: string): Promise<DroppedSamples>;
}

/** What a sample store is opened with. */
export interface StoreSurroundings {
  /** The first position of the files of the log; undefined without any. */
  readonly logStart: number | undefined;
  /** Shapes that entries of the log refer to. */
  readonly shapes: ShapeInterner;
  /** Call for every damaged place, also those that are met later. */
  readonly damaged: (damage: StoreDamage) => void;
  /** Call when something cannot be written that the log has. */
  readonly failed: (error: unknown) => void;
  /** Call when entries before the position need not be written again after a restart. */
  readonly committed: (replayFrom: number) => Promise<void>;
}

export interface SamplesOptions<Store extends SampleStore> extends JournalSettings {
  /** What others know of the end of the journal. */
  readonly seen?: JournalEndSeen | undefined;
  /**
   * Made when it does not exist. The log is in the folder `journal` of it. One process at a time,
   * which the caller ensures.
   */
  readonly directory: string;
  readonly openStore: (surroundings: StoreSurroundings) => Promise<Store>;
  /**
   * A file of the journal is closed when it is longer: the unit in which the journal is dropped.
   */
  readonly journalSegmentBytes?: number;
  /** Called for every damaged place, also those that are met later; once each. */
  readonly damaged?: ((damage: StoreDamage) => void) | undefined;
  /**
   * Called when sealed samples, segments or the positions of followers cannot be written; the
   * journal has what they hold.
   */
  readonly failed?: ((error: unknown) => void) | undefined;
  /** Asked before each append; a disk without room refuses it with `storageFull`. */
  readonly hasRoom?: () => boolean;
}

export interface OpenSamples<Store extends SampleStore> extends Samples {
  readonly log: EntryLog;
  readonly store: Store;
  /** What opening and reading found damaged so far. */
  readonly damage: readonly StoreDamage[];
  /** Makes everything durable and closes; afterwards every call rejects. */
  close(): Promise<void>;
}

const segmentBytesStandard = 16 * 1024 * 1024;

/**
 * Opens or creates the log and the store of the folder, and gives the store what only the log has.
 */
export async function openSamples<Store extends SampleStore>(
  options: SamplesOptions<Store>,
): Promise<OpenSamples<Store>> {
  const {
    directory: folder,
    openStore,
    journalSegmentBytes: segmentBytes = segmentBytesStandard,
    ...rest
  } = options;
  const { damaged: report, failed: reportFailure, hasRoom = () => true, ...settings } = rest;
  const directory = join(folder, 'journal');
  for (const each of [folder, directory]) await makeFolder(each);
  const shapes = new ShapeInterner();
  const { damage, damaged } = createDamageList(report);
  const failed = onlyNews(reportFailure);
  const opened: { log?: EntryLog } = {};
  const store = await openStore({
    logStart: await journalStart(directory),
    shapes,
    damaged,
    failed,
    committed: async (replayFrom) => opened.log?.release(replayFrom),
  });
  const log = await EntryLog.open({
    ...settings,
    segmentBytes,
    directory,
    shapes,
    replayFrom: await store.replayFrom(),
    replay: (entries) => store.write(entries, 'replayed'),
    damaged,
    failed,
  });
  opened.log = log;
  return { ...joined(hasRoom, settings.now, log, store, shapes), log, store, damage };
}

function joined(
  hasRoom: () => boolean,
  now: () => EpochMs,
  log: EntryLog,
  store: SampleStore,
  shapes: ShapeInterner,
): Samples & { close(): Promise<void> } {
  const intake = new SampleIntake(log, shapes, store);
  let closed = false;
  return {
    append(entry) {
      // An async function would create one more promise for every entry.
      if (closed) return Promise.reject(problem('stopping'));
      if (!hasRoom()) return Promise.reject(problem('storageFull'));
      const { replaces, deviceId } = entry;
      if (replaces !== undefined && !store.takesRanges(deviceId, replaces.ranges.length))
        return Promise.reject(problem('tooManyRemovals'));
      return intake.append(entry);
    },
    async appendColumns(entries) {
      if (closed) throw problem('stopping');
      if (!hasRoom()) throw problem('storageFull');
      const rows = rowColumnsOf(entries, shapes);
      return rows && intake.appendColumns(rows, entries.receivedAt);
    },
    ...reportingReads(store, now),
    topics: (deviceId) => store.topics(deviceId),
    mayHold: (deviceId) => store.mayHold(deviceId),
    buckets: (request) => store.buckets(request),
    values: (request) => store.values(request),
    measuredKeys: (deviceId, topicsMax) => store.measuredKeys(deviceId, topicsMax),
    usage: () => store.usage(),
    count: (deviceId, ranges) => store.count(deviceId, ranges),
    endOf: (deviceId) => store.endOf(deviceId),
    takesRanges: (deviceId, count) => store.takesRanges(deviceId, count),
    isRemoving: (deviceId) => store.isRemoving(deviceId),
    rewritten: () => store.rewritten(),
    previewExpiry: (workspaceId, rules) => store.previewExpiry(workspaceId, rules),
    retain: (rules) => store.retain(rules),
    dropDevice(deviceId) {
      intake.forget(deviceId);
      return store.dropDevice(deviceId, log.nextPosition);
    },
    async close() {
      if (closed) return;
      closed = true;
      await log.close();
      await intake.idle();
      await store.close();
    },
  };
}

// Store damage: damaged places of the log and the sample store, each reported once.

/** Passes a failure on unless it repeats the last one. */
function onlyNews(failed: (error: unknown) => void = () => undefined): (error: unknown) => void {
  let last: string | undefined;
  return (error) => {
    if (String(error) !== last) failed(error);
    last = String(error);
  };
}

/** What was found damaged, each place once. */
function createDamageList(report: (damage: StoreDamage) => void = () => undefined): {
  readonly damage: readonly StoreDamage[];
  readonly damaged: (damage: StoreDamage) => void;
} {
  const known = new Set<string>();
  const damage: StoreDamage[] = [];
  return {
    damage,
    damaged(place) {
      const key = JSON.stringify(place);
      if (known.has(key)) return;
      known.add(key);
      damage.push(place);
      report(place);
    },
  };
}

// Column entries: samples in columns, as a caller gives them and as the log takes them.

/** The rows of one device among those of others: each is later than the one before. */
type DevicePart = Pick<RowColumns, 'deviceId' | 'head' | 'from' | 'to' | 'trace'>;

/** Samples of one form. Each part has another device, and becomes an entry. */
interface ColumnEntries extends Pick<RowColumns, 'timestamps' | 'columns' | 'texts'> {
  readonly receivedAt: EpochMs;
  readonly parts: readonly DevicePart[];
  /** Data of one of them: all have its keys in its order, with values of the same types. */
  readonly example: JsonObject;
}

/** Undefined when the columns are not the values of the data. */
function rowColumnsOf(
  { parts, example, timestamps, columns, texts }: ColumnEntries,
  interner: ShapeInterner,
): RowColumns[] | undefined {
  const shape = interner.shapeOf(example, new LeafValues(), undefined);
  const isFlat = shape.leaves.every(
    ({ kind }) =>
      kind === leafKinds.number || kind === leafKinds.boolean || kind === leafKinds.string,
  );
  if (!isFlat || shape.leaves.length !== columns.length) return undefined;
  return parts.map(({ deviceId, head, from, to, trace }) => ({
    deviceId,
    head,
    shape,
    from,
    to,
    timestamps,
    columns,
    texts,
    trace,
  }));
}

// Row splitter: takes the data of samples apart, into shapes and lists of values that entries share.

/** A list of more values or characters is not continued: it lives until its last entry is durable. */
const sharedValuesMax = 4_096;
const sharedCharsMax = 64 * 1024;

class RowSplitter {
  readonly #interner: ShapeInterner;
  #values = new LeafValues();
  /** The shape of the last entry with one sample. */
  #alone: readonly DataShape[] = [];

  constructor(interner: ShapeInterner) {
    this.#interner = interner;
  }

  of(samples: EntryRows['samples']): EntryRows {
    if (this.#values.length >= sharedValuesMax || this.#values.chars >= sharedCharsMax)
      this.#values = new LeafValues();
    const values = this.#values;
    const valuesAt = values.length;
    return { samples, shapes: this.#shapesOf(samples, values), values, valuesAt };
  }

  #shapesOf(samples: EntryRows['samples'], values: LeafValues): readonly DataShape[] {
    const guess = this.#alone[0];
    const [first] = samples;
    if (first === undefined) return [];
    let shape = this.#interner.shapeOf(first.data, values, guess);
    if (samples.length === 1) {
      // Consecutive entries usually have the same shape.
      if (shape !== guess) this.#alone = [shape];
      return this.#alone;
    }
    const shapes = [shape];
    for (let i = 1; i < samples.length; i++) {
      shape = this.#interner.shapeOf((samples[i] ?? missing('sample')).data, values, shape);
      shapes.push(shape);
    }
    return shapes;
  }
}

/** An append that has no answer yet. */
interface Settling {
  readonly pending: PendingEntry;
  readonly resolve: (durable: DurableEntry) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * What lives until an entry is durable costs most, because collections of garbage copy it: one
 * promise, what is pending, and one object with its place. Values are in arrays of many entries.
 */
export class SampleIntake {
  readonly #log: EntryLog;
  readonly #store: SampleStore;
  readonly #entries = new PendingEntries();
  readonly #settle: (settling: Settling, durable: DurableEntry) => void;
  readonly #fail: ({ pending, reject }: Settling, error: unknown) => void;
  readonly #groups: EntryGroups;
  readonly #singles: SingleRows;
  readonly #rows: RowSplitter;
  /** Replacements of devices that are not visible yet: what comes now must not be compared with what they remove. */
  readonly #replacing = new Map<string, Promise<void>>();

  constructor(log: EntryLog, shapes: ShapeInterner, store: SampleStore) {
    this.#log = log;
    this.#store = store;
    const { settle, fail } = new Settlements(this.#entries);
    this.#settle = settle;
    this.#fail = fail;
    this.#groups = new EntryGroups(store, (group, refusal) => this.#singles.left(group, refusal));
    this.#singles = new SingleRows(log, shapes, store, this.#groups, this.#entries);
    this.#rows = new RowSplitter(shapes);
  }

  /** Discards the samples of the device: what comes now repeats none of them. */
  readonly forget = (deviceId: string): void => this.#entries.forget(deviceId);

  /** Resolves when no entry is pending. */
  async idle(): Promise<void> {
    for (const group of this.#groups.inFlight) await group.visible.catch(() => undefined);
    await this.#entries.idle();
  }

  /** See `Samples.appendColumns`. */
  async appendColumns(rows: readonly RowColumns[], receivedAt: EpochMs): Promise<PlacedColumns> {
    if (this.#replacing.size > 0)
      for (const { deviceId } of rows) await this.#replacing.get(deviceId);
    return this.#singles.placeColumns(rows, receivedAt, (reserved) =>
      this.#addColumns(reserved, receivedAt),
    );
  }

  /** See `Samples.append`. */
  append(entry: JournalEntry): Promise<DurableEntry> {
    const { deviceId } = entry;
    const replacing = this.#replacing.size === 0 ? undefined : this.#replacing.get(deviceId);
    if (replacing !== undefined) return replacing.then(() => this.append(entry));
    if (entry.replaces !== undefined) return this.#replace(entry);
    const single = this.#singles.append(entry);
    if (single !== undefined) return single;
    this.#singles.makePending(deviceId);
    const pending = this.#entries.reserve(entry);
    return new Promise((resolve, reject) => this.#start(entry, { pending, resolve, reject }));
  }

  #replace(entry: JournalEntry): Promise<DurableEntry> {
    const { deviceId } = entry;
    this.#singles.makePending(deviceId);
    this.#entries.forget(deviceId);
    const pending = this.#entries.reserve(entry);
    const stored = new Promise<DurableEntry>((resolve, reject) =>
      this.#start(entry, { pending, resolve, reject }),
    );
    const settled = (): void => void this.#replacing.delete(deviceId);
    this.#replacing.set(deviceId, stored.then(settled, settled));
    return stored;
  }

  #compare(
    { deviceId, replaces }: JournalEntry,
    { fresh }: PendingEntry,
  ): ReturnType<SampleStore['compare']> {
    const isReplacement = replaces !== undefined;
    if (isReplacement) return this.#store.compare(deviceId, []);
    return fresh.length === 0 ? none : this.#store.compare(deviceId, fresh);
  }

  /** Throws what the log throws. */
  #appendFresh(
    entry: JournalEntry,
    { identical, nextOrder }: Comparison,
    settling: Settling,
  ): void {
    const { pending } = settling;
    const samples = withoutIdentical(pending.fresh, identical);
    const duplicates = entry.samples.length - samples.length;
    if (samples.length === 0 && !isWritten({ ...entry, samples })) {
      this.#settle(settling, { ...entry, position: this.#log.position, samples: [], duplicates });
      return;
    }
    const { deviceId } = entry;
    const rows = this.#rows.of(samples);
    // Numbered in the same turn in which the log gives the position, so that both count in one
    // order.
    const firstOrder = pending.takeOrders(nextOrder, samples.length);
    const added = this.#log.append({ entry, rows, duplicates, firstOrder });
    const { position, storedAt, bytes } = added;
    const placed = { position, deviceId, firstOrder, rows, bytes, entry, duplicates, storedAt };
    const replaces = entry.replaces !== undefined && { replaces: entry.replaces };
    this.#place(this.#groups.of(added.durable), { ...placed, ...settling, ...replaces });
  }

  /** `append` is in the log and not visible yet. */
  #place(group: EntryGroup, append: PlacedRows & Settling): void {
    group.items.push(append);
    group.visible.then(
      () => this.#settle(append, durableEntryOf(append)),
      (error: unknown) => this.#fail(append, error),
    );
  }

  #addColumns({ rows, firstOrder, ...settling }: ReservedRows, receivedAt: EpochMs): void {
    const { deviceId } = rows;
    const added = this.#log.appendColumns({ receivedAt, rows, firstOrder });
    const { position, storedAt, bytes } = added;
    const entry = columnEntryOf(deviceId, receivedAt);
    const placed = { position, deviceId, firstOrder, rows, bytes, entry, duplicates: 0, storedAt };
    this.#place(this.#groups.of(added.durable), { ...placed, ...settling });
  }

  #start(entry: JournalEntry, settling: Settling): void {
    try {
      const compared = this.#compare(entry, settling.pending);
      // Most comparisons wait for nothing.
      if (!(compared instanceof Promise)) this.#appendFresh(entry, compared, settling);
      else
        compared
          .then((found) => this.#appendFresh(entry, found, settling))
          .catch((error: unknown) => this.#fail(settling, error));
    } catch (error) {
      this.#fail(settling, error);
    }
  }
}

class Settlements {
  readonly #entries: PendingEntries;

  constructor(entries: PendingEntries) {
    this.#entries = entries;
  }

  /** Waits for what the entry repeats, which must be visible too. */
  readonly settle = (settling: Settling, durable: DurableEntry): void => {
    if (settling.pending.repeated === undefined) this.#succeed(settling, durable);
    else void this.#settleRepeated(settling, durable);
  };

  readonly fail = ({ pending, reject }: Settling, error: unknown): void => {
    this.#entries.release(pending, { error });
    reject(error);
  };

  #succeed({ pending, resolve }: Settling, durable: DurableEntry): void {
    this.#entries.release(pending);
    resolve(durable);
  }

  async #settleRepeated(settling: Settling, durable: DurableEntry): Promise<void> {
    try {
      await settling.pending.repeatedDone();
    } catch (error) {
      this.fail(settling, error);
      return;
    }
    this.#succeed(settling, durable);
  }
}

const none: Comparison = {
  identical: new Set(),
  nextOrder: 0,
};

function withoutIdentical(
  samples: PendingEntry['fresh'],
  identical: ReadonlySet<number>,
): PendingEntry['fresh'] {
  if (identical.size === 0) return samples;
  return samples.filter(({ stored }, i) => !stored || !identical.has(i));
}
