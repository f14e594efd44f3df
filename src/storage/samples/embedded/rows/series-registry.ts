// The devices of the store and their unsealed rows: where rows go, and when open rows are closed so that they can be sealed.
import { dayMs, type EpochMs, hourMs } from '../../../../model/instant.ts';
import { IdMap } from '../../../../structures/id-table.ts';
import type { RetentionTimes } from '../../sample-store.ts';
import type { StoreLimits } from '../store-limits.ts';
import { type ColumnsToAdd, OpenRows, type RowToAdd } from './open-rows.ts';
import { keepFromOf, type Origin } from './rows.ts';
import { Removals } from './removals.ts';
import { ChunkUsage, type Device, newDevice, type Series } from './series.ts';

/**
 * Rows that open rows have room for at first, for a topic that never filled any and for one that
 * did.
 */
const capacityFirst = 16;
const capacityNext = 256;

export interface ClosedRows {
  readonly series: Series;
  readonly rows: OpenRows;
  /** What the rows take in memory. */
  readonly bytes: number;
}

export class SeriesRegistry {
  readonly #limits: StoreLimits;
  readonly devices = new IdMap<Device>();
  /** What chunks of all devices take. */
  readonly chunkUsage = new ChunkUsage();
  /**
   * Devices of which entries before a position do not count, as long as such entries may still
   * come.
   */
  readonly dropped = new Map<string, number>();
  readonly removals = new Removals();
  /** Devices that are dropped in memory only, because the disk refused. */
  readonly notDropped = new Set<string>();
  readonly origins = new Origins();
  /** Series with rows that are not sealed. */
  readonly unsealed = new Set<Series>();
  readonly #dropping = new Set<{ readonly id: string }>();
  readonly #closed: ClosedRows[] = [];
  #closedBytes = 0;
  #journalledBytes = 0;

  constructor(limits: StoreLimits) {
    this.#limits = limits;
  }

  /** The device is being dropped until the returned function is called. */
  beginDropping(id: string): () => void {
    const device = { id };
    this.#dropping.add(device);
    return () => void this.#dropping.delete(device);
  }

  isDropping(deviceId: string): boolean {
    return [...this.#dropping].some(({ id }) => id === deviceId);
  }

  deviceOf(id: string): Device {
    let device = this.devices.get(id);
    if (device === undefined) {
      device = newDevice(id, this.chunkUsage);
      this.devices.set(id, device);
    }
    return device;
  }

  /** Makes a row visible. `position` is that of its entry. */
  addRow(series: Series, row: RowToAdd, position: number): void {
    this.#openFor(series, row.timestamp, position).append(row);
    if (row.timestamp > series.newest) series.newest = row.timestamp;
  }

  /** Makes rows visible that are in the order of time. */
  addColumns(series: Series, added: ColumnsToAdd, position: number): void {
    const { timestamps, to } = added.rows;
    for (let from = added.rows.from; from < to; ) {
      const open = this.#openFor(series, timestamps[from]!, position);
      // Open rows may be full at an end of an hour, or with their number of rows.
      const room = Math.max(1, this.#limits.rowsMax - open.length);
      const end = Math.min(from + room, endOfHour(timestamps, from, to));
      open.appendColumns(added, from, end);
      from = end;
    }
    series.newest = Math.max(series.newest, timestamps[to - 1] ?? series.newest);
  }

  /** The open rows that take a row of that time. */
  #openFor(series: Series, timestamp: EpochMs, position: number): OpenRows {
    if (series.open !== undefined && isFull(series.open, timestamp, this.#limits))
      this.close(series);
    if (series.open === undefined) {
      const capacity = series.chunks.length === 0 ? capacityFirst : capacityNext;
      series.open = new OpenRows(position, this.#journalledBytes, capacity);
      this.unsealed.add(series);
    }
    return series.open;
  }

  /** Counts the bytes that the journal takes; open rows remember where theirs began. */
  noteJournalled(bytes: number): void {
    this.#journalledBytes += bytes;
  }

  get journalledBytes(): number {
    return this.#journalledBytes;
  }

  /** Takes the oldest closed rows that wait to be sealed; undefined when none do. */
  nextClosed(): ClosedRows | undefined {
    const next = this.#closed.shift();
    if (next !== undefined) this.#closedBytes -= next.bytes;
    return next;
  }

  get closedCount(): number {
    return this.#closed.length;
  }

  /** What they take in memory. */
  get closedBytes(): number {
    return this.#closedBytes;
  }

  close(series: Series): void {
    const { open } = series;
    if (open === undefined) return;
    series.open = undefined;
    if (open.length < this.#limits.rowsToCloseAtDay) series.isBusy = false;
    this.#addClosed(series, open);
  }

  /** Unsealed rows of the series make room for others; undefined adds or removes. */
  exchangeRows(series: Series, gone: OpenRows | undefined, added: OpenRows | undefined): void {
    if (gone !== undefined && series.open === gone) series.open = added;
    else {
      series.closing = series.closing.filter((rows) => rows !== gone);
      if (added !== undefined) this.#addClosed(series, added);
    }
    if (added !== undefined) this.unsealed.add(series);
  }

  #addClosed(series: Series, rows: OpenRows): void {
    series.closing.push(rows);
    this.#closed.push({ series, rows, bytes: rows.bytes });
    this.#closedBytes += rows.bytes;
  }

  /** Forgets that the series has unsealed rows when it has none. */
  settle(series: Series): void {
    if (series.open === undefined && series.closing.length === 0) this.unsealed.delete(series);
  }
}

/** The origins of rows. */
export class Origins {
  readonly #byWorkspace = new Map<string, Map<string | null, Origin>>();
  #rules: RetentionTimes | undefined;
  #last: Origin | undefined;

  all(): Origin[] {
    return [...this.#byWorkspace.values()].flatMap((ofWorkspace) => [...ofWorkspace.values()]);
  }

  /** Hides rows by these rules from now on, also those of origins that come later. */
  setRetention(rules: RetentionTimes): void {
    this.#rules = rules;
    for (const origin of this.all()) origin.keepFrom = keepFromOf(origin, rules);
  }

  /** The same object for the same origin. */
  of(workspaceId: string, dataFlowId: string | null): Origin {
    // Consecutive rows usually have the same origin.
    const last = this.#last;
    if (last?.workspaceId === workspaceId && last.dataFlowId === dataFlowId) return last;
    this.#last = this.#find(workspaceId, dataFlowId);
    return this.#last;
  }

  #find(workspaceId: string, dataFlowId: string | null): Origin {
    const ofWorkspace = this.#byWorkspace.get(workspaceId) ?? new Map<string | null, Origin>();
    this.#byWorkspace.set(workspaceId, ofWorkspace);
    let origin = ofWorkspace.get(dataFlowId);
    if (origin === undefined) {
      const names = { workspaceId, dataFlowId };
      origin = { ...names, keepFrom: keepFromOf(names, this.#rules) };
      ofWorkspace.set(dataFlowId, origin);
    }
    return origin;
  }
}

/** The place behind the last time of the hour. */
function endOfHour(timestamps: Float64Array, from: number, to: number): number {
  const hourEnd = (Math.floor(timestamps[from]! / hourMs) + 1) * hourMs;
  let end = from + 1;
  while (end < to && timestamps[end]! < hourEnd) end++;
  return end;
}

/** Whether the row of that time should begin new open rows. */
function isFull(rows: OpenRows, timestamp: EpochMs, limits: StoreLimits): boolean {
  const { length, newest } = rows;
  if (length < limits.rowsToCloseAtDay)
    return rows.cells > limits.openCellsMax || rows.bytes > limits.openRowsBytesMax;
  if (timestamp > newest && Math.floor(timestamp / dayMs) !== Math.floor(newest / dayMs))
    return true;
  if (length < limits.rowsToCloseAtHour) return rows.cells > limits.openCellsMax;
  if (timestamp > newest && Math.floor(timestamp / hourMs) !== Math.floor(newest / hourMs))
    return true;
  return length >= limits.rowsMax;
}
