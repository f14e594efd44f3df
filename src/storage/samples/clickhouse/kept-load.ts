// Kept load: reads the newest rows of a device from ClickHouse, as rows that are merged with open ones.
import { int64, quoted } from '../../clickhouse/statement-values.ts';
import { LeafValues, type ShapeInterner } from '../../log/data-shape.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { LoadedRows, LoadRequest, LoadRows } from './kept-rows.ts';
import { type OpenPlace, placeOf } from './open-rows.ts';
import { newestFirst, sealedColumns, type SealedRow } from './sample-tables.ts';
import { shardOf } from './flusher.ts';
import type { StoreParts } from './store-parts.ts';

interface StoredRow extends SealedRow {
  readonly workspace: string;
  /** Empty without one. */
  readonly flow: string;
}

export function loadBy({
  shards,
  visible,
  shapes,
}: Pick<StoreParts, 'shards' | 'visible' | 'shapes'>): LoadRows {
  return (request) => {
    const { deviceId, from, rowsMax } = request;
    const after = from === undefined ? '' : ` and ts >= ${int64(from)}`;
    const where = `device = ${quoted(deviceId)}${after}${visible.storedCondition([deviceId])}`;
    // The times are read first, so that the data of older rows is not read.
    const newest = `select min(ts) from (select ts from samples where ${where} order by ts desc limit ${rowsMax + 1})`;
    const rows = shardOf(deviceId, shards).stream<StoredRow>(
      `select ${sealedColumns}, workspace, flow from samples where ${where} and ts >= (${newest}) order by ${newestFirst} limit ${rowsMax + 1}`,
    );
    return read(rows, request, shapes);
  };
}

/** Between two batches, others have their turn. */
async function read(
  batches: AsyncIterable<readonly StoredRow[]>,
  { rowsMax, charactersMax }: LoadRequest,
  shapes: ShapeInterner,
): Promise<LoadedRows> {
  const places: OpenPlace[] = [];
  const values = new LeafValues();
  let characters = 0;
  let isCut = false;
  for await (const rows of batches) {
    for (const row of rows) {
      isCut = places.length >= rowsMax || characters > charactersMax;
      if (isCut) break;
      characters += row.data.length + row.meta.length;
      places.push(placeOfStored(row, values, shapes));
    }
    if (isCut) break;
  }
  return { places: places.reverse(), characters, isCut };
}

function placeOfStored(row: StoredRow, values: LeafValues, shapes: ShapeInterner): OpenPlace {
  const { device, topic, ts, storedAt, journal, position, idx, data, meta, workspace, flow } = row;
  const valuesAt = values.length;
  const shape = shapes.shapeOf(JSON.parse(data) as JsonObject, values, undefined);
  const open = {
    deviceId: device,
    topic,
    timestamp: ts,
    storedAt,
    position,
    index: idx,
    workspaceId: workspace,
    dataFlowId: flow === '' ? null : flow,
    meta: meta === '' ? undefined : (JSON.parse(meta) as JsonObject),
    shape,
    values,
    valuesAt,
  };
  return placeOf(open, journal);
}
