// Row placing: decides whether a row goes to a table or to the series of its device, and adds it.
import { dataOf } from '../../log/data-shape.ts';
import type { DecodedChunks } from './chunks/decoded-chunks.ts';
import type { ShapeTable } from './memtables/shape-table.ts';
import type { ShapeTables, TableRow } from './memtables/shape-tables.ts';
import type { SeriesRegistry } from './rows/series-registry.ts';
import { isInChunks, type Series, seriesOf } from './rows/series.ts';
import type { StoreLimits } from './store-limits.ts';

export interface RowPlacing {
  readonly registry: SeriesRegistry;
  readonly tables: ShapeTables;
  readonly decoded: DecodedChunks;
  readonly limits: Pick<StoreLimits, 'chunkRowsMin' | 'instantRowsMax'>;
  readonly isReplayed?: boolean;
}

/** A row with what decides where it goes. */
export interface PlacedRow extends TableRow {
  readonly deviceId: string;
  readonly topic: string;
  /** `noNumber` until it gets one. */
  device: number;
  /** Whether its entry is kept by device. */
  readonly isLong: boolean;
}

/** The device has no number yet. */
export const noNumber = -1;

/** Adds the row, and notes the number of its device. */
export function addRow(row: PlacedRow, placing: RowPlacing): void {
  const { registry, tables, isReplayed } = placing;
  const { devices } = registry;
  const series =
    devices.size() === 0 ? undefined : devices.get(row.deviceId)?.topics.get(row.topic);
  if (isReplayed === true && isSealed(row, series, placing)) return;
  const table = row.isLong || series?.isBusy === true ? undefined : tableFor(row, placing);
  if (table === undefined) {
    addToSeries(series ?? seriesOf(registry.deviceOf(row.deviceId), row.topic), row, placing);
    return;
  }
  if (row.device === noNumber) row.device = tables.numbers.assign(row.deviceId);
  tables.add(table, row);
}

/** Whether a row that comes again after a crash is in a file. */
function isSealed(
  row: PlacedRow,
  series: Series | undefined,
  { tables, decoded }: RowPlacing,
): boolean {
  if (series !== undefined && isInChunks(series, row.order, decoded)) return true;
  const table = tables.find(row);
  const sealed = table?.isSealed(row.position) ?? 'no';
  if (table === undefined || sealed !== 'maybe') return sealed === 'yes';
  return row.device !== noNumber && table.hasInRuns(row.device, row);
}

/** The table that takes the row; undefined when it belongs to the series of its device. */
function tableFor(
  row: PlacedRow,
  { tables, registry, limits }: RowPlacing,
): ShapeTable | undefined {
  const table = tables.forRows(row, row.origin.workspaceId);
  const { device } = row;
  if (table?.active === undefined || device === noNumber) return table;
  // What a table has of one device is looked through row by row, so it has to stay short.
  const isCrowded =
    table.active.rowCount(device) >= limits.chunkRowsMin ||
    (row.timestamp <= tables.newestOf(device) &&
      table.active.rowsAt(device, row.timestamp).length >= limits.instantRowsMax);
  if (!isCrowded) return table;
  seriesOf(registry.deviceOf(row.deviceId), row.topic).isBusy = true;
  return undefined;
}

function addToSeries(series: Series, row: PlacedRow, { registry }: RowPlacing): void {
  registry.addRow(series, row, row.position);
  if (row.isLong) series.isBusy = true;
  series.crowds?.get(row.timestamp)?.add(dataOf(row.shape, row.values.sourceFrom(row.valuesAt)));
}

/** Series number their rows on; tables have marks. */
export function noteOrders(deviceId: string, next: number, { devices }: SeriesRegistry): void {
  const device = devices.size() === 0 ? undefined : devices.get(deviceId);
  if (device !== undefined) device.nextOrder = Math.max(device.nextOrder, next);
}
