// Store loader: reads the segments of the folder into series and tables.
import { join } from 'node:path';
import type { ShapeInterner } from '../../log/data-shape.ts';
import { DeviceMarks } from './memtables/device-watermarks.ts';
import { type DeviceNumbers, openDeviceNumbers } from './memtables/device-numbers.ts';
import { createShapeTables, type ShapeTables } from './memtables/shape-tables.ts';
import { checksumOf, TableRuns } from './memtables/table-runs.ts';
import type { SeriesRegistry } from './rows/series-registry.ts';
import { createSchemaInterner } from './chunks/chunk-schema.ts';
import type { ActiveReads } from './queries/active-reads.ts';
import type { RunIndex } from './runs/run-index.ts';
import { type Manifest, segmentNumber } from './segments/manifest.ts';
import type { StoreDamage } from '../sample-store.ts';
import { countedSegments, type SegmentFolder } from './segments/segment-files.ts';
import type { SegmentFile } from './segments/segment-file.ts';
import type { Interners, OpenedSegment } from './segments/chunk-segment-reader.ts';
import type { Segment } from './segments/segment-set.ts';
import { addChunk, seriesOf } from './rows/series.ts';
import type { StoreLimits } from './store-limits.ts';

interface OpenedSegments {
  readonly manifest: Manifest;
  readonly segments: Segment[];
  readonly runs: readonly OpenedRun[];
  readonly damage: readonly StoreDamage[];
}

export interface OpenedRun {
  readonly file: SegmentFile;
  readonly index: RunIndex;
}

export function createInterners(registry: SeriesRegistry, shapes: ShapeInterner): Interners {
  return { shapes, schemas: createSchemaInterner(shapes), origin: registry.origin };
}

/** Opens the segments that count and adds their chunks to the registry; see `countedSegments`. */
export async function openSegments(
  registry: SeriesRegistry,
  folder: SegmentFolder,
): Promise<OpenedSegments> {
  const { manifest, segments, damage } = await countedSegments(folder);
  return {
    manifest,
    segments: segments.map((segment) => addToCatalogue(segment, manifest, registry)),
    runs: segments.flatMap(({ file, run }) => (run === undefined ? [] : [{ file, index: run }])),
    damage,
  };
}

function addToCatalogue(
  { file, placed, run }: OpenedSegment,
  manifest: Manifest,
  registry: SeriesRegistry,
): Segment {
  const number = segmentNumber(file.name);
  const deadChunks = [...(manifest.deadChunks[file.name] ?? [])];
  const dead = new Set(deadChunks);
  const counted = placed.filter(
    ({ deviceId, chunk }) =>
      number >= (manifest.droppedDevices[deviceId]?.segment ?? 0) && !dead.has(chunk.offset),
  );
  const members = counted.map(({ deviceId, topic, chunk }) => {
    const series = seriesOf(registry.deviceOf(deviceId), topic);
    addChunk(series, chunk);
    return { series, chunk };
  });
  const bytes = (of: OpenedSegment['placed']) =>
    of.reduce((sum, { chunk }) => sum + chunk.length, 0);
  const deadBytes = bytes(placed) - bytes(counted);
  return { file, isRun: run !== undefined, members, deadBytes, deadChunks };
}

/** The two copies of the numbers of the devices that the runs have. */
export function devicePaths(directory: string): readonly [string, string] {
  return [join(directory, 'devices.numbers'), join(directory, 'devices.numbers.copy')];
}

/** How many devices the runs have. */
export function devicesOf(runs: readonly OpenedRun[]): number {
  return runs.reduce((most, { index }) => Math.max(most, index.head.devices), 0);
}

interface OpenedTables {
  readonly tables: ShapeTables;
  readonly tableRuns: TableRuns;
}

/** The tables with the runs of the folder. Throws DamagedChunk when the numbers of their devices are lost. */
export function openTables(
  {
    directory,
    interners,
    limits,
    damaged,
    whenUnread,
  }: {
    readonly directory: string;
    readonly interners: Interners;
    readonly limits: StoreLimits;
    readonly damaged: (damage: StoreDamage) => void;
    /** See `ActiveReads`. */
    readonly whenUnread: ActiveReads['whenUnread'];
  },
  { runs, manifest }: OpenedSegments,
): OpenedTables {
  const numbers = openDeviceNumbers({
    paths: devicePaths(directory),
    needed: devicesOf(runs),
    damaged: (path, reason) => damaged({ kind: 'devices', path, reason }),
  });
  for (const number of manifest.retiring) retire(numbers, number);
  const maxOrder = runs.reduce((most, { index }) => Math.max(most, index.head.maxOrder), -1);
  const marks = new DeviceMarks(numbers.count(), maxOrder + 1);
  const tables = createShapeTables(numbers, marks, limits, whenUnread);
  const tableRuns = new TableRuns({
    interners,
    cacheBytes: limits.sectionCacheBytes,
    damaged: (path, reason) => damaged({ kind: 'page', path, reason }),
  });
  const inOrder = runs.toSorted((a, b) => a.index.head.coveredTo - b.index.head.coveredTo);
  const retired = [...numbers.retired];
  // A crash may come between the numbers and the manifest: then the rows are counted again.
  const isCounted = manifest.retired === checksumOf(numbers.retired);
  for (const { file, index } of inOrder) {
    const { origins, topic, shape } = index.head;
    const table = tables.open(
      { shape: interners.shapes.fromText(shape), topic },
      origins[0]?.[0] ?? '',
    );
    table.addRun(
      isCounted
        ? tableRuns.open(file, index, manifest.deadRows[file.name])
        : tableRuns.open(file, index).without(retired),
    );
  }
  return { tables, tableRuns };
}

/** A crash may have come between a commit and the file of the numbers. */
function retire({ idOf, numberOf, retire: take }: DeviceNumbers, number: number): void {
  const deviceId = idOf(number);
  if (deviceId !== undefined && numberOf(deviceId) === number) take(deviceId);
}
