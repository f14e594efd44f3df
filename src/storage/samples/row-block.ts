// Row block: entries of one row each, between arrival and visibility, as columns.
import { dataOf, LeafValues } from '../log/data-shape.ts';
import type { EntrySample, RowKind } from '../log/logged-entry.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { JournalEntry } from '../../model/journal-entry.ts';
import { missing } from '../../structures/missing.ts';

/** A block lives until its last entry is dropped, so it is short. */
const rowsMax = 512;
const valuesMax = 4_096;
/** Of a row; shapes have no more leaves. */
const leavesMax = 256;

/** What an entry is apart from its times and values. */
interface RowToAdd {
  /** Its number in the store. */
  readonly device: number;
  readonly kind: RowKind;
  readonly correlationId: string;
  readonly timestamp: EpochMs;
  readonly receivedAt: EpochMs;
  /** See `LoggedEntry.firstOrder`. */
  readonly order: number;
  /** Where its values are among those of the block. */
  readonly valuesAt: number;
}

/** A class, because one call per entry goes through it. */
export class RowBlock {
  length = 0;
  /** Values of rows may be added before the rows. */
  readonly values = new LeafValues(valuesMax + leavesMax);
  readonly devices: Uint32Array;
  readonly valuesAt: Uint32Array;
  readonly timestamps: Float64Array;
  readonly orders: Float64Array;
  readonly receivedAt: Float64Array;
  readonly storedAt: Float64Array;
  readonly #kinds: RowKind[] = [];
  readonly #kindIds: Uint16Array;
  readonly #correlationIds: string[] = [];
  readonly #correlations: Uint16Array;
  /** Entries that have more than their row. */
  #entries: JournalEntry[] | undefined;

  constructor() {
    const memory = new ArrayBuffer(rowsMax * 44);
    this.timestamps = new Float64Array(memory, 0, rowsMax);
    this.orders = new Float64Array(memory, rowsMax * 8, rowsMax);
    this.receivedAt = new Float64Array(memory, rowsMax * 16, rowsMax);
    this.storedAt = new Float64Array(memory, rowsMax * 24, rowsMax);
    this.devices = new Uint32Array(memory, rowsMax * 32, rowsMax);
    this.valuesAt = new Uint32Array(memory, rowsMax * 36, rowsMax);
    this.#kindIds = new Uint16Array(memory, rowsMax * 40, rowsMax);
    this.#correlations = new Uint16Array(memory, rowsMax * 42, rowsMax);
  }

  /** The last row may have more values than there is room for. */
  get isFull(): boolean {
    return this.length === rowsMax || this.values.length >= valuesMax;
  }

  /** Returns the place of the row. */
  add(row: RowToAdd, storedAt: EpochMs): number {
    const at = this.length++;
    this.devices[at] = row.device;
    this.timestamps[at] = row.timestamp;
    this.orders[at] = row.order;
    this.receivedAt[at] = row.receivedAt;
    this.storedAt[at] = storedAt;
    this.valuesAt[at] = row.valuesAt;
    this.#kindIds[at] = placeOfLast(this.#kinds, row.kind);
    this.#correlations[at] = placeOfLast(this.#correlationIds, row.correlationId);
    return at;
  }

  /** Keeps an entry that has more than its row. */
  keep(at: number, entry: JournalEntry): void {
    this.#entries ??= [];
    this.#entries[at] = entry;
  }

  kindOf(at: number): RowKind {
    return this.#kinds[this.#kindIds[at]!] ?? missing('kind of a row');
  }

  /** Undefined for an entry that is only its row. */
  entryOf(at: number): JournalEntry | undefined {
    return this.#entries?.[at];
  }

  /** The sample, as it was sent. */
  sampleOf(at: number, deviceId: string): EntrySample {
    const kept = this.entryOf(at)?.samples[0];
    if (kept !== undefined) return kept;
    const { organizationId, workspaceId, dataFlowId, topic, stored, shape } = this.kindOf(at);
    const data = dataOf(shape, this.values.sourceFrom(this.valuesAt[at]!));
    const correlationId =
      this.#correlationIds[this.#correlations[at]!] ?? missing('correlation id of a row');
    const timestamp = this.timestamps[at]!;
    const origin = { organizationId, workspaceId, dataFlowId };
    return { deviceId, topic, timestamp, data, ...origin, correlationId, stored };
  }
}

/** Consecutive rows usually have the same. */
function placeOfLast<T>(list: T[], item: T): number {
  const last = list.length - 1;
  return last >= 0 && list[last] === item ? last : list.push(item) - 1;
}

/** Rows of a block whose entries follow each other in the log, and become durable together. */
export class RowRange {
  readonly block: RowBlock;
  readonly from: number;
  to: number;
  /** Position of the entry of the first row. */
  readonly position: number;
  /** What the entries take in the log. */
  bytes = 0;

  constructor(block: RowBlock, from: number, position: number) {
    this.block = block;
    this.from = from;
    this.to = from;
    this.position = position;
  }
}
