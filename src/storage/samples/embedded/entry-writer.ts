// Entry writer: adds rows of logged entries to tables or series, and finds stored samples.
import { missing } from '../../../structures/missing.ts';
import { dataOf, LeafValues } from '../../log/data-shape.ts';
import {
  addValues,
  type LoggedEntry,
  type LoggedRows,
  type RowColumns,
  type RowKind,
} from '../../log/logged-entry.ts';
import type { Replacement } from '../../../model/sample-changes.ts';
import { RowRange } from '../row-block.ts';
import type { ComparedSample, Comparison, DeviceEnds, NumberedDevices } from '../sample-store.ts';
import type { ShapeTable } from './memtables/shape-table.ts';
import type { DeviceNumbers } from './memtables/device-numbers.ts';
import type { TableRow } from './memtables/shape-tables.ts';
import type { Series } from './rows/series.ts';
import { isRemoved, type Removal } from './rows/removals.ts';
import type { StoreContents } from './store-loader.ts';
import type { StoreLimits } from './store-limits.ts';

/** A row with what decides where it goes. */
interface PlacedRow extends TableRow {
  readonly deviceId: string;
  readonly topic: string;
  /** `noNumber` until it gets one. */
  device: number;
  /** Whether its entry is kept by device. */
  readonly isLong: boolean;
}

/** The device has no number yet. */
const noNumber = -1;

const noneIdentical: ReadonlySet<number> = new Set();

/** Those of one instant follow each other, so that what is stored there is read once. */
function byInstant(samples: readonly ComparedSample[]): readonly number[] {
  const places = Array.from(samples.keys());
  const timeOf = (i: number) => samples[i]?.timestamp ?? Number.NaN;
  if (isAscending(samples)) return places;
  return places.sort((one, other) => timeOf(one) - timeOf(other));
}

function isAscending(samples: readonly ComparedSample[]): boolean {
  return samples.every(({ timestamp }, i) => timestamp >= (samples[i - 1]?.timestamp ?? timestamp));
}

/** One object for many rows, because what takes a row copies it. */
class RangeRow implements PlacedRow {
  readonly kind: RowKind;
  readonly topic: string;
  readonly shape: PlacedRow['shape'];
  readonly values: PlacedRow['values'];
  readonly origin: PlacedRow['origin'];
  readonly isLong = false;
  readonly meta = undefined;
  position = 0;
  device = 0;
  timestamp = 0;
  order = 0;
  valuesAt = 0;
  readonly #numbers: DeviceNumbers;

  constructor(kind: RowKind, values: PlacedRow['values'], { registry, tables }: StoreContents) {
    const { topic, shape, workspaceId, dataFlowId } = kind;
    this.kind = kind;
    this.topic = topic;
    this.shape = shape;
    this.values = values;
    this.origin = registry.origins.of(workspaceId, dataFlowId);
    this.#numbers = tables.numbers;
  }

  /** Most rows go to tables, which need only the number. */
  get deviceId(): string {
    return this.#numbers.idOf(this.device) ?? missing('id of a device');
  }
}

/** What the store takes: see `SampleStore`. */
export class EntryWriter {
  /** Devices whose rows may come as ranges. */
  readonly numbered: NumberedDevices;
  readonly #contents: StoreContents;
  readonly #afterWrite: () => void;
  readonly #removed: (deviceId: string) => void;
  readonly #room: () => Promise<void> | undefined;
  #visiblePosition: number;

  constructor(
    contents: StoreContents,
    /** Called after the rows of new entries became visible. */
    afterWrite: () => void,
    /** Called when rows of the device count no more. */
    removed: (deviceId: string) => void,
    /** Undefined when further rows have room in memory, else resolves when that may have changed. */
    room: () => Promise<void> | undefined,
  ) {
    this.#contents = contents;
    this.#afterWrite = afterWrite;
    this.#removed = removed;
    this.#room = room;
    // As the start found it: rows before `replayFrom` are sealed.
    const { manifest } = contents.segments;
    this.#visiblePosition = manifest.replayFrom;
    for (const [deviceId, { position }] of Object.entries(manifest.droppedDevices))
      contents.registry.dropped.set(deviceId, position);
    for (const [deviceId, removals] of Object.entries(manifest.removals))
      this.#noteRemovals(deviceId, removals);
    this.numbered = numberedOf(contents, room);
  }

  /** The position behind the newest entry whose rows are visible. */
  readonly visiblePosition = (): number => this.#visiblePosition;

  /**
   * Resolves when the samples of the entries can be read. Calls come in the order of positions,
   * the next one maybe before the last has resolved. `replayed` entries come after a restart and
   * before all new ones; what was written of them before changes nothing.
   */
  readonly write = async (
    entries: readonly (LoggedEntry | RowRange)[],
    origin: 'new' | 'replayed',
  ): Promise<void> => {
    const isReplayed = origin === 'replayed';
    for (const entry of entries)
      if (entry instanceof RowRange) this.#addRowsOf(entry);
      else this.#add(entry, isReplayed);
    // Sealing would delay the start.
    if (!isReplayed) this.#afterWrite();
  };

  /**
   * Finds the samples of the device that are stored already. Resolves when the store can keep up
   * with further writes; a comparison that waits for nothing needs no promise.
   */
  readonly compare = (
    deviceId: string,
    samples: readonly ComparedSample[],
  ): Comparison | Promise<Comparison> => {
    const room = this.#room();
    if (room === undefined) return this.#comparison(deviceId, samples);
    return this.#whenRoom(room).then(() => this.#comparison(deviceId, samples));
  };

  /** Where the rows of each device end. Resolves when the store can keep up, as `compare` does. */
  readonly ends = (deviceIds: readonly string[]): DeviceEnds | Promise<DeviceEnds> => {
    const room = this.#room();
    if (room === undefined) return this.#endsOf(deviceIds);
    return this.#whenRoom(room).then(() => this.#endsOf(deviceIds));
  };

  #add(entry: LoggedEntry, isReplayed: boolean): void {
    const { position, deviceId } = entry;
    if (
      this.#contents.registry.dropped.size === 0 ||
      position >= (this.#contents.registry.dropped.get(deviceId) ?? 0)
    ) {
      if (entry.replaces !== undefined) this.#remove(entry, entry.replaces);
      this.#addEntry(entry, isReplayed);
    }
    this.#written(entry.bytes, position + 1);
  }

  #remove({ deviceId, firstOrder }: LoggedEntry, { ranges, before }: Replacement): void {
    const order = before?.order ?? firstOrder;
    const removals = ranges.map((range) => ({ ...range, order }));
    this.#noteRemovals(deviceId, removals);
    this.#removed(deviceId);
  }

  #addRowsOf(range: RowRange): void {
    this.#addRange(range);
    this.#written(range.bytes, range.position + range.to - range.from);
  }

  /** Entries before the position are visible now. */
  #written(bytes: number, position: number): void {
    this.#contents.registry.noteJournalled(bytes);
    this.#visiblePosition = Math.max(this.#visiblePosition, position);
    if (this.#contents.registry.dropped.size > 0) this.#forgetDropped();
  }

  /** Entries are in the order of positions. */
  #forgetDropped(): void {
    for (const [deviceId, before] of this.#contents.registry.dropped)
      if (before <= this.#visiblePosition) this.#contents.registry.dropped.delete(deviceId);
  }

  async #whenRoom(first: Promise<void>): Promise<void> {
    for (let room: Promise<void> | undefined = first; room !== undefined; room = this.#room())
      await room;
  }

  /** Rows of devices that were dropped meanwhile are skipped. */
  #addRange({ block, from, to, position }: RowRange): void {
    const { dropped, devices } = this.#contents.registry;
    let row: RangeRow | undefined;
    for (let at = from; at < to; at++) {
      const kind = block.kindOf(at);
      if (row?.kind !== kind) row = new RangeRow(kind, block.values, this.#contents);
      row.position = position + at - from;
      row.device = block.devices[at]!;
      if (dropped.size > 0 && row.position < (dropped.get(row.deviceId) ?? 0)) continue;
      row.timestamp = block.timestamps[at]!;
      row.order = block.orders[at]!;
      row.valuesAt = block.valuesAt[at]!;
      this.#addRow(row);
      if (devices.size() > 0) this.#noteOrders(row.deviceId, row.order + 1);
    }
  }

  #addEntry(entry: LoggedEntry, isReplayed: boolean): void {
    const { rows } = entry;
    if (!('columns' in rows)) this.#addRows(entry, rows, isReplayed);
    else if (rows.to - rows.from < this.#contents.limits.chunkRowsMin)
      this.#addFewColumns(entry, rows, isReplayed);
    else if (rows.head.stored) this.#addColumns(entry, rows);
  }

  /** Many rows of one device: they are kept by device. */
  #addColumns({ deviceId, firstOrder, position }: LoggedEntry, rows: RowColumns): void {
    const { registry } = this.#contents;
    const device = registry.deviceOf(deviceId);
    const { topic, workspaceId, dataFlowId } = rows.head;
    const series = device.seriesOf(topic);
    const origin = registry.origins.of(workspaceId, dataFlowId);
    registry.addColumns(series, { rows, origin, firstOrder }, position);
    series.isBusy = true;
    series.crowds = undefined;
    device.nextOrder = Math.max(device.nextOrder, firstOrder + rows.to - rows.from);
  }

  #addFewColumns(
    { deviceId, firstOrder, position }: LoggedEntry,
    rows: RowColumns,
    isReplayed: boolean,
  ): void {
    const { head, shape, timestamps, from, to } = rows;
    const { topic, workspaceId, dataFlowId, stored } = head;
    const { registry, tables } = this.#contents;
    const origin = registry.origins.of(workspaceId, dataFlowId);
    let number = tables.numbers.numberOf(deviceId) ?? noNumber;
    for (let row = from; row < to && stored; row++) {
      rowValues.cutBack(0, 0);
      addValues(rows, row, rowValues);
      const placed: PlacedRow = {
        deviceId,
        device: number,
        position,
        isLong: false,
        topic,
        timestamp: timestamps[row]!,
        order: firstOrder + row - from,
        shape,
        values: rowValues,
        valuesAt: 0,
        origin,
        meta: undefined,
      };
      this.#addRow(placed, isReplayed);
      number = placed.device;
    }
    this.#noteOrders(deviceId, firstOrder + to - from);
  }

  #addRows(entry: LoggedEntry, rows: LoggedRows, isReplayed: boolean): void {
    const { firstOrder, position, deviceId } = entry;
    const { samples, shapes, values } = rows;
    const { registry, tables, limits } = this.#contents;
    const isLongEntry = isLong(rows, limits);
    let number = tables.numbers.numberOf(deviceId) ?? noNumber;
    let valuesAt = rows.valuesAt ?? 0;
    for (let i = 0; i < samples.length; i++) {
      const {
        stored,
        timestamp,
        topic,
        workspaceId,
        dataFlowId,
        meta: object,
      } = samples[i] ?? missing('head of a row');
      const shape = shapes[i] ?? missing('shape of a row');
      if (stored) {
        const origin = registry.origins.of(workspaceId, dataFlowId);
        const meta = object === undefined ? undefined : JSON.stringify(object);
        const order = firstOrder + i;
        const row: PlacedRow = {
          deviceId,
          device: number,
          position,
          isLong: isLongEntry,
          topic,
          timestamp,
          order,
          shape,
          values,
          valuesAt,
          origin,
          meta,
        };
        this.#addRow(row, isReplayed);
        number = row.device;
      }
      valuesAt += shape.leaves.length;
    }
    this.#noteOrders(deviceId, firstOrder + samples.length);
  }

  /** Adds the row, and notes the number of its device. */
  #addRow(row: PlacedRow, isReplayed = false): void {
    const { registry, tables } = this.#contents;
    const { devices } = registry;
    const series =
      devices.size() === 0 ? undefined : devices.get(row.deviceId)?.topics.get(row.topic);
    if (isReplayed && this.#isSealed(row, series)) return;
    const table = row.isLong || series?.isBusy === true ? undefined : this.#tableFor(row);
    if (table === undefined) {
      this.#addToSeries(series ?? registry.deviceOf(row.deviceId).seriesOf(row.topic), row);
      return;
    }
    if (row.device === noNumber) row.device = tables.numbers.assign(row.deviceId);
    tables.add(table, row);
  }

  /** Whether a row that comes again after a crash is in a file. */
  #isSealed(row: PlacedRow, series: Series | undefined): boolean {
    const { tables, decoded } = this.#contents;
    if (series !== undefined && series.isInChunks(row.order, decoded)) return true;
    const table = tables.find(row);
    const sealed = table?.isSealed(row.position) ?? 'no';
    if (table === undefined || sealed !== 'maybe') return sealed === 'yes';
    return row.device !== noNumber && table.hasInRuns(row.device, row);
  }

  /** The table that takes the row; undefined when it belongs to the series of its device. */
  #tableFor(row: PlacedRow): ShapeTable | undefined {
    const { tables, registry, limits } = this.#contents;
    const table = tables.forRows(row, row.position, row.origin.workspaceId);
    const { device } = row;
    if (table?.active === undefined || device === noNumber) return table;
    // What a table has of one device is looked through row by row, so it has to stay short.
    const isCrowded =
      table.active.rowCount(device) >= limits.chunkRowsMin ||
      (row.timestamp <= tables.newestOf(device) &&
        table.active.rowsAt(device, row.timestamp).length >= limits.instantRowsMax);
    if (!isCrowded) return table;
    registry.deviceOf(row.deviceId).seriesOf(row.topic).isBusy = true;
    return undefined;
  }

  #addToSeries(series: Series, row: PlacedRow): void {
    this.#contents.registry.addRow(series, row, row.position);
    if (row.isLong) series.isBusy = true;
    series.crowds?.get(row.timestamp)?.add(dataOf(row.shape, row.values.sourceFrom(row.valuesAt)));
  }

  /** The rows count no more. Further rows of the device are numbered behind them. */
  #noteRemovals(deviceId: string, removals: readonly Removal[]): void {
    const { registry, tables } = this.#contents;
    registry.removals.add(deviceId, removals);
    const next = Math.max(...removals.map(({ order }) => order));
    const number = tables.numbers.numberOf(deviceId);
    if (number !== undefined) tables.marks.raise(number, next);
    const device =
      number === undefined ? registry.deviceOf(deviceId) : registry.devices.get(deviceId);
    if (device === undefined) return;
    device.nextOrder = Math.max(device.nextOrder, next);
    for (const series of device.topics.values()) series.crowds = undefined;
  }

  /** Series number their rows on; tables have marks. */
  #noteOrders(deviceId: string, next: number): void {
    const { devices } = this.#contents.registry;
    const device = devices.size() === 0 ? undefined : devices.get(deviceId);
    if (device !== undefined) device.nextOrder = Math.max(device.nextOrder, next);
  }

  /** See `SampleStore.ends`. */
  #endsOf(deviceIds: readonly string[]): DeviceEnds {
    const { registry, tables } = this.#contents;
    const newest = new Float64Array(deviceIds.length).fill(Number.NEGATIVE_INFINITY);
    const nextOrders = new Float64Array(deviceIds.length);
    for (const [i, deviceId] of deviceIds.entries()) {
      const number = tables.numbers.numberOf(deviceId);
      if (number !== undefined) {
        newest[i] = tables.newestOf(number);
        nextOrders[i] = tables.marks.nextOrder(number);
      }
      const device = registry.devices.get(deviceId);
      if (device === undefined) continue;
      nextOrders[i] = Math.max(nextOrders[i]!, device.nextOrder);
      for (const series of device.topics.values()) newest[i] = Math.max(newest[i]!, series.newest);
    }
    return { newest, nextOrders };
  }

  /** See `SampleStore.compare`. */
  #comparison(deviceId: string, samples: readonly ComparedSample[]): Comparison {
    const { registry, tables, decoded } = this.#contents;
    const device = registry.devices.get(deviceId);
    const number = tables.numbers.numberOf(deviceId);
    const removals = registry.removals.of(deviceId);
    let identical: Set<number> | undefined;
    if (device !== undefined || number !== undefined)
      for (const i of byInstant(samples)) {
        const sample = samples[i] ?? missing('sample');
        const series = device?.topics.get(sample.topic);
        const { topic, timestamp } = sample;
        const isGone =
          removals && ((order: number) => isRemoved(removals, topic, timestamp, order));
        const isFound =
          series?.has(timestamp, sample.data, decoded, removals) === true ||
          (number !== undefined && tables.has(number, sample, isGone));
        if (!isFound) continue;
        identical ??= new Set();
        identical.add(i);
      }
    const ofTables = number === undefined ? 0 : tables.marks.nextOrder(number);
    return {
      identical: identical ?? noneIdentical,
      nextOrder: Math.max(device?.nextOrder ?? 0, ofTables),
    };
  }
}

function numberedOf(
  { tables, registry, limits }: StoreContents,
  room: () => Promise<void> | undefined,
): NumberedDevices {
  const { numbers, marks } = tables;
  const { devices } = registry;
  // Limits that tests make very small.
  const isShort = limits.chunkRowsMin > 1 && limits.instantRowsMax > 0;
  return {
    numberOf: (deviceId) => numbers.numberOf(deviceId),
    idOf: (device) => numbers.idOf(device) ?? missing('id of a device'),
    newestOf: (device) => tables.newestOf(device),
    nextOrderOf: marks.nextOrder,
    // What a series has of the device is looked up by its id.
    takesRows: (deviceId) =>
      isShort &&
      (devices.size() === 0 || devices.get(deviceId) === undefined) &&
      room() === undefined,
  };
}

/**
 * Whether the rows are kept by device: there are many of one topic, or more at one instant than
 * tables look through. Says the same of the entry when it comes again after a crash.
 */
function isLong({ samples }: LoggedRows, { chunkRowsMin, instantRowsMax }: StoreLimits): boolean {
  if (samples.length <= Math.min(chunkRowsMin - 1, instantRowsMax)) return false;
  return (
    mostOf(samples, ({ topic }) => topic) >= chunkRowsMin ||
    mostOf(samples, ({ timestamp }) => timestamp) > instantRowsMax
  );
}

/** How many items the most frequent key has. */
function mostOf<T>(items: readonly T[], keyOf: (item: T) => unknown): number {
  const counts = new Map<unknown, number>();
  let most = 0;
  for (const item of items) {
    const key = keyOf(item);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count > most) most = count;
  }
  return most;
}

/** The values of one row at a time: a table and a series copy them. */
const rowValues = new LeafValues();
