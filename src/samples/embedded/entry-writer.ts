// Entry writer: adds the rows of logged entries to the series of their devices, and finds samples that are stored already.
import type { LoggedEntry } from '../../log/logged-entry.ts';
import { dataOf } from '../../log/data-shape.ts';
import type { ComparedSample, Comparison, SampleStore } from '../sample-store.ts';
import type { DecodedChunks } from './chunks/decoded-chunks.ts';
import type { SeriesRegistry } from './rows/series-registry.ts';
import { type Device, isStored, seriesOf } from './rows/series.ts';
import type { Manifest } from './segments/manifest.ts';
import { missing } from '../../structures/missing.ts';

export interface EntryWriter extends Pick<SampleStore, 'write' | 'compare'> {
  /** The position behind the newest entry whose rows are visible. */
  readonly visiblePosition: () => number;
}

export interface EntryWriterParts {
  readonly registry: SeriesRegistry;
  readonly decoded: DecodedChunks;
  /** As the start found it: rows before `replayFrom` are sealed. */
  readonly manifest: Pick<Manifest, 'replayFrom' | 'droppedDevices'>;
  /** Called after the rows of new entries became visible. */
  readonly afterWrite: () => void;
  /** Undefined when further rows have room in memory, else resolves when that may have changed. */
  readonly room: () => Promise<void> | undefined;
}

const noneIdentical: ReadonlySet<number> = new Set();

export function createEntryWriter(parts: EntryWriterParts): EntryWriter {
  const { registry, decoded, manifest } = parts;
  let visiblePosition = manifest.replayFrom;
  for (const [deviceId, { position }] of Object.entries(manifest.droppedDevices))
    registry.dropped.set(deviceId, position);

  function add(entry: LoggedEntry): void {
    const { position, deviceId } = entry;
    if (position >= (registry.dropped.get(deviceId) ?? 0))
      addRows(registry, registry.deviceOf(deviceId), entry);
    registry.noteJournalled(entry.bytes);
    visiblePosition = Math.max(visiblePosition, position + 1);
    if (registry.dropped.size > 0) forgetDropped();
  }

  /** Entries come in the order of positions. */
  function forgetDropped(): void {
    for (const [deviceId, before] of registry.dropped)
      if (before <= visiblePosition) registry.dropped.delete(deviceId);
  }

  return {
    visiblePosition: () => visiblePosition,
    write: async (entries, origin) => {
      for (const entry of entries) add(entry);
      // Sealing would delay the start.
      if (origin === 'new') parts.afterWrite();
    },
    compare: async (deviceId, samples) => {
      for (let room = parts.room(); room !== undefined; room = parts.room()) await room;
      return comparison(registry.devices.get(deviceId), samples, decoded);
    },
  };
}

function comparison(
  device: Device | undefined,
  samples: readonly ComparedSample[],
  decoded: DecodedChunks,
): Comparison {
  if (device === undefined) return { identical: noneIdentical, nextOrder: 0 };
  let identical: Set<number> | undefined;
  for (const [i, { topic, timestamp, data }] of samples.entries()) {
    const series = device.topics.get(topic);
    if (series === undefined || !isStored(series, timestamp, data, decoded)) continue;
    identical ??= new Set();
    identical.add(i);
  }
  return { identical: identical ?? noneIdentical, nextOrder: device.nextOrder };
}

function addRows(
  registry: SeriesRegistry,
  device: Device,
  { firstOrder, position, rows }: LoggedEntry,
): void {
  const { samples, shapes, values } = rows;
  let valuesAt = 0;
  let order = firstOrder;
  for (const [i, sample] of samples.entries()) {
    const { stored, timestamp, topic, workspaceId, dataFlowId, meta: object } = sample;
    const shape = shapes[i] ?? missing('shape of a row');
    const series = stored ? seriesOf(device, topic) : undefined;
    // An entry that comes again after a restart may be sealed.
    if (series !== undefined && order > series.sealedOrder) {
      const origin = registry.origin(workspaceId, dataFlowId);
      const meta = object === undefined ? undefined : JSON.stringify(object);
      registry.addRow(
        series,
        { timestamp, order, shape, values, valuesAt, origin, meta },
        position,
      );
      if (series.crowd?.timestamp === timestamp)
        series.crowd.data.add(dataOf(shape, values.sourceFrom(valuesAt)));
    }
    valuesAt += shape.leaves.length;
    order += 1;
  }
  device.nextOrder = Math.max(device.nextOrder, order);
}
