// Placed rows: an entry with its place in the log, given to the store in groups, and the answer to its append.
import { cursorAt, cursorsAt } from '../../model/cursor.ts';
import type { EpochMs } from '../../model/instant.ts';
import type {
  DurableEntry,
  DurableRows,
  JournalEntry,
  SamplesSummary,
} from '../../model/journal-entry.ts';
import type { StoredSample } from '../../model/sample.ts';
import type { EntryRows } from '../log/entry-encoding.ts';
import {
  type LoggedEntry,
  type RowColumns,
  type RowKind,
  samplesOfColumns,
} from '../log/logged-entry.ts';
import { type RowBlock, RowRange } from './row-block.ts';
import type { SampleStore } from './sample-store.ts';

// Entry groups: what one sync makes durable goes to the store in one call, and is answered in order.

/** Entries that become durable together. */
export class EntryGroup {
  readonly durable: Promise<void>;
  /** In the order of positions. */
  readonly items: (LoggedEntry | RowRange)[] = [];
  /** Resolves when the items are visible; rejects when they were refused. */
  visible: Promise<void> = Promise.resolve();
  /** Ranges whose rows have an answer each. */
  readonly #single: RowRange[] = [];
  #range = 0;
  #row = 0;
  readonly #next: () => DurableEntry;

  constructor(durable: Promise<void>, idOf: (device: number) => string) {
    this.durable = durable;
    this.#next = () => this.#nextSingle(idOf);
  }

  /** Resolves to the entry of the row that `addSingle` was called for last. */
  answer(): Promise<DurableEntry> {
    // Answers are given in the order of the calls, so all share one function.
    return this.visible.then(this.#next);
  }

  /** Adds the newest row of the block, whose entry has this position. */
  addSingle(block: RowBlock, position: number, bytes: number): void {
    const last = this.#single.at(-1);
    if (last !== undefined && last === this.items.at(-1) && last.block === block) {
      extend(last, bytes);
      return;
    }
    const range = this.addRange(block, position, bytes);
    this.#single.push(range);
  }

  /** As `addSingle`, for the first of rows that have one answer. */
  addRange(block: RowBlock, position: number, bytes: number): RowRange {
    const range = new RowRange(block, block.length - 1, position);
    extend(range, bytes);
    this.items.push(range);
    return range;
  }

  #nextSingle(idOf: (device: number) => string): DurableEntry {
    let range = this.#single[this.#range]!;
    if (this.#row === range.to - range.from) {
      range = this.#single[++this.#range]!;
      this.#row = 0;
    }
    return durableRowOf(range, this.#row++, idOf);
  }
}

/** By the newest row of its block. */
export function extend(range: RowRange, bytes: number): void {
  range.to++;
  range.bytes += bytes;
}

/** `left` is called before the answers of a group are given. */
export class EntryGroups {
  readonly #store: SampleStore;
  readonly #left: (group: EntryGroup, refusal?: { readonly error: unknown }) => void;
  readonly #inFlight = new Set<EntryGroup>();
  readonly #idOf: (device: number) => string;
  #newest: EntryGroup | undefined;

  constructor(
    store: SampleStore,
    left: (group: EntryGroup, refusal?: { readonly error: unknown }) => void,
  ) {
    this.#store = store;
    this.#left = left;
    const { idOf } = store.numbered;
    this.#idOf = idOf;
  }

  /** Groups that are not visible yet, the oldest first. */
  get inFlight(): ReadonlySet<EntryGroup> {
    return this.#inFlight;
  }

  /** The group of entries that become durable with the promise. */
  of(durable: Promise<void>): EntryGroup {
    // Entries of one group have the same promise.
    if (this.#newest?.durable !== durable) {
      this.#newest = new EntryGroup(durable, this.#idOf);
      this.#inFlight.add(this.#newest);
      this.#newest.visible = this.#finish(this.#newest);
    }
    return this.#newest;
  }

  async #finish(group: EntryGroup): Promise<void> {
    try {
      await group.durable;
      await this.#store.write(group.items, 'new');
    } catch (error) {
      this.#inFlight.delete(group);
      this.#left(group, { error });
      throw error;
    }
    this.#inFlight.delete(group);
    this.#left(group);
  }
}

export interface PlacedRows extends LoggedEntry {
  readonly rows: EntryRows | RowColumns;
  readonly entry: JournalEntry;
  readonly duplicates: number;
  readonly storedAt: EpochMs;
}

export function durableEntryOf(append: PlacedRows): DurableEntry {
  const { entry, rows, duplicates, position, storedAt } = append;
  if ('columns' in rows) return new DurableColumns(rows, append);
  const samples = storedSamples(rows.samples, position, storedAt);
  return { ...entry, position, samples, duplicates };
}

const nothing: readonly never[] = Object.freeze([]);

/** The entry of rows in columns, which has nothing else. */
export function columnEntryOf(deviceId: string, receivedAt: EpochMs): JournalEntry {
  return { deviceId, receivedAt, notes: nothing, samples: nothing };
}

/**
 * The samples are built at their first read, because most bulk entries have no reader. A class,
 * because a request can bring a thousand of them.
 */
class DurableColumns implements DurableEntry {
  readonly deviceId: string;
  readonly receivedAt: EpochMs;
  readonly notes = nothing;
  readonly position: number;
  readonly duplicates = 0;
  readonly summary: SamplesSummary;
  declare readonly trace?: NonNullable<RowColumns['trace']>;
  readonly #rows: RowColumns;
  readonly #storedAt: EpochMs;
  #samples: StoredSample[] | undefined;

  constructor(rows: RowColumns, { entry, position, storedAt }: PlacedRows) {
    const { head, timestamps, from, to, trace } = rows;
    const { workspaceId, dataFlowId } = head;
    this.deviceId = entry.deviceId;
    this.receivedAt = entry.receivedAt;
    this.position = position;
    const oldest = timestamps[from] ?? entry.receivedAt;
    this.summary = { count: to - from, workspaceId, dataFlowId, oldest };
    // Absent without a trace, as in other entries.
    if (trace !== undefined) this.trace = trace;
    this.#rows = rows;
    this.#storedAt = storedAt;
  }

  get samples(): StoredSample[] {
    this.#samples ??= storedSamples(samplesOfColumns(this.#rows), this.position, this.#storedAt);
    return this.#samples;
  }
}

/** The entry of a row, by its place in the range. */
function durableRowOf(
  { block, from, position: first }: RowRange,
  row: number,
  idOf: (device: number) => string,
): DurableEntry {
  const at = from + row;
  const position = first + row;
  const entry = block.entryOf(at);
  if (entry === undefined) return new DurableRow(block, at, position, idOf(block.devices[at]!));
  const samples = storedSamples(entry.samples, position, block.storedAt[at]!);
  return { ...entry, position, samples, duplicates: 0 };
}

/** The rows of a range of one request, in runs of one data flow. Each row is only its sample. */
export function durableRowsOf(range: RowRange, idOf: (device: number) => string): DurableRows[] {
  const { block, from, to } = range;
  const runs: DurableRows[] = [];
  for (let start = from, at = from + 1; at <= to; at++) {
    if (at < to && isOfFlow(block.kindOf(at), block.kindOf(start))) continue;
    runs.push(new RowRun(range, start, at, idOf));
    start = at;
  }
  return runs;
}

function isOfFlow(one: RowKind, other: RowKind): boolean {
  if (one === other) return true;
  return one.workspaceId === other.workspaceId && one.dataFlowId === other.dataFlowId;
}

class RowRun implements DurableRows {
  readonly position: number;
  readonly length: number;
  readonly receivedAt: EpochMs;
  readonly summary: SamplesSummary;
  readonly #block: RowBlock;
  readonly #from: number;
  readonly #idOf: (device: number) => string;

  constructor(
    { block, from: first, position }: RowRange,
    from: number,
    to: number,
    idOf: (device: number) => string,
  ) {
    const { workspaceId, dataFlowId } = block.kindOf(from);
    this.position = position + from - first;
    this.length = to - from;
    this.receivedAt = block.receivedAt[from]!;
    const oldest = block.timestamps.subarray(from, to).reduce((a, b) => Math.min(a, b));
    this.summary = { count: this.length, workspaceId, dataFlowId, oldest };
    this.#block = block;
    this.#from = from;
    this.#idOf = idOf;
  }

  entryAt(place: number): DurableEntry {
    const at = this.#from + place;
    return new DurableRow(
      this.#block,
      at,
      this.position + place,
      this.#idOf(this.#block.devices[at]!),
    );
  }
}

/** As `DurableColumns`, for one row of a block. */
class DurableRow implements DurableEntry {
  readonly deviceId: string;
  readonly receivedAt: EpochMs;
  readonly notes = nothing;
  readonly position: number;
  readonly duplicates = 0;
  readonly #block: RowBlock;
  readonly #at: number;
  #samples: StoredSample[] | undefined;
  #summary: SamplesSummary | undefined;

  constructor(block: RowBlock, at: number, position: number, deviceId: string) {
    this.deviceId = deviceId;
    this.receivedAt = block.receivedAt[at]!;
    this.position = position;
    this.#block = block;
    this.#at = at;
  }

  get summary(): SamplesSummary {
    if (this.#summary === undefined) {
      const { workspaceId, dataFlowId } = this.#block.kindOf(this.#at);
      const oldest = this.#block.timestamps[this.#at]!;
      this.#summary = { count: 1, workspaceId, dataFlowId, oldest };
    }
    return this.#summary;
  }

  get samples(): StoredSample[] {
    if (this.#samples === undefined) {
      const sample = this.#block.sampleOf(this.#at, this.deviceId);
      this.#samples = storedSamples([sample], this.position, this.#block.storedAt[this.#at]!);
    }
    return this.#samples;
  }
}

function storedSamples(
  samples: EntryRows['samples'],
  position: number,
  storedAt: EpochMs,
): StoredSample[] {
  const [single] = samples;
  if (samples.length === 1 && single !== undefined)
    return [{ ...single, storedAt, cursor: cursorAt(position, 1) }];
  const cursorOf = cursorsAt(position);
  return samples.map(
    (sample, i): StoredSample => ({ ...sample, storedAt, cursor: cursorOf(i + 1) }),
  );
}
