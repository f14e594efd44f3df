// Store loader: reads the segments of the folder into the series registry.
import type { ShapeInterner } from '../../log/data-shape.ts';
import type { SeriesRegistry } from './rows/series-registry.ts';
import { createSchemaInterner } from './chunks/chunk-schema.ts';
import { type Manifest, segmentNumber } from './segments/manifest.ts';
import type { StoreDamage } from '../sample-store.ts';
import { countedSegments, type SegmentFolder } from './segments/segment-files.ts';
import type { Interners, OpenedSegment } from './segments/chunk-segment-reader.ts';
import type { Segment } from './segments/segment-set.ts';
import { addChunk, seriesOf } from './rows/series.ts';

export interface OpenedSegments {
  readonly manifest: Manifest;
  readonly segments: Segment[];
  readonly damage: readonly StoreDamage[];
}

export function createInterners(registry: SeriesRegistry, shapes: ShapeInterner): Interners {
  return { shapes, schemas: createSchemaInterner(), origin: registry.origin };
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
    damage,
  };
}

function addToCatalogue(
  { file, placed }: OpenedSegment,
  manifest: Manifest,
  registry: SeriesRegistry,
): Segment {
  const number = segmentNumber(file.name);
  const counted = placed.filter(
    ({ deviceId }) => number >= (manifest.droppedDevices[deviceId]?.segment ?? 0),
  );
  const members = counted.map(({ deviceId, topic, chunk }) => {
    const series = seriesOf(registry.deviceOf(deviceId), topic);
    addChunk(series, chunk);
    return { series, chunk };
  });
  const bytes = (of: OpenedSegment['placed']) =>
    of.reduce((sum, { chunk }) => sum + chunk.length, 0);
  return { file, members, deadBytes: bytes(placed) - bytes(counted) };
}
