// Samples to ClickHouse: all rows of the data folder become rows of a journal with a number for itself.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ReadEntry } from '../log/logged-entry.ts';
import { DataFolderError } from '../data-folder/data-folder.ts';
import { dayMs } from '../model/instant.ts';
import { openClickHouseUplinks } from '../raw-uplinks/clickhouse/clickhouse-uplinks.ts';
import { movedUplinks } from '../raw-uplinks/clickhouse/moved-uplinks.ts';
import { storedUplinks } from '../raw-uplinks/embedded/stored-uplinks.ts';
import { createUplinkSum } from '../raw-uplinks/uplink-sum.ts';
import { openClickHouseStore } from '../samples/clickhouse/clickhouse-store.ts';
import { takeJournalNumber } from '../samples/clickhouse/journal-number.ts';
import { hasRows, partsWithoutHours, storedSums } from '../samples/clickhouse/moved-rows.ts';
import { shardOf } from '../samples/clickhouse/shipper.ts';
import { type ShippingState, shippingFile } from '../samples/clickhouse/shipping-state.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../samples/embedded/embedded-store.ts';
import {
  createMovedEntries,
  createSums,
  differingParts,
  type PartSums,
} from '../samples/moved-samples.ts';
import { type OpenSamples, openSamples } from '../samples/samples.ts';
import { createShapeInterner } from '../log/data-shape.ts';
import { replaceChecked } from '../log/durable-file.ts';
import { missing } from '../structures/missing.ts';
import {
  endMove,
  type MovedCounts,
  type MovedParts,
  type MoveFile,
  moveFolder,
  openMove,
  readMove,
  setAside,
} from './samples-move.ts';

/** Rows that wait for ClickHouse. */
const openRowsMax = 60_000;
const openBytesMax = 32 * 1024 * 1024;

/**
 * Moves, compares, and lets the folder use ClickHouse. Continues an interrupted move. Throws
 * DataFolderError when the tables have other rows.
 */
export async function moveToClickHouse(parts: MovedParts): Promise<MovedCounts> {
  const samples = join(parts.dataDirectory, 'samples');
  const begun = await readMove(samples);
  if (begun?.isCompared === true) {
    await useClickHouse(parts, await openMove(samples, begun));
    return { samples: 0, uplinks: 0, differing: [], unreadable: [] };
  }
  const source = await openSamples({
    directory: samples,
    now: parts.now,
    openStore: (surroundings) =>
      openEmbeddedStore({ directory: join(samples, 'segments'), ...surroundings }),
  });
  try {
    const file = await beginMove(parts, source, samples);
    const moved = await moveRows(parts, source, file.move.startedAt);
    const uplinks = await moveUplinks(parts, file);
    const stored = await storedSums(parts.clickHouse, '');
    const withoutHours = await partsWithoutHours(parts.clickHouse);
    const parted = new Set([...differingParts(moved.sums, stored), ...withoutHours]);
    const differing = [...parted].map((part) => `devices of partition ${part}`);
    if (!uplinks.areSame) differing.push('raw uplinks');
    const counts = { samples: moved.samples, uplinks: uplinks.count, differing };
    if (differing.length === 0) {
      await file.update({ isCompared: true });
      await source.close();
      await useClickHouse(parts, file);
    }
    return { ...counts, unreadable: [...moved.unreadable, ...uplinks.unreadable] };
  } finally {
    await source.close();
  }
}

/** The state of the move that was interrupted, or of a new one. */
async function beginMove(
  { clickHouse, now }: MovedParts,
  { log }: OpenSamples<EmbeddedStore>,
  samples: string,
): Promise<MoveFile> {
  const { position } = log;
  const begun = await readMove(samples);
  if (begun !== undefined && (begun.to !== 'clickhouse' || begun.position !== position))
    throw new DataFolderError(
      `The folder has changed since the migration started. Delete ${join(samples, moveFolder)} and the ClickHouse tables, and start over.`,
    );
  if (begun !== undefined) return openMove(samples, begun);
  if (await hasRows(clickHouse))
    throw new DataFolderError(
      'The ClickHouse database already contains samples. Nothing was changed. Set SAMPLES_URL to an empty database.',
    );
  const [first = missing('shard')] = clickHouse.shards;
  const journal = await takeJournalNumber(first, now());
  const state = { position, journal, writtenTo: 0, isCompared: false };
  return openMove(samples, { to: 'clickhouse', startedAt: now(), ...state });
}

interface MovedRows {
  readonly samples: number;
  readonly sums: PartSums;
  readonly unreadable: readonly string[];
}

/** Rows are stored as of the begin of the move: after them comes what is stored later. */
async function moveRows(
  { dataDirectory, clickHouse, progress }: MovedParts,
  { store: source }: OpenSamples<EmbeddedStore>,
  storedAt: number,
): Promise<MovedRows> {
  const shapes = createShapeInterner();
  const store = await openClickHouseStore({
    directory: join(dataDirectory, 'samples', moveFolder),
    ...{ clickhouse: clickHouse, now: () => storedAt, shapes, logStart: undefined },
    damaged: () => undefined,
    // `flush` rejects with it.
    failed: () => undefined,
    committed: async () => undefined,
  });
  try {
    const from = await store.replayFrom();
    const entries = createMovedEntries({ shapes, position: 0, storedAt });
    const sums = createSums();
    const unreadable = new Set<string>();
    const total = [...(await source.usage()).values()].reduce(
      (sum, { samples }) => sum + samples,
      0,
    );
    let samples = 0;
    let openBytes = 0;
    const write = async (entry: ReadEntry): Promise<void> => {
      if (entry.position < from) return;
      await store.write([entry], 'new');
      openBytes += entry.bytes;
      if (store.figures().openRows < openRowsMax && openBytes < openBytesMax) return;
      await store.flush();
      openBytes = 0;
    };
    for (const deviceId of source.deviceIds())
      for await (const batch of source.exportMoved(deviceId)) {
        for (const { place } of batch.unreadable) unreadable.add(place);
        if (batch.samples.length === 0) continue;
        sums.add(batch.samples);
        samples += batch.samples.length;
        await write(entries.next(deviceId, batch.samples));
        progress({ samples, total });
      }
    await store.flushHours();
    return { samples, sums: sums.sums(), unreadable: [...unreadable] };
  } finally {
    await store.close();
  }
}

interface ComparedUplinks {
  readonly count: number;
  readonly areSame: boolean;
  readonly unreadable: readonly string[];
}

async function moveUplinks(
  { dataDirectory, clickHouse, movesUplinks }: MovedParts,
  { move }: MoveFile,
): Promise<ComparedUplinks> {
  const directory = join(dataDirectory, 'uplinks');
  const target = await openClickHouseUplinks({
    clickHouse,
    shardOf: (deviceId) => shardOf(deviceId, clickHouse.shards),
    ...{ journal: move.journal, position: move.position },
    // No uplink of any time comes later.
    now: () => Number.POSITIVE_INFINITY,
    retentionMs: Number.POSITIVE_INFINITY,
    bytesMax: Number.POSITIVE_INFINITY,
    failed: () => undefined,
    // Old uplinks in slots of seconds would be very many blocks.
    limits: { slotMs: dayMs },
  });
  try {
    if (!movesUplinks || !existsSync(directory)) return { count: 0, areSame: true, unreadable: [] };
    const unreadable = new Set<string>();
    const damaged = ({ path }: { readonly path: string }) => void unreadable.add(path);
    const sent = createUplinkSum();
    for await (const uplinks of storedUplinks(directory, damaged)) {
      const through = (uplinks.at(-1)?.position ?? 0) + 1;
      await target.add(uplinks, through);
      for (const uplink of uplinks) sent.add(uplink);
    }
    await target.syncWhenDue();
    const stored = createUplinkSum();
    for await (const uplinks of movedUplinks(clickHouse, move.journal))
      for (const uplink of uplinks) stored.add(uplink);
    const areSame = sent.text() === stored.text();
    return { count: sent.count(), areSame, unreadable: [...unreadable] };
  } finally {
    await target.close();
  }
}

/** From here on the folder names ClickHouse as the place of its samples. */
async function useClickHouse({ dataDirectory }: MovedParts, { move }: MoveFile): Promise<void> {
  const samples = join(dataDirectory, 'samples');
  const { position, journal, startedAt } = move;
  const state: ShippingState = {
    ...{ journal, shipped: position, nextOrder: 0, blockTo: null, dropped: [] },
    hours: { to: position, storedFrom: startedAt, blockTo: null },
  };
  await replaceChecked(join(samples, shippingFile), JSON.stringify(state));
  await setAside(samples, 'segments', `segments-until-${startedAt}`);
  await setAside(dataDirectory, 'uplinks', `uplinks-until-${startedAt}`);
  await endMove(samples);
}
