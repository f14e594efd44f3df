// Shipper of samples: cuts blocks of open rows in time, and says what of a block goes to which table.
import { setTimeout as delay } from 'node:timers/promises';
import { partitionOf } from '../../../model/node-messages.ts';
import { setTimer } from '../../../structures/timers.ts';
import {
  type BlockInsert,
  createBlockShipper,
  insertOfRows,
  type StoredRows,
} from '../../clickhouse/block-shipper.ts';
import type { Shard } from '../../clickhouse/shard.ts';
import { lateInsert } from './hour-inserts.ts';
import { type Block, blockLimits, dataOfRow, type OpenRow, type OpenRows } from './open-rows.ts';
import {
  pointKinds,
  pointsOfShape,
  pointsTable,
  samplesTable,
  shapesTable,
} from './sample-tables.ts';
import type { StateFile } from './shipping-state.ts';
import { createBoundedMap } from '../../../structures/bounded-map.ts';
import { RowBinary } from '../../clickhouse/statement-values.ts';

/**
 * Longer than the slot of a block, so that usually an entry of the next slot ends it and not the
 * timer.
 */
const cutAfterMs = blockLimits.slotMs + 50;

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

interface ShipperParts {
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
  const { openRows, file, failed } = parts;
  let cancelCut: (() => void) | undefined;
  let isClosed = false;

  const shipper = createBlockShipper<Block>(
    {
      first: openRows.first,
      // A block without rows only moves the position, which is saved with the next one.
      async begin({ rows, to }) {
        if (rows.length === 0 || (file.state.blockTo === to && file.isSaved)) return;
        await file.update({ blockTo: to });
      },
      inserts: (block) => sampleInserts(block, parts),
      async end(block) {
        const { to, nextOrder } = block;
        await file.update({ shipped: to, nextOrder, blockTo: null });
        openRows.shipped();
        parts.shipped(block);
      },
    },
    failed,
  );

  function cut(): void {
    cancelCut?.();
    cancelCut = undefined;
    openRows.cut();
    shipper.wake();
  }

  async function flush(): Promise<void> {
    const to = openRows.position();
    cut();
    await shipper.until(() => openRows.from() >= to);
  }

  return {
    wake() {
      if (isClosed) return;
      shipper.wake();
      cancelCut ??= setTimer(cut, cutAfterMs);
    },
    flush,
    failure: shipper.failure,
    attempted: shipper.attempted,
    async close(waitMsMax) {
      isClosed = true;
      cut();
      const waiting = new AbortController();
      const late = delay(waitMsMax, undefined, { signal: waiting.signal, ref: false });
      await Promise.race([flush(), late]).catch(failed);
      waiting.abort();
      await late.catch(() => undefined);
      await shipper.close();
    },
  };
}

function sampleInserts(
  block: Block,
  { shards, file, newShapes }: ShipperParts,
): ReadonlyMap<Shard, readonly BlockInsert[]> {
  const { journal } = file.state;
  const byShard = Map.groupBy(block.rows, ({ deviceId }) => shardOf(deviceId, shards));
  return new Map(
    [...byShard].map(([shard, rows]) => {
      const stored = storedRows(rows, journal);
      const idOf = (table: string): string => `heliograph-${journal}-${block.from}-${table}`;
      const inserts = [samplesTable, pointsTable].map((table) =>
        insertOfRows({
          id: idOf(table.name),
          table,
          rows,
          stored,
          encode: (some) =>
            table === samplesTable ? encodeSamples(some, journal) : encodePoints(some, journal),
        }),
      );
      const late = lateInsert(rows, journal, block);
      const ofShapes = shapesInsert(idOf('shapes'), rows, { journal, newShapes });
      return [shard, [...inserts, ...(late === undefined ? [] : [late]), ofShapes]];
    }),
  );
}

function storedRows(rows: readonly OpenRow[], journal: number): StoredRows<OpenRow> {
  let [from, to] = [Infinity, -Infinity];
  let [oldest, newest] = [Infinity, -Infinity];
  for (const { position, timestamp } of rows) {
    from = Math.min(from, position);
    to = Math.max(to, position);
    oldest = Math.min(oldest, timestamp);
    newest = Math.max(newest, timestamp);
  }
  return {
    columns: 'position, idx',
    where: `journal = ${journal} and position >= ${from} and position <= ${to} and ts >= ${oldest} and ts <= ${newest}`,
    nameOf: ({ position, index }) => [position, index],
  };
}

function shapesInsert(
  id: string,
  rows: readonly OpenRow[],
  { journal, newShapes }: { readonly journal: number; readonly newShapes: NewShapes },
): BlockInsert {
  const shapes = newShapes.of(rows);
  const insert = insertOfRows({
    id,
    table: shapesTable,
    rows: shapes,
    stored: undefined,
    encode: (some) => encodeShapes(some, journal),
  });
  return {
    id,
    async run(shard, isDoubtful) {
      await insert.run(shard, isDoubtful);
      newShapes.stored(shapes);
    },
  };
}

// Block encoding: open rows, and shapes that are new, as rows of the tables in ClickHouse.

function encodeSamples(rows: readonly OpenRow[], journal: number): RowBinary {
  const to = new RowBinary();
  for (const row of rows) {
    addPlace(to, row);
    to.int64(row.timestamp);
    addOrigin(to, row, journal);
    to.string(JSON.stringify(dataOfRow(row)));
    to.string(row.meta === undefined ? '' : JSON.stringify(row.meta));
    to.endRow();
  }
  return to;
}

function encodePoints(rows: readonly OpenRow[], journal: number): RowBinary {
  const to = new RowBinary();
  for (const row of rows)
    for (const { key, kind, leaf } of pointsOfShape(row.shape)) {
      addPlace(to, row);
      to.string(key);
      to.int64(row.timestamp);
      addOrigin(to, row, journal);
      to.uint8(kind);
      addValue(to, row, kind, leaf);
      to.endRow();
    }
  return to;
}

interface NewShape {
  readonly row: OpenRow;
  readonly shape: string;
}

function encodeShapes(shapes: readonly NewShape[], journal: number): RowBinary {
  const to = new RowBinary();
  for (const { row, shape } of shapes) {
    addPlace(to, row);
    to.string(shape);
    to.uint32(journal);
    to.int64(row.position);
    to.endRow();
  }
  return to;
}

function addPlace(to: RowBinary, { deviceId, topic }: OpenRow): void {
  to.uint16(partitionOf(deviceId));
  to.string(deviceId);
  to.string(topic);
}

function addOrigin(to: RowBinary, row: OpenRow, journal: number): void {
  to.uint32(journal);
  to.int64(row.position);
  to.uint32(row.index);
  to.int64(row.storedAt);
  to.string(row.workspaceId);
  to.string(row.dataFlowId ?? '');
}

function addValue(to: RowBinary, { values, valuesAt }: OpenRow, kind: number, leaf: number): void {
  if (leaf >= 0 && kind !== pointKinds.text) {
    to.float64(values.numberAt(valuesAt + leaf));
    to.string('');
    return;
  }
  to.float64(0);
  to.string(leaf < 0 ? '' : JSON.stringify(values.textAt(valuesAt + leaf)));
}

// New shapes: those of a device and topic that this process has not stored yet.

/** Devices whose stored shapes are remembered; those of others are stored again. */
const devicesMax = 200_000;
const shapesOfDeviceMax = 64;

export class NewShapes {
  readonly #known = createBoundedMap<string, Set<string>>(devicesMax);

  /** One of each, with its first row. */
  of(rows: readonly OpenRow[]): readonly NewShape[] {
    const found = new Map<string, NewShape>();
    for (const row of rows) {
      const name = nameOf(row);
      if (this.#known.use(row.deviceId)?.has(name) === true) continue;
      const key = JSON.stringify([row.deviceId, name]);
      if (!found.has(key)) found.set(key, { row, shape: row.shape.text });
    }
    return [...found.values()];
  }

  stored(shapes: readonly NewShape[]): void {
    for (const { row } of shapes) {
      const names = this.#known.get(row.deviceId) ?? new Set();
      if (names.size < shapesOfDeviceMax) names.add(nameOf(row));
      this.#known.set(row.deviceId, names);
    }
  }

  forget(deviceId: string): void {
    this.#known.delete(deviceId);
  }
}

function nameOf({ topic, shape }: OpenRow): string {
  return `${topic}\n${shape.text}`;
}
