// What the store can tell about a device or a workspace without reading rows: keys and their types, samples and bytes.
import type { DataShape } from '../../../log/data-shape.ts';
import { keysOfShapes } from '../../measured-keys.ts';
import type { MeasuredTopic, WorkspaceUsage } from '../../sample-store.ts';
import type { EpochMs } from '../../../../model/instant.ts';
import type { ShapeTable } from '../memtables/shape-table.ts';
import type { DeviceTable, ShapeTables } from '../memtables/shape-tables.ts';
import type { OpenRows, Origin } from './open-rows.ts';
import type { Device, Series, SeriesRegistry } from './series.ts';

const topicsStandard = 50;
/** What an unsealed row is counted as; sealed ones count with what they take on disk. */
export const unsealedRowBytes = 48;

/** What a device has of a topic, in its series and in tables. */
interface DeviceTopic {
  readonly topic: string;
  newest: EpochMs;
  series?: Series;
  readonly tables: ShapeTable[];
}

/** The topics with rows, newest first. */
export function topicsOf(
  device: Device | undefined,
  tables: readonly DeviceTable[],
): readonly DeviceTopic[] {
  const found = new Map<string, DeviceTopic>();
  for (const series of device?.topics.values() ?? []) {
    const { topic, newest } = series;
    if (Number.isFinite(newest)) found.set(topic, { topic, newest, series, tables: [] });
  }
  for (const { table, newest } of tables) {
    const known = found.get(table.topic) ?? { topic: table.topic, newest, tables: [] };
    found.set(table.topic, known);
    known.newest = Math.max(known.newest, newest);
    known.tables.push(table);
  }
  return [...found.values()].sort((a, b) => b.newest - a.newest);
}

/** See the port. */
export function measuredKeys(
  topics: readonly DeviceTopic[],
  topicsMax = topicsStandard,
): MeasuredTopic[] {
  const measured = topics.slice(0, topicsMax).map(({ topic, series, tables }) => ({
    topic,
    shapes: new Set([
      ...(series === undefined ? [] : shapesOf(series)),
      ...tables.map(({ shape }) => shape),
    ]),
  }));
  return keysOfTopics(measured, topicsMax);
}

/** See the port. */
export function keysOfTopics(
  topics: readonly { readonly topic: string; readonly shapes: ReadonlySet<DataShape> }[],
  topicsMax = topicsStandard,
): MeasuredTopic[] {
  return topics
    .slice(0, topicsMax)
    .map(({ topic, shapes }) => ({ topic, keys: keysOfShapes(shapes) }));
}

/** Each shape once; chunks of the same shapes share their schema. */
function shapesOf(series: Series): Set<DataShape> {
  const schemas = new Set(series.chunks.map(({ schema }) => schema));
  return new Set([
    ...[...schemas].flatMap(({ shapes }) => shapes),
    ...series.unsealedRows().flatMap(({ shapes }) => shapes),
  ]);
}

/** See the port. */
export function usage(registry: SeriesRegistry, tables: ShapeTables): Map<string, WorkspaceUsage> {
  const found = new Map<string, { samples: number; bytes: number }>();
  const note = (workspaceId: string, samples: number, bytes: number): void => {
    if (samples === 0) return;
    const sum = found.get(workspaceId) ?? { samples: 0, bytes: 0 };
    found.set(workspaceId, sum);
    sum.samples += samples;
    sum.bytes += bytes;
  };
  for (const [workspaceId, { samples, bytes }] of registry.chunkUsage.byWorkspace)
    note(workspaceId, samples, bytes);
  for (const series of registry.unsealed) {
    // Of a deleted device that is still being dropped.
    if (registry.devices.get(series.device.id) !== series.device) continue;
    for (const rows of series.unsealedRows())
      for (const [{ workspaceId }, count] of rowsByOrigin(rows))
        note(workspaceId, count, count * unsealedRowBytes);
  }
  for (const table of tables.all()) {
    for (const { reader, rows, bytes } of table.runs)
      for (const [i, { workspaceId }] of reader.origins.entries()) {
        const samples = rows[i] ?? 0;
        note(workspaceId, samples, Math.round((bytes * samples) / reader.run.index.head.rows));
      }
    for (const memtable of table.memtables())
      for (const [{ workspaceId }, samples] of memtable.originRows)
        note(workspaceId, samples, samples * unsealedRowBytes);
  }
  return found;
}

/** Rows of each origin. */
export function rowsByOrigin({ origins, originIds, length }: OpenRows): [Origin, number][] {
  const counts = origins.map(() => (originIds === undefined ? length : 0));
  if (originIds !== undefined) for (let row = 0; row < length; row++) counts[originIds[row]!]!++;
  return origins.map((origin, i) => [origin, counts[i]!]);
}
