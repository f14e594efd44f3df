// Shipper of samples: cuts blocks of open rows in time, says what of a block goes to which table, and keeps how far they are.
import { setTimeout as delay } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { partitionOf } from '../../../model/node-messages.ts';
import { setTimer } from '../../../structures/timers.ts';
import {
  type BlockInsert,
  BlockShipper,
  insertOfRows,
  type StoredRows,
} from '../../clickhouse/block-shipper.ts';
import type { Shard } from '../../clickhouse/replica.ts';
import { lateInsert } from './hour-inserts.ts';
import { type Block, blockLimits, dataOfRow, type OpenRow, type OpenRows } from './open-rows.ts';
import { pointKinds, pointsOfShape, sampleTables } from './sample-tables.ts';
import { createBoundedMap } from '../../../structures/caches.ts';
import { int64, listOf, quoted, RowBinary } from '../../clickhouse/statement-values.ts';
import type { EpochMs } from '../../../model/instant.ts';
import { readChecked, replaceChecked } from '../../log/durable-file.ts';
import { columnNames } from '../../clickhouse/clickhouse.ts';
import { isInRange } from '../../../model/sample-changes.ts';
import type { LoggedEntry } from '../../log/logged-entry.ts';
import type { RemovalOfJournal } from '../remote-pending-samples.ts';

/**
 * Longer than the slot of a block, so that usually an entry of the next slot ends it and not the
 * timer.
 */
const cutAfterMs = blockLimits.slotMs + 50;

export function shardOf(deviceId: string, shards: readonly Shard[]): Shard {
  return shards[partitionOf(deviceId) % shards.length]!;
}

export class Shipper {
  readonly #openRows: OpenRows;
  readonly #failed: (error: unknown) => void;
  readonly #blocks: BlockShipper<Block>;
  #cancelCut: (() => void) | undefined;
  #isClosed = false;

  constructor(
    shards: readonly Shard[],
    openRows: OpenRows,
    file: StateFile,
    newShapes: NewShapes,
    /** Called when everything before its end is in ClickHouse. */
    shipped: (block: Block) => void,
    failed: (error: unknown) => void,
  ) {
    this.#openRows = openRows;
    this.#failed = failed;
    this.#blocks = new BlockShipper<Block>(
      {
        first: () => openRows.first(),
        // A block without rows only moves the position, which is saved with the next one.
        async begin({ rows, to }) {
          if (rows.length === 0 || (file.state.blockTo === to && file.isSaved)) return;
          await file.update({ blockTo: to });
        },
        inserts: (block) => sampleInserts(block, shards, file.state.journal, newShapes),
        async end(block) {
          const { to, nextOrder } = block;
          await file.update({ shipped: to, nextOrder, blockTo: null });
          openRows.shipped();
          shipped(block);
        },
      },
      failed,
    );
  }

  /** Call after entries were added. */
  wake(): void {
    if (this.#isClosed) return;
    this.#blocks.wake();
    this.#cancelCut ??= setTimer(() => this.#cut(), cutAfterMs);
  }

  /** Ships everything that was added before the call. Rejects with what the last attempt failed with. */
  async flush(): Promise<void> {
    const to = this.#openRows.position();
    this.#cut();
    await this.#blocks.until(() => this.#openRows.from() >= to);
  }

  /** Why nothing is shipped now; undefined while it works. */
  failure(): Error | undefined {
    return this.#blocks.failure();
  }

  /** Resolves when a block was shipped or an attempt has failed. */
  attempted(): Promise<void> {
    return this.#blocks.attempted();
  }

  /** Ships what it can within the time. */
  async close(waitMsMax: number): Promise<void> {
    this.#isClosed = true;
    this.#cut();
    const waiting = new AbortController();
    const late = delay(waitMsMax, undefined, { signal: waiting.signal, ref: false });
    await Promise.race([this.flush(), late]).catch(this.#failed);
    waiting.abort();
    await late.catch(() => undefined);
    await this.#blocks.close();
  }

  #cut(): void {
    this.#cancelCut?.();
    this.#cancelCut = undefined;
    this.#openRows.cut();
    this.#blocks.wake();
  }
}

function sampleInserts(
  block: Block,
  shards: readonly Shard[],
  journal: number,
  newShapes: NewShapes,
): ReadonlyMap<Shard, readonly BlockInsert[]> {
  const byShard = Map.groupBy(block.rows, ({ deviceId }) => shardOf(deviceId, shards));
  return new Map(
    [...byShard].map(([shard, rows]) => {
      const stored = storedRows(rows, journal);
      const idOf = (table: string): string => `heliograph-${journal}-${block.from}-${table}`;
      const inserts = [sampleTables.samples, sampleTables.points].map((table) =>
        insertOfRows({
          id: idOf(table.name),
          table,
          rows,
          stored,
          encode: (some) =>
            table === sampleTables.samples
              ? encodeSamples(some, journal)
              : encodePoints(some, journal),
        }),
      );
      const late = lateInsert(rows, journal, block);
      const ofShapes = shapesInsert(idOf('shapes'), rows, journal, newShapes);
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
  journal: number,
  newShapes: NewShapes,
): BlockInsert {
  const shapes = newShapes.of(rows);
  const insert = insertOfRows({
    id,
    table: sampleTables.shapes,
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

// Shipping state: how far the journal of the folder is in ClickHouse, kept in one small file.

/** In the folder of the samples. */
export const shippingFile = 'shipping.json';

export interface ShippingState {
  /** Number of the journal among those that write to the tables. */
  readonly journal: number;
  /** Everything before this position is in ClickHouse. */
  readonly shipped: number;
  /** Every replica has everything before; `shipped` when it is missing. */
  readonly released?: number;
  /** See `Comparison.nextOrder`; of the entries before `shipped`. */
  readonly nextOrder: number;
  /** The end of the block that is being inserted: it must be cut there again. Null without one. */
  readonly blockTo: number | null;
  readonly hours: {
    /** Hours contain everything before this position. */
    readonly to: number;
    /** Everything behind was stored at or after this time. */
    readonly storedFrom: EpochMs;
    /** The end of the block that is being inserted; null without one. */
    readonly blockTo: number | null;
  };
  /** Devices that were dropped, with the position before which their rows are deleted. */
  readonly dropped: readonly (readonly [deviceId: string, before: number])[];
  /** Ranges of devices of which ClickHouse still has rows. */
  readonly removed?: readonly (readonly [deviceId: string, removals: readonly Removal[]])[];
  /** Those whose rows are deleted, while the journal may have their entries and gives them again. */
  readonly gone?: readonly (readonly [deviceId: string, before: number])[];
}

/** Of a new folder. */
function newShippingState(journal: number): ShippingState {
  const hours = { to: 0, storedFrom: 0, blockTo: null };
  return { journal, shipped: 0, nextOrder: 0, blockTo: null, hours, dropped: [] };
}

/** Undefined for a folder that never shipped. */
export async function readState(path: string): Promise<ShippingState | 'damaged' | undefined> {
  const found = await readChecked(path);
  if (found === undefined || found === 'damaged') return found;
  return JSON.parse(found.text) as ShippingState;
}

export class StateFile {
  readonly #path: string;
  readonly #replaced: ((contents: string) => Promise<void>) | undefined;
  #state: ShippingState;
  #saved: ShippingState;
  #writing: Promise<void> = Promise.resolve();

  private constructor(
    path: string,
    state: ShippingState,
    replaced: ((contents: string) => Promise<void>) | undefined,
  ) {
    this.#path = path;
    this.#state = state;
    this.#saved = state;
    this.#replaced = replaced;
  }

  /**
   * `takeNumber` gives the journal of a new folder its number. `replaced` is called with each state
   * that was written, and is waited for.
   */
  static async open(
    path: string,
    takeNumber: () => Promise<number>,
    replaced?: (contents: string) => Promise<void>,
  ): Promise<StateFile> {
    const found = await readState(path);
    if (found === 'damaged')
      throw new Error(
        `${path} is damaged: restore the data folder from its backup, together with ClickHouse`,
      );
    const state = found ?? newShippingState(await takeNumber());
    if (found === undefined) await replaceChecked(path, JSON.stringify(state));
    return new StateFile(path, state, replaced);
  }

  /** As it is on disk, or being written. */
  get state(): ShippingState {
    return this.#state;
  }

  /** False while changes are written, and after an update that has failed. */
  get isSaved(): boolean {
    return this.#saved === this.#state;
  }

  /** Resolves when the changes are on disk, and in the copy of the folder if there is one. */
  async update(changes: Partial<ShippingState>): Promise<void> {
    const next = { ...this.#state, ...changes };
    this.#state = next;
    const text = JSON.stringify(next);
    this.#writing = this.#writing
      .catch(() => undefined)
      .then(() => replaceChecked(this.#path, text))
      .then((contents) => this.#replaced?.(contents));
    await this.#writing;
    this.#saved = next;
  }
}

// Journal number: given once to a data folder, by the ClickHouse that its rows go to.

const attemptsMax = 20;
const retryMsMax = 200;

/** The next free number. Of several folders that take one number at a time, at most one keeps it. */
export async function takeJournalNumber(shard: Shard, now: number): Promise<number> {
  const folder = randomUUID();
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const [last] = await shard.select<{ newest: number }>(
      'select max(journal) as newest from journals',
    );
    const journal = (last?.newest ?? 0) + 1;
    const row = new RowBinary();
    row.uint32(journal);
    row.string(folder);
    row.int64(now);
    row.endRow();
    await shard.insert({
      table: sampleTables.journals.name,
      columns: columnNames(sampleTables.journals),
      rows: row.bytes,
    });
    // Two folders that each see one holder would both have looked before the other wrote.
    const holders = await shard.select<{ folder: string }>(
      `select folder from journals where journal = ${journal}`,
    );
    if (holders.length === 1) return journal;
    await delay(Math.random() * retryMsMax);
  }
  throw new Error(`No journal number is free after ${attemptsMax} attempts`);
}

// Removals: ranges of samples that replacements removed and ClickHouse still has, as conditions for its rows and for open ones.

export type Removal = RemovalOfJournal;

/** By device. */
export type RemovalsByDevice = ReadonlyMap<string, readonly Removal[]>;

/** What the entry removes. */
export function removalsOf(
  { position, storedAt, replaces }: LoggedEntry,
  journal: number,
): readonly Removal[] {
  const end = { journal, position: replaces?.before?.position ?? position, storedAt };
  return (replaces?.ranges ?? []).map((range) => ({ ...range, ...end }));
}

export function isRemoved(removals: readonly Removal[], row: OpenRow, ofJournal: number): boolean {
  return removals.some(
    (removal) =>
      isInRange(removal, row.topic, row.timestamp) &&
      (ofJournal === removal.journal
        ? row.position < removal.position
        : row.storedAt <= removal.storedAt),
  );
}

/** A condition for the removed rows of a device, in the tables of samples and points. */
export function removedText(deviceId: string, removals: readonly Removal[]): string {
  const ranges = removals.map(({ topics, from, to, journal, position, storedAt }) => {
    const ofTopics = topics === null ? '' : ` and topic in ${listOf(topics)}`;
    return `(ts >= ${int64(from)} and ts < ${int64(to)}${ofTopics} and if(journal = ${journal}, position < ${position}, storedAt <= ${int64(storedAt)}))`;
  });
  return `(device = ${quoted(deviceId)} and (${ranges.join(' or ')}))`;
}
