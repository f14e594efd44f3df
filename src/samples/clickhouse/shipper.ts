// Shipper: inserts blocks of open rows into ClickHouse, each exactly once, and saves how far it is.
import { setTimeout as delay } from 'node:timers/promises';
import type { RowBinary } from '../../clickhouse/row-binary.ts';
import { mayHaveStored } from '../../clickhouse/clickhouse-error.ts';
import type { Shard } from '../../clickhouse/shard.ts';
import type { TableDefinition } from '../../clickhouse/table.ts';
import { partitionOf } from '../../model/device-partition.ts';
import { createRetryingWorker } from '../../structures/retrying-worker.ts';
import { setTimer } from '../../structures/timers.ts';
import { encodePoints, encodeSamples, encodeShapes } from './block-encoding.ts';
import { findInserted } from './inserted-rows.ts';
import type { NewShapes } from './new-shapes.ts';
import type { OpenRow } from './open-row.ts';
import { type Block, blockLimits, type OpenRows } from './open-rows.ts';
import { columnNames, pointsTable, samplesTable, shapesTable } from './sample-tables.ts';
import type { StateFile } from './shipping-state.ts';

const retryDelaysMs = [250, 1_000, 3_000] as const;
/**
 * Longer than the slot of a block, so that usually an entry of the next slot ends it and not the
 * timer.
 */
const cutAfterMs = blockLimits.slotMs + 50;
/** Before a look: a server that hung reads what is in its sockets first. */
const settleMs = 1_000;

export interface Shipper {
  /** Call after entries were added. */
  wake(): void;
  /** Ships everything that was added before the call. Rejects with what the last attempt failed with. */
  flush(): Promise<void>;
  /** Why nothing is shipped now; undefined while it works. */
  failure(): Error | undefined;
  /** Resolves when a block was shipped or an attempt has failed. */
  attempted(): Promise<void>;
  /** Ships what it can within the time. */
  close(waitMsMax: number): Promise<void>;
}

export interface ShipperParts {
  readonly openRows: OpenRows;
  readonly shards: readonly Shard[];
  readonly file: StateFile;
  readonly newShapes: NewShapes;
  /** Called when everything before its end is in ClickHouse. */
  readonly shipped: (block: Block) => void;
  readonly failed: (error: unknown) => void;
}

export function shardOf(deviceId: string, shards: readonly Shard[]): Shard {
  return shards[partitionOf(deviceId) % shards.length]!;
}

export function createShipper(parts: ShipperParts): Shipper {
  const { openRows, failed } = parts;
  let failure: Error | undefined;
  let cancelCut: (() => void) | undefined;
  let attempt = Promise.withResolvers<void>();
  let isClosed = false;

  const worker = createRetryingWorker({
    hasWork: () => openRows.first() !== undefined,
    work: async (progressed) => {
      for (let block = openRows.first(); block !== undefined; block = openRows.first()) {
        await shipBlock(block, parts);
        failure = undefined;
        progressed();
        ended();
      }
    },
    failed: (error) => {
      failure = error instanceof Error ? error : new Error(String(error));
      failed(error);
      ended();
    },
    retryDelaysMs,
    setTimer,
  });

  function ended(): void {
    attempt.resolve();
    attempt = Promise.withResolvers();
  }

  function cut(): void {
    cancelCut?.();
    cancelCut = undefined;
    openRows.cut();
    worker.wake();
  }

  async function flush(): Promise<void> {
    const to = openRows.position();
    cut();
    worker.retryNow();
    while (openRows.from() < to) {
      await attempt.promise;
      if (failure !== undefined) throw failure;
    }
  }

  return {
    wake() {
      if (isClosed) return;
      worker.wake();
      cancelCut ??= setTimer(cut, cutAfterMs);
    },
    flush,
    failure: () => failure,
    attempted: () => attempt.promise,
    async close(waitMsMax) {
      isClosed = true;
      cut();
      const waiting = new AbortController();
      const late = delay(waitMsMax, undefined, { signal: waiting.signal, ref: false });
      await Promise.race([flush(), late]).catch(failed);
      waiting.abort();
      await late.catch(() => undefined);
      await worker.close();
    },
  };
}

/** A block without rows only moves the position, which is saved with the next one. */
async function shipBlock(block: Block, parts: ShipperParts): Promise<void> {
  const { file, openRows, shipped } = parts;
  const { to, nextOrder } = block;
  if (block.rows.length > 0) {
    if (file.state.blockTo !== to) await file.update({ blockTo: to });
    try {
      await insertBlock(block, parts);
    } catch (error) {
      block.isDoubtful ||= mayHaveStored(error);
      throw error;
    }
  }
  await file.update({ shipped: to, nextOrder, blockTo: null });
  openRows.shipped();
  shipped(block);
}

async function insertBlock(block: Block, { shards, file, newShapes }: ShipperParts): Promise<void> {
  const { journal } = file.state;
  if (block.isDoubtful) await delay(settleMs);
  for (const shard of shards) {
    const rows = block.rows.filter((row) => shardOf(row.deviceId, shards) === shard);
    if (rows.length === 0) continue;
    const into: IntoShard = { shard, block, rows, journal };
    await insertOnce(into, samplesTable, encodeSamples);
    await insertOnce(into, pointsTable, encodePoints);
    // Rows of shapes may be there several times.
    const shapes = newShapes.of(rows);
    if (shapes.length > 0)
      await insertRows(shard, shapesTable, encodeShapes(shapes, journal), undefined);
    newShapes.stored(shapes);
  }
}

interface IntoShard {
  readonly shard: Shard;
  readonly block: Block;
  /** Those of the shard. */
  readonly rows: readonly OpenRow[];
  readonly journal: number;
}

async function insertOnce(
  { shard, block, rows, journal }: IntoShard,
  table: TableDefinition,
  encode: (rows: readonly OpenRow[], journal: number) => RowBinary,
): Promise<void> {
  const queryId = `heliograph-${journal}-${block.from}-${table.name}`;
  const missing = block.isDoubtful
    ? await findInserted({ shard, table: table.name, journal, rows, queryId })
    : rows;
  await insertRows(shard, table, encode(missing, journal), queryId);
}

async function insertRows(
  shard: Shard,
  table: TableDefinition,
  encoded: RowBinary,
  queryId: string | undefined,
): Promise<void> {
  if (encoded.rows === 0) return;
  await shard.insert({
    table: table.name,
    columns: columnNames(table),
    rows: encoded.bytes,
    ...(queryId !== undefined && { queryId }),
  });
}
