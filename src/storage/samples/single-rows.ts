// Single rows: entries with one sample that is later than all of its device, without an object for each.
import type { EpochMs } from '../../model/instant.ts';
import type { DurableEntry, DurableRows, JournalEntry } from '../../model/journal-entry.ts';
import { grown } from '../../structures/bytes.ts';
import type { DataShape, ShapeInterner } from '../log/data-shape.ts';
import type { EntryLog } from '../log/entry-log.ts';
import { addValues, type RowColumns } from '../log/logged-entry.ts';
import { createRowKinds } from '../log/row-kind.ts';
import type { PendingEnd, PendingEntries, PendingEntry, Refusal } from './pending-entries.ts';
import { durableRowsOf, type EntryGroup, type EntryGroups, extend } from './placed-rows.ts';
import { RowBlock, RowRange } from './row-block.ts';
import type { SampleStore } from './sample-store.ts';

/** Rows that have one answer. */
export interface RowsTogether {
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
  readonly log: Pick<EntryLog, 'append' | 'appendColumns'>;
  readonly shapes: ShapeInterner;
  readonly store: Pick<SampleStore, 'numbered'>;
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
