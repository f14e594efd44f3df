// Single rows: entries with one sample that is later than all of its device, without an object for each.
import type { EpochMs } from '../../model/instant.ts';
import type {
  DurableEntry,
  DurableItem,
  DurableRows,
  JournalEntry,
} from '../../model/journal-entry.ts';
import { grown } from '../../structures/bytes.ts';
import type { DataShape, ShapeInterner } from '../log/data-shape.ts';
import type { EntryLog } from '../log/entry-log.ts';
import { addValues, createRowKinds, type RowColumns } from '../log/logged-entry.ts';
import {
  durableRowsOf,
  type EntryGroup,
  type EntryGroups,
  extend,
  type PendingEnd,
  type PendingEntries,
  type PendingEntry,
  type Refusal,
} from './pending-entries.ts';
import { RowBlock, RowRange } from './row-block.ts';
import type { DeviceEnds, NumberedDevices, SampleStore } from './sample-store.ts';

/** Rows that have one answer. */
interface RowsTogether {
  range: RowRange | undefined;
  /** Called for each range of rows when it is visible. */
  readonly visible: (rows: readonly DurableRows[]) => void;
  /** Called instead when they were refused. */
  readonly refused: (error: unknown) => void;
  /** Called for each range before `visible`. */
  readonly added: () => void;
}

export class SingleRows {
  readonly #log: EntryLog;
  readonly #shapes: ShapeInterner;
  readonly #store: SampleStore;
  readonly #groups: EntryGroups;
  readonly #entries: PendingEntries;
  readonly #numbered: NumberedDevices;
  readonly #kindOf = createRowKinds();
  readonly #inFlight = new RowsInFlight();
  /** Pending entries of rows of a group. */
  readonly #pendingOf = new Map<EntryGroup, PendingEntry[]>();
  #block = new RowBlock();
  #shape: DataShape | undefined;
  /** Of the device that `#deviceOf` was called for last. */
  #pending: PendingEnd | undefined;

  constructor(
    log: EntryLog,
    shapes: ShapeInterner,
    store: SampleStore,
    groups: EntryGroups,
    entries: PendingEntries,
  ) {
    this.#log = log;
    this.#shapes = shapes;
    this.#store = store;
    this.#groups = groups;
    this.#entries = entries;
    this.#numbered = store.numbered;
  }

  /**
   * Undefined, and nothing happens, when the entry needs more than that, or when the log or the store
   * refuse: the general way says why.
   */
  append(entry: JournalEntry): Promise<DurableEntry> | undefined {
    try {
      return this.#appendOrThrow(entry);
    } catch {
      return undefined;
    }
  }

  /**
   * Places rows in columns that are later than all that their devices have: single ones as such, others
   * by `place`, which throws what the log throws. Each item has the rows of another device. Rejects,
   * and nothing is placed, when the store does.
   */
  async placeColumns(
    all: readonly RowColumns[],
    receivedAt: EpochMs,
    place: (placed: ReservedRows) => void,
  ): Promise<PlacedColumns> {
    const entries = this.#entries;
    const left: number[] = [];
    const reserved: {
      /** Its place in the call. */
      readonly at: number;
      readonly rows: RowColumns;
      readonly pending: PendingEntry;
    }[] = [];
    const collected = collectOutcome();
    const together: RowsTogether = { range: undefined, ...collected.together };
    let stopped: { readonly error: unknown } | undefined;
    for (const [at, rows] of all.entries()) {
      try {
        if (stopped !== undefined || this.#appendColumns(rows, receivedAt, together)) continue;
      } catch (error) {
        stopped = { error };
        continue;
      }
      this.makePending(rows.deviceId);
      const pending = entries.reserveColumns(rows);
      if (pending === undefined) left.push(at);
      else reserved.push({ at, rows, pending });
    }
    let ends: DeviceEnds;
    try {
      // The reservations hold back what could be stored at these times meanwhile.
      const found = this.#store.ends(reserved.map(({ rows }) => rows.deviceId));
      ends = found instanceof Promise ? await found : found;
    } catch (error) {
      for (const { pending } of reserved.splice(0)) entries.release(pending, { error });
      // What is placed has an outcome.
      if (together.range === undefined) throw error;
      stopped ??= { error };
      ends = noEnds;
    }
    const { resolve, reject } = collected;
    for (const [i, { at, rows, pending }] of reserved.entries()) {
      const isLater = (rows.timestamps[rows.from] ?? 0) > ends.newest[i]!;
      if (!isLater || stopped !== undefined) {
        entries.release(pending, stopped);
        if (!isLater) left.push(at);
        continue;
      }
      const firstOrder = pending.takeOrders(ends.nextOrders[i]!, rows.to - rows.from);
      try {
        place({ rows, pending, firstOrder, resolve, reject });
        collected.add();
      } catch (error) {
        stopped = { error };
        entries.release(pending, stopped);
      }
    }
    collected.placed(stopped);
    return { left: left.sort((a, b) => a - b), outcome: collected.outcome };
  }

  /** Makes pending entries of the rows of the device, which are compared with what comes now. */
  makePending(deviceId: string): void {
    const device = this.#numbered.numberOf(deviceId);
    if (device === undefined || this.#inFlight.newestOf(device) === Number.NEGATIVE_INFINITY)
      return;
    this.#inFlight.forget(device);
    for (const group of this.#groups.inFlight)
      for (const range of group.items)
        if (range instanceof RowRange) this.#makeRangePending(range, group, device, deviceId);
  }

  /** To be called when the group is visible or refused. */
  left(group: EntryGroup, refusal: Refusal | undefined): void {
    for (const item of group.items) {
      if (!(item instanceof RowRange)) continue;
      const { devices, timestamps } = item.block;
      for (let at = item.from; at < item.to; at++)
        this.#inFlight.remove(devices[at]!, timestamps[at]!);
    }
    for (const one of this.#pendingOf.get(group) ?? []) this.#entries.release(one, refusal);
    this.#pendingOf.delete(group);
  }

  /** The number of the device when the row is later than all of its device; undefined when that is not sure. */
  #deviceOf(deviceId: string, timestamp: EpochMs): number | undefined {
    const numbered = this.#numbered;
    const device = numbered.numberOf(deviceId);
    if (device === undefined || !numbered.takesRows(deviceId)) return undefined;
    const pending = this.#entries.find(deviceId);
    this.#pending = pending;
    // An entry that came before has its place in the log before.
    if (pending !== undefined && (pending.unplaced > 0 || timestamp <= pending.newest))
      return undefined;
    const isLater =
      timestamp > this.#inFlight.newestOf(device) && timestamp > numbered.newestOf(device);
    return isLater ? device : undefined;
  }

  #blockWithRoom(): RowBlock {
    if (this.#block.isFull) this.#block = new RowBlock();
    return this.#block;
  }

  /** Of the device that `#deviceOf` returned. */
  #orderOf(device: number): number {
    const next = Math.max(this.#inFlight.nextOrderOf(device), this.#numbered.nextOrderOf(device));
    return this.#pending === undefined ? next : Math.max(next, this.#pending.nextOrder);
  }

  #appendOrThrow(entry: JournalEntry): Promise<DurableEntry> | undefined {
    const { samples, deviceId, receivedAt } = entry;
    const sample = samples[0];
    if (samples.length !== 1 || sample === undefined) return undefined;
    const { stored, meta, timestamp, data, correlationId } = sample;
    if (!stored || meta !== undefined) return undefined;
    const device = this.#deviceOf(deviceId, timestamp);
    if (device === undefined) return undefined;
    const block = this.#blockWithRoom();
    const { values } = block;
    const valuesAt = values.length;
    const shape = this.#shapes.shapeOf(data, values, this.#shape);
    this.#shape = shape;
    const firstOrder = this.#orderOf(device);
    const rows = { samples, shapes: [shape], values, valuesAt };
    const added = this.#log.append({ entry, rows, duplicates: 0, firstOrder });
    const kind = this.#kindOf(sample, shape);
    const order = firstOrder;
    const at = block.add(
      { device, kind, correlationId, timestamp, receivedAt, order, valuesAt },
      added.storedAt,
    );
    if (!isOnlyRow(entry)) block.keep(at, entry);
    this.#inFlight.note(device, timestamp, order);
    const group = this.#groups.of(added.durable);
    group.addSingle(block, added.position, added.bytes);
    return group.answer();
  }

  /** As `append`, for one row in columns; returns whether it was added. Throws what the log and the store throw. */
  #appendColumns(rows: RowColumns, receivedAt: EpochMs, to: RowsTogether): boolean {
    const { deviceId, head, from, timestamps } = rows;
    const { correlationId } = head;
    const timestamp = timestamps[from]!;
    if (rows.to - from !== 1 || !head.stored || rows.trace !== undefined) return false;
    const device = this.#deviceOf(deviceId, timestamp);
    if (device === undefined) return false;
    const block = this.#blockWithRoom();
    const { values } = block;
    const valuesAt = values.length;
    addValues(rows, from, values);
    const order = this.#orderOf(device);
    const added = this.#log.appendColumns({ receivedAt, rows, firstOrder: order });
    const kind = this.#kindOf(head, rows.shape);
    block.add(
      { device, kind, correlationId, timestamp, receivedAt, order, valuesAt },
      added.storedAt,
    );
    this.#inFlight.note(device, timestamp, order);
    this.#addTogether(this.#groups.of(added.durable), block, added, to);
    return true;
  }

  #makeRangePending(range: RowRange, group: EntryGroup, device: number, deviceId: string): void {
    const { block: from, to } = range;
    const known = this.#pendingOf.get(group) ?? [];
    for (let at = range.from; at < to; at++) {
      if (from.devices[at] !== device) continue;
      const sample = from.sampleOf(at, deviceId);
      const reserved = this.#entries.reserve({ deviceId, samples: [sample] });
      reserved.takeOrders(from.orders[at]!, 1);
      known.push(reserved);
    }
    if (known.length > 0) this.#pendingOf.set(group, known);
  }

  #addTogether(
    group: EntryGroup,
    of: RowBlock,
    { position, bytes }: { readonly position: number; readonly bytes: number },
    to: RowsTogether,
  ): void {
    const { range } = to;
    if (range !== undefined && range.block === of && range === group.items.at(-1)) {
      extend(range, bytes);
      return;
    }
    const next = group.addRange(of, position, bytes);
    to.range = next;
    to.added();
    void this.#settle(group.visible, next, to);
  }

  async #settle(visible: Promise<void>, range: RowRange, to: RowsTogether): Promise<void> {
    try {
      await visible;
    } catch (error) {
      to.refused(error);
      return;
    }
    to.visible(durableRowsOf(range, this.#numbered.idOf));
  }
}

function isOnlyRow({ notes, state, metrics, trace }: JournalEntry): boolean {
  return notes.length === 0 && state === undefined && metrics === undefined && trace === undefined;
}

// Rows in flight: where the rows of each device end that are on their way to the store.

const firstDevices = 1_024;
const none = Number.NEGATIVE_INFINITY;

/** By the numbers of devices. */
class RowsInFlight {
  #newest = new Float64Array(firstDevices).fill(none);
  #orders = new Float64Array(firstDevices);

  /** -Infinity for a device without any. */
  newestOf(device: number): EpochMs {
    return device < this.#newest.length ? this.#newest[device]! : none;
  }

  /** One more than the place of the newest; 0 for a device without any. */
  nextOrderOf(device: number): number {
    return device < this.#newest.length && this.#newest[device] !== none
      ? this.#orders[device]! + 1
      : 0;
  }

  /** Notes a row that is later than those of the device before. */
  note(device: number, timestamp: EpochMs, order: number): void {
    if (device >= this.#newest.length) this.#grow(device);
    this.#newest[device] = timestamp;
    this.#orders[device] = order;
  }

  /** A row is no longer in flight; rows go in the order in which they came. */
  remove(device: number, timestamp: EpochMs): void {
    // Later ones of the device are still in flight.
    if (this.#newest[device] === timestamp) this.#newest[device] = none;
  }

  forget(device: number): void {
    if (device < this.#newest.length) this.#newest[device] = none;
  }

  #grow(device: number): void {
    const length = Math.max(device + 1, this.#newest.length * 2);
    this.#newest = grown(this.#newest, length, none);
    this.#orders = grown(this.#orders, length);
  }
}

// Column outcome: the answer to one call with rows in columns of many devices.

/** The result for the entries of one call. */
interface ColumnOutcome {
  /** In the order of their positions. */
  readonly items: readonly DurableItem[];
  /** Why the others were refused; undefined when all are durable. */
  readonly failure: { readonly error: unknown } | undefined;
}

/** Entries that have their places in the log. */
export interface PlacedColumns {
  /** Places in the call of those that were not taken: some of their rows may be stored already. */
  readonly left: readonly number[];
  /** Resolves when each entry is visible or refused. */
  readonly outcome: Promise<ColumnOutcome>;
}

export interface ReservedRows {
  readonly rows: RowColumns;
  readonly pending: PendingEntry;
  readonly firstOrder: number;
  /** Shared by the entries of a call. */
  readonly resolve: (durable: DurableEntry) => void;
  readonly reject: (error: unknown) => void;
}

const noEnds: DeviceEnds = { newest: new Float64Array(0), nextOrders: new Float64Array(0) };

/**
 * Resolves in the turn in which the last entry settles, as the promise of a single entry does: so
 * entries are announced in the order of the journal.
 */
function collectOutcome() {
  const items: DurableItem[] = [];
  const { promise, resolve } = Promise.withResolvers<ColumnOutcome>();
  let failure: ColumnOutcome['failure'];
  // The placing itself is one.
  let open = 1;
  const settled = (): void => {
    open -= 1;
    if (open === 0) resolve({ items, failure });
  };
  const reject = (error: unknown): void => {
    failure ??= { error };
    settled();
  };
  return {
    outcome: promise,
    add: () => void (open += 1),
    together: {
      added: () => void (open += 1),
      visible(rows: readonly DurableRows[]): void {
        items.push(...rows);
        settled();
      },
      refused: reject,
    },
    resolve(durable: DurableEntry): void {
      items.push(durable);
      settled();
    },
    reject,
    /** To be called when all have their places; `stopped` is why some have none. */
    placed(stopped: ColumnOutcome['failure']): void {
      failure ??= stopped;
      settled();
    },
  };
}
