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

export interface SeriesRegistry {
  readonly devices: IdMap<Device>;
  /**
   * Devices of which entries before a position do not count, as long as such entries may still
   * come.
   */
  readonly dropped: Map<string, number>;
  readonly removals: Removals;
  /** Devices that are dropped in memory only, because the disk refused. */
  readonly notDropped: Set<string>;
  /** The device is being dropped until the returned function is called. */
  readonly beginDropping: (deviceId: string) => () => void;
  readonly isDropping: (deviceId: string) => boolean;
  readonly deviceOf: (id: string) => Device;
  /** What chunks of all devices take. */
  readonly chunkUsage: ChunkUsage;
  /** The same object for the same origin. */
  readonly origin: (workspaceId: string, dataFlowId: string | null) => Origin;
  readonly origins: () => Iterable<Origin>;
  /** Hides rows by these rules from now on, also those of origins that come later. */
  readonly setRetention: (rules: RetentionTimes) => void;
  /** Makes a row visible. `position` is that of its entry. */
  readonly addRow: (series: Series, row: RowToAdd, position: number) => void;
  /** Makes rows visible that are in the order of time. */
  readonly addColumns: (series: Series, added: ColumnsToAdd, position: number) => void;
  /** Counts the bytes that the journal takes; open rows remember where theirs began. */
  readonly noteJournalled: (bytes: number) => void;
  readonly journalledBytes: () => number;
  /** Series with rows that are not sealed. */
  readonly unsealed: Set<Series>;
  /** Takes the oldest closed rows that wait to be sealed; undefined when none do. */
  readonly nextClosed: () => ClosedRows | undefined;
  readonly closedCount: () => number;
  /** What they take in memory. */
  readonly closedBytes: () => number;
  readonly close: (series: Series) => void;
  /** Unsealed rows of the series make room for others; undefined adds or removes. */
  readonly exchangeRows: (
    series: Series,
    gone: OpenRows | undefined,
    added: OpenRows | undefined,
  ) => void;
  /** Forgets that the series has unsealed rows when it has none. */
  readonly settle: (series: Series) => void;
}

export function createSeriesRegistry(limits: StoreLimits): SeriesRegistry {
  const devices = new IdMap<Device>();
  const chunkUsage = new ChunkUsage();
  const unsealed = new Set<Series>();
  const dropping = new Set<{ readonly id: string }>();
  const closed: ClosedRows[] = [];
  let journalled = 0;
  let closedBytes = 0;

  function close(series: Series): void {
    const { open } = series;
    if (open === undefined) return;
    series.open = undefined;
    if (open.length < limits.rowsToCloseAtDay) series.isBusy = false;
    series.closing.push(open);
    closed.push({ series, rows: open, bytes: open.bytes });
    closedBytes += open.bytes;
  }

  /** The open rows that take a row of that time. */
  function openFor(series: Series, timestamp: EpochMs, position: number): OpenRows {
    if (series.open !== undefined && isFull(series.open, timestamp, limits)) close(series);
    if (series.open === undefined) {
      const capacity = series.chunks.length === 0 ? capacityFirst : capacityNext;
      series.open = new OpenRows(position, journalled, capacity);
      unsealed.add(series);
    }
    return series.open;
  }

  return {
    devices,
    chunkUsage,
    dropped: new Map(),
    removals: new Removals(),
    notDropped: new Set(),
    beginDropping: (id) => {
      const device = { id };
      dropping.add(device);
      return () => void dropping.delete(device);
    },
    isDropping: (deviceId) => [...dropping].some(({ id }) => id === deviceId),
    unsealed,
    nextClosed: () => {
      const next = closed.shift();
      if (next !== undefined) closedBytes -= next.bytes;
      return next;
    },
    closedCount: () => closed.length,
    closedBytes: () => closedBytes,
    close,
    exchangeRows: (series, gone, added) => {
      if (gone !== undefined && series.open === gone) series.open = added;
      else {
        series.closing = series.closing.filter((rows) => rows !== gone);
        if (added !== undefined) {
          series.closing.push(added);
          closed.push({ series, rows: added, bytes: added.bytes });
          closedBytes += added.bytes;
        }
      }
      if (added !== undefined) unsealed.add(series);
    },
    deviceOf: (id) => {
      let device = devices.get(id);
      if (device === undefined) {
        device = newDevice(id, chunkUsage);
        devices.set(id, device);
      }
      return device;
    },
    ...createOrigins(),
    addRow: (series, row, position) => {
      openFor(series, row.timestamp, position).append(row);
      if (row.timestamp > series.newest) series.newest = row.timestamp;
    },
    addColumns: (series, added, position) => {
      const { timestamps, to } = added.rows;
      for (let from = added.rows.from; from < to; ) {
        const open = openFor(series, timestamps[from]!, position);
        // Open rows may be full at an end of an hour, or with their number of rows.
        const room = Math.max(1, limits.rowsMax - open.length);
        const end = Math.min(from + room, endOfHour(timestamps, from, to));
        open.appendColumns(added, from, end);
        from = end;
      }
      series.newest = Math.max(series.newest, timestamps[to - 1] ?? series.newest);
    },
    noteJournalled: (bytes) => {
      journalled += bytes;
    },
    journalledBytes: () => journalled,
    settle: (series) => {
      if (series.open === undefined && series.closing.length === 0) unsealed.delete(series);
    },
  };
}

function createOrigins(): Pick<SeriesRegistry, 'origin' | 'origins' | 'setRetention'> {
  const byWorkspace = new Map<string, Map<string | null, Origin>>();
  let rules: RetentionTimes | undefined;
  let last: Origin | undefined;

  function find(workspaceId: string, dataFlowId: string | null): Origin {
    const ofWorkspace = byWorkspace.get(workspaceId) ?? new Map<string | null, Origin>();
    byWorkspace.set(workspaceId, ofWorkspace);
    let origin = ofWorkspace.get(dataFlowId);
    if (origin === undefined) {
      const names = { workspaceId, dataFlowId };
      origin = { ...names, keepFrom: keepFromOf(names, rules) };
      ofWorkspace.set(dataFlowId, origin);
    }
    return origin;
  }

  const origins = (): Origin[] =>
    [...byWorkspace.values()].flatMap((ofWorkspace) => [...ofWorkspace.values()]);
  return {
    origins,
    setRetention: (next) => {
      rules = next;
      for (const origin of origins()) origin.keepFrom = keepFromOf(origin, rules);
    },
    origin: (workspaceId, dataFlowId) => {
      // Consecutive rows usually have the same origin.
      if (last?.workspaceId === workspaceId && last.dataFlowId === dataFlowId) return last;
      last = find(workspaceId, dataFlowId);
      return last;
    },
  };
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
