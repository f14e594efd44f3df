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
import type { DeviceEnds, SampleStore } from './sample-store.ts';

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

export interface SingleRows {
  /**
   * Undefined, and nothing happens, when the entry needs more than that, or when the log or the store
   * refuse: the general way says why.
   */
  readonly append: (entry: JournalEntry) => Promise<DurableEntry> | undefined;
  /** The same for one row in columns; returns whether it was added. Throws what the log and the store throw. */
  readonly appendColumns: (rows: RowColumns, receivedAt: EpochMs, to: RowsTogether) => boolean;
  /** Makes pending entries of the rows of the device, which are compared with what comes now. */
  readonly makePending: (deviceId: string) => void;
  /** To be called when the group is visible or refused. */
  readonly left: (group: EntryGroup, refusal: Refusal | undefined) => void;
}

export function createSingleRows({
  log,
  shapes,
  store,
  groups,
  entries,
}: {
  readonly log: EntryLog;
  readonly shapes: ShapeInterner;
  readonly store: SampleStore;
  readonly groups: EntryGroups;
  readonly entries: PendingEntries;
}): SingleRows {
  const { numbered } = store;
  const { idOf } = numbered;
  const kindOf = createRowKinds();
  const inFlight = new RowsInFlight();
  /** Pending entries of rows of a group. */
  const pendingOf = new Map<EntryGroup, PendingEntry[]>();
  let block = new RowBlock();
  let shape: DataShape | undefined;
  /** Of the device that `deviceOf` was called for last. */
  let pending: PendingEnd | undefined;

  /** The number of the device when the row is later than all of its device; undefined when that is not sure. */
  function deviceOf(deviceId: string, timestamp: EpochMs): number | undefined {
    const device = numbered.numberOf(deviceId);
    if (device === undefined || !numbered.takesRows(deviceId)) return undefined;
    pending = entries.find(deviceId);
    // An entry that came before has its place in the log before.
    if (pending !== undefined && (pending.unplaced > 0 || timestamp <= pending.newest))
      return undefined;
    const isLater = timestamp > inFlight.newestOf(device) && timestamp > numbered.newestOf(device);
    return isLater ? device : undefined;
  }

  function blockWithRoom(): RowBlock {
    if (block.isFull) block = new RowBlock();
    return block;
  }

  /** Of the device that `deviceOf` returned. */
  function orderOf(device: number): number {
    const next = Math.max(inFlight.nextOrderOf(device), numbered.nextOrderOf(device));
    return pending === undefined ? next : Math.max(next, pending.nextOrder);
  }

  function appendOrThrow(entry: JournalEntry): Promise<DurableEntry> | undefined {
    const { samples, deviceId, receivedAt } = entry;
    const sample = samples[0];
    if (samples.length !== 1 || sample === undefined) return undefined;
    const { stored, meta, timestamp, data, correlationId } = sample;
    if (!stored || meta !== undefined) return undefined;
    const device = deviceOf(deviceId, timestamp);
    if (device === undefined) return undefined;
    const { values } = blockWithRoom();
    const valuesAt = values.length;
    shape = shapes.shapeOf(data, values, shape);
    const firstOrder = orderOf(device);
    const rows = { samples, shapes: [shape], values, valuesAt };
    const added = log.append({ entry, rows, duplicates: 0, firstOrder });
    const kind = kindOf(sample, shape);
    const order = firstOrder;
    const at = block.add(
      { device, kind, correlationId, timestamp, receivedAt, order, valuesAt },
      added.storedAt,
    );
    if (!isOnlyRow(entry)) block.keep(at, entry);
    inFlight.note(device, timestamp, order);
    const group = groups.of(added.durable);
    group.addSingle(block, added.position, added.bytes);
    return group.answer();
  }

  return {
    append(entry) {
      try {
        return appendOrThrow(entry);
      } catch {
        return undefined;
      }
    },
    appendColumns(rows, receivedAt, to) {
      const { deviceId, head, from, timestamps } = rows;
      const { correlationId } = head;
      const timestamp = timestamps[from]!;
      if (rows.to - from !== 1 || !head.stored || rows.trace !== undefined) return false;
      const device = deviceOf(deviceId, timestamp);
      if (device === undefined) return false;
      const { values } = blockWithRoom();
      const valuesAt = values.length;
      addValues(rows, from, values);
      const order = orderOf(device);
      const added = log.appendColumns({ receivedAt, rows, firstOrder: order });
      const kind = kindOf(head, rows.shape);
      block.add(
        { device, kind, correlationId, timestamp, receivedAt, order, valuesAt },
        added.storedAt,
      );
      inFlight.note(device, timestamp, order);
      addTogether(groups.of(added.durable), block, added, to);
      return true;
    },
    makePending(deviceId) {
      const device = numbered.numberOf(deviceId);
      if (device === undefined || inFlight.newestOf(device) === Number.NEGATIVE_INFINITY) return;
      inFlight.forget(device);
      for (const group of groups.inFlight)
        for (const range of group.items)
          if (range instanceof RowRange) makeRangePending(range, group, device, deviceId);
    },
    left(group, refusal) {
      for (const item of group.items) {
        if (!(item instanceof RowRange)) continue;
        const { devices, timestamps } = item.block;
        for (let at = item.from; at < item.to; at++) inFlight.remove(devices[at]!, timestamps[at]!);
      }
      for (const one of pendingOf.get(group) ?? []) entries.release(one, refusal);
      pendingOf.delete(group);
    },
  };

  function makeRangePending(
    range: RowRange,
    group: EntryGroup,
    device: number,
    deviceId: string,
  ): void {
    const { block: from, to } = range;
    const known = pendingOf.get(group) ?? [];
    for (let at = range.from; at < to; at++) {
      if (from.devices[at] !== device) continue;
      const sample = from.sampleOf(at, deviceId);
      const reserved = entries.reserve({ deviceId, samples: [sample] });
      reserved.takeOrders(from.orders[at]!, 1);
      known.push(reserved);
    }
    if (known.length > 0) pendingOf.set(group, known);
  }

  function addTogether(
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
    void settle(group.visible, next, to);
  }

  async function settle(visible: Promise<void>, range: RowRange, to: RowsTogether): Promise<void> {
    try {
      await visible;
    } catch (error) {
      to.refused(error);
      return;
    }
    to.visible(durableRowsOf(range, idOf));
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

// Column intake: reserves and places rows in columns, which are later than all that their devices have.

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

/** Each item has the rows of another device. Rejects, and nothing is placed, when the store does. */
export async function placeColumns(
  all: readonly RowColumns[],
  {
    store,
    entries,
    makePending,
    placeSingle,
    place,
  }: {
    readonly store: SampleStore;
    readonly entries: PendingEntries;
    /** See `SingleRows`. */
    readonly makePending: (deviceId: string) => void;
    /** See `SingleRows.appendColumns`. */
    readonly placeSingle: (rows: RowColumns, to: RowsTogether) => boolean;
    /** Gives the rows to the log. Throws what the log throws. */
    readonly place: (placed: ReservedRows) => void;
  },
): Promise<PlacedColumns> {
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
      if (stopped !== undefined || placeSingle(rows, together)) continue;
    } catch (error) {
      stopped = { error };
      continue;
    }
    makePending(rows.deviceId);
    const pending = entries.reserveColumns(rows);
    if (pending === undefined) left.push(at);
    else reserved.push({ at, rows, pending });
  }
  let ends: DeviceEnds;
  try {
    // The reservations hold back what could be stored at these times meanwhile.
    const found = store.ends(reserved.map(({ rows }) => rows.deviceId));
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
