// Embedded store: samples as columns, in memory and in the files of one folder of one process.
import { isDiskFull } from '../../log/disk.ts';
import { makeFolder } from '../../log/durable-file.ts';
import { problem } from '../../model/problem.ts';
import { join } from 'node:path';
import type { MovedBatch } from '../moved-samples.ts';
import type { SampleStore } from '../sample-store.ts';
import type { StoreSurroundings } from '../samples.ts';
import { createChunkSealer, type ChunkSealer } from './chunk-sealer.ts';
import { createChunkMakers } from './chunks/chunk-makers.ts';
import { createDecodedChunks } from './chunks/decoded-chunks.ts';
import { createEntryWriter } from './entry-writer.ts';
import { createActiveReads } from './queries/active-reads.ts';
import type { Slices } from './queries/bucket-query.ts';
import { mergeSome } from './retention/compaction.ts';
import { previewExpiry } from './retention/expiry-preview.ts';
import { dropDevice, dropExpired, type RetentionParts } from './retention/retention.ts';
import { usage } from './rows/key-statistics.ts';
import type { Device } from './rows/series.ts';
import { createSeriesRegistry, type SeriesRegistry } from './rows/series-registry.ts';
import { createLostSegments } from './segments/lost-segments.ts';
import { createSegmentSet } from './segments/segment-set.ts';
import { createStoreReads } from './store-reads.ts';
import { type StoreLimits, storeLimits } from './store-limits.ts';
import { createInterners, openSegments, openTables } from './store-loader.ts';
import { createTableMerger } from './memtables/table-merger.ts';
import { createTableSealer, type TableSealer } from './memtables/table-sealer.ts';
import type { DeviceNumbers } from './memtables/device-numbers.ts';
import { deadRowsOf } from './memtables/table-runs.ts';
import { createRunMakers } from './runs/run-makers.ts';

export interface EmbeddedStoreOptions extends StoreSurroundings {
  /** Where the segments are; made when it does not exist. */
  readonly directory: string;
  readonly limits?: Partial<StoreLimits>;
  /** When long work pauses; tests let it pause at every look. */
  readonly slices?: Slices;
}

export interface EmbeddedStore extends SampleStore {
  /** Seals and commits all rows, as closing does. */
  readonly sealAll: () => Promise<void>;
  /** Resolves when the background work in progress has ended. */
  readonly idle: () => Promise<void>;
  /** Of all devices that have rows, and maybe some others, sorted. */
  readonly deviceIds: () => readonly string[];
  /** All rows of the device with their origin, oldest first, those of one instant as they were stored. */
  readonly exportMoved: (deviceId: string) => AsyncIterable<MovedBatch>;
}

const turns: Slices = {
  clock: () => performance.now(),
  pause: () => new Promise((resolve) => setImmediate(resolve)),
};

/** Opens or creates the store of the folder: reads what is sealed. The log has the rest. */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<EmbeddedStore> {
  const { directory, damaged, failed, slices = turns } = options;
  await makeFolder(directory);
  const limits = { ...storeLimits, ...options.limits };
  const registry = createSeriesRegistry(limits);
  const interners = createInterners(registry, options.shapes);
  const { logStart } = options;
  const opened = await openSegments(registry, { directory, interners, logStart, repair: true });
  for (const place of opened.damage) damaged(place);
  const readers = createActiveReads();
  const { whenUnread } = readers;
  const { tables, tableRuns } = openTables(
    { directory, interners, limits, damaged, whenUnread },
    opened,
  );
  const decoded = createDecodedChunks((chunk, reason) => {
    damaged({ kind: 'chunk', path: join(directory, chunk.file.name), reason });
  });
  const segments = createSegmentSet({
    directory,
    ...opened,
    deadRows: (added) => deadRowsOf(tables, added),
    whenUnread,
  });
  const { schemas } = interners;
  const committed = () => options.committed(segments.manifest().replayFrom);
  const state = { closed: false };
  const writer = createEntryWriter({
    registry,
    tables,
    decoded,
    limits,
    manifest: opened.manifest,
    afterWrite: () => {
      sealer.wake();
      tableSealer.wake();
    },
    room: () => sealer.roomForRows() ?? tableSealer.room(),
  });
  const tablesFrom = tables.replayFrom;
  const chunkMakers = createChunkMakers({ schemas, limits, failed });
  const sealer: ChunkSealer = createChunkSealer({
    registry,
    makers: chunkMakers,
    segments,
    slices,
    limits,
    visiblePosition: writer.visiblePosition,
    tablesFrom,
    committed,
    failed,
    merge: async () => {
      while (!state.closed && (await segments.exclusive(() => mergeSome(changing))));
    },
  });
  const makers = createRunMakers(options.shapes.fromText, limits);
  const onTables = {
    tables,
    tableRuns,
    registry,
    segments,
    chunks: sealer,
    chunkMakers,
    makers,
    slices,
    limits,
    origins: registry.origins,
    committed,
    failed,
  };
  const merger = createTableMerger({
    ...onTables,
    damaged: (path, reason) => damaged({ kind: 'page', path, reason }),
  });
  const tableSealer: TableSealer = createTableSealer({ ...onTables, sealed: merger.wake });
  const changing: RetentionParts = {
    segments,
    registry,
    decoded,
    slices,
    limits,
    schemas,
    sealer,
    ofTables: { tables, sealer: tableSealer, merger },
    replayFrom: () => Math.min(sealer.oldestUnsealed(), tablesFrom()),
  };

  function deviceOf(id: string): Device | undefined {
    if (state.closed) throw problem('stopping');
    return registry.devices.get(id);
  }

  const reads = createStoreReads({
    deviceOf,
    tables,
    decoded,
    lost: createLostSegments(opened.manifest),
    readers,
    slices,
  });

  async function idle(): Promise<void> {
    await tableSealer.idle();
    await merger.idle();
    await sealer.idle();
  }

  async function sealAll(): Promise<void> {
    await tableSealer.sealAll();
    await sealer.sealAll();
  }

  sealer.wake();
  return {
    sealAll,
    idle,
    deviceIds: () => deviceIdsOf(registry, tables.numbers),
    replayFrom: async () => opened.manifest.replayFrom,
    write: writer.write,
    compare: writer.compare,
    numbered: writer.numbered,
    ends: writer.ends,
    ...reads,
    mayHold: async (deviceId) =>
      registry.notDropped.has(deviceId) || (await reads.topics(deviceId)).length > 0,
    usage: async () => usage(registry, tables),
    previewExpiry: (workspaceId, rules) =>
      previewExpiry({ registry, tables, sealer, segments, slices }, workspaceId, rules),
    retain: (rules) => dropExpired(changing, rules),
    dropDevice: (deviceId, before) => dropDevice(changing, deviceId, before),
    close: async () => {
      if (state.closed) return;
      state.closed = true;
      try {
        await sealAtEnd(sealAll, failed);
        await merger.idle();
      } finally {
        whenUnread(segments.close);
        await makers.close();
        await chunkMakers.close();
      }
    },
  };
}

function deviceIdsOf(
  { devices }: SeriesRegistry,
  { count, idOf }: DeviceNumbers,
): readonly string[] {
  const ids = new Set(Array.from(devices.values(), ({ id }) => id));
  for (let number = 0; number < count(); number++) {
    const id = idOf(number);
    if (id !== undefined) ids.add(id);
  }
  return [...ids].sort();
}

/**
 * What cannot be sealed stays in the log and is written again by the next start; rejects unless the
 * disk is merely full.
 */
async function sealAtEnd(
  sealAll: () => Promise<void>,
  failed: (error: unknown) => void,
): Promise<void> {
  try {
    await sealAll();
  } catch (error) {
    failed(error);
    if (!isDiskFull(error)) throw error;
  }
}
