// Reader of the delivery log: rows by connector or id, the newest of each delivery, and their records.
import { setImmediate as pause } from 'node:timers/promises';
import { createBoundedMap } from '../../structures/bounded-map.ts';
import type { Batch, LogWriter } from './log-writer.ts';
import { idMark, recordAt, type RecordPlace, type StoredDelivery } from './record.ts';
import type { DeliveryRow, RowCounts, RowsOf } from './row-table.ts';
import {
  type ClosedSegment,
  type DeliveryLogDamage,
  readRecords,
  type Segment,
  unreadable,
} from './segment.ts';

/** Rows between two pauses, in which other work runs. */
const rowsPerTurn = 5_000;

export interface Recovered {
  /** Deliveries that wait, in any order. */
  readonly pending: readonly DeliveryRow[];
  /** Ids of the deliveries of the journal from the position on that the log has. */
  readonly known: Set<string>;
}

export class LogReader {
  readonly #writer: LogWriter;
  readonly #blocks: BlockCache;

  /** `damaged` is called when a read encounters damage. */
  constructor(writer: LogWriter, blocksMax: number, damaged: (damage: DeliveryLogDamage) => void) {
    this.#writer = writer;
    this.#blocks = new BlockCache(blocksMax, damaged);
  }

  /** The record at a place; undefined when it cannot be read, which is reported. */
  async read(place: RecordPlace): Promise<StoredDelivery | undefined> {
    const { segment, offset, unwritten } = place.block;
    if (unwritten !== undefined) return recordAt(unwritten.bytes, place.at);
    const { closed, open } = this.#writer;
    const isWanted = ({ number }: { readonly number: number }) => number === segment;
    const path = (closed.find(isWanted) ?? [open].find((one) => one && isWanted(one)))?.path;
    const block = path === undefined ? undefined : await this.#blocks.read(path, offset);
    // It was moved while it was looked for.
    if (block === undefined && place.block.segment !== segment) return this.read(place);
    return block && recordAt(block, place.at);
  }

  /**
   * The newest row of ended deliveries of the connector, by id: of at least `min` that ended last,
   * or of all.
   */
  async endedOf(
    connectorId: string,
    min = Number.POSITIVE_INFINITY,
  ): Promise<Map<string, DeliveryRow>> {
    const { open, closed } = this.#writer;
    let left = min - (open?.tables.get(connectorId)?.counts.ended ?? 0);
    const wanted = new Set<number>();
    // From the newest segment on, so that the older ones of a busy connector need not be read.
    for (const { number, counts } of closed.toReversed()) {
      const own = counts.get(connectorId);
      if (own === undefined || left <= 0) continue;
      left -= own.ended;
      wanted.add(number);
    }
    return newest(this.#rowsOf(connectorId, false, (_counts, { number }) => wanted.has(number)));
  }

  /** The newest row of each delivery of the connector, by id. */
  newestOf(connectorId: string): Promise<Map<string, DeliveryRow>> {
    return newest(this.#rowsOf(connectorId, true));
  }

  /** The newest row of a delivery. */
  async find(id: string): Promise<DeliveryRow | undefined> {
    let found: DeliveryRow | undefined;
    const take = (row: DeliveryRow): void => {
      if (row.id === id && row.revision >= (found?.revision ?? 0)) found = row;
    };
    for (const segment of [...this.#writer.closed]) {
      for (const connectorId of segment.counts.keys()) {
        if (!segment.hasForeignIds && !id.startsWith(idMark(connectorId))) continue;
        const table = await segment.tableOf(connectorId);
        for (const row of table.find(id, rowsIn(segment, connectorId))) take(row);
      }
    }
    const { open } = this.#writer;
    if (open !== undefined)
      for (const [connectorId, table] of open.tables)
        for (const row of table.find(id, rowsInOpen(open, connectorId))) take(row);
    for (const batch of this.#writer.unwritten())
      for (const [connectorId, table] of batch.rows.tables)
        for (const row of table.find(id, rowsInBatch(batch, connectorId))) take(row);
    return found;
  }

  /** What a start must know. `from` is the journal position from which deliveries are repeated. */
  async recover(from: number): Promise<Recovered> {
    const pending: DeliveryRow[] = [];
    const known = new Set<string>();
    for (const connectorId of this.connectorIds()) {
      if (this.#hasPending(connectorId)) {
        const changed = this.#rowsOf(
          connectorId,
          true,
          (counts) => counts.pending + counts.revised > 0,
        );
        for (const row of (await newest(changed)).values())
          if (row.state === 'PENDING') pending.push(row);
      }
      const late = this.#rowsOf(
        connectorId,
        true,
        (_counts, { lastPosition }) => lastPosition >= from,
      );
      for await (const row of late) if (row.sequence >= from) known.add(row.id);
    }
    return { pending, known };
  }

  /** Connectors with records. */
  connectorIds(): ReadonlySet<string> {
    const { closed, open } = this.#writer;
    const ids = new Set(closed.flatMap(({ counts }) => [...counts.keys()]));
    for (const id of open?.tables.keys() ?? []) ids.add(id);
    for (const { rows } of this.#writer.unwritten())
      for (const id of rows.tables.keys()) ids.add(id);
    return ids;
  }

  #hasPending(connectorId: string): boolean {
    const { closed, open } = this.#writer;
    return (
      closed.some(({ counts }) => (counts.get(connectorId)?.pending ?? 0) > 0) ||
      (open?.tables.get(connectorId)?.counts.pending ?? 0) > 0 ||
      this.#writer.unwritten().some(({ rows }) => rows.tables.has(connectorId))
    );
  }

  /** The rows of the connector in the order of writing; without `pending` those that ended. */
  async *#rowsOf(
    connectorId: string,
    pending: boolean,
    isWanted: (counts: RowCounts, segment: ClosedSegment) => boolean = () => true,
  ): AsyncGenerator<DeliveryRow> {
    let left = rowsPerTurn;
    const segments = [...this.#writer.closed];
    const { open } = this.#writer;
    const unwritten = this.#writer.unwritten();
    for (const segment of segments) {
      const counts = segment.counts.get(connectorId);
      if (counts === undefined || !isWanted(counts, segment)) continue;
      const table = await segment.tableOf(connectorId);
      for (const row of table.read(rowsIn(segment, connectorId), { pending })) {
        yield row;
        if (--left > 0) continue;
        await pause();
        left = rowsPerTurn;
      }
    }
    const table = open?.tables.get(connectorId);
    if (open !== undefined && table !== undefined)
      yield* table.read(rowsInOpen(open, connectorId), { pending });
    for (const batch of unwritten) {
      const rows = batch.rows.tables.get(connectorId);
      if (rows !== undefined) yield* rows.read(rowsInBatch(batch, connectorId), { pending });
    }
  }
}

async function newest(rows: AsyncIterable<DeliveryRow>): Promise<Map<string, DeliveryRow>> {
  const found = new Map<string, DeliveryRow>();
  for await (const row of rows)
    if (row.revision >= (found.get(row.id)?.revision ?? 0)) found.set(row.id, row);
  return found;
}

function rowsIn({ number, owners }: ClosedSegment, connectorId: string): RowsOf {
  return { connectorId, blockAt: blocksOf(number), owners };
}

function rowsInOpen({ number, owners }: Segment, connectorId: string): RowsOf {
  return { connectorId, blockAt: blocksOf(number), owners: owners.list };
}

function rowsInBatch({ place, rows }: Batch, connectorId: string): RowsOf {
  return { connectorId, blockAt: () => place, owners: rows.owners.list };
}

function blocksOf(segment: number): RowsOf['blockAt'] {
  return (offset) => ({ segment, offset, unwritten: undefined });
}

/** The unpacked blocks that were read last, since neighbors are often read next. */
class BlockCache {
  readonly #blocks;
  readonly #damaged: (damage: DeliveryLogDamage) => void;

  constructor(blocksMax: number, damaged: (damage: DeliveryLogDamage) => void) {
    this.#blocks = createBoundedMap<string, Promise<Buffer | undefined>>(blocksMax);
    this.#damaged = damaged;
  }

  /** Undefined when the block cannot be read, which is reported, or its segment was removed. */
  read(path: string, offset: number): Promise<Buffer | undefined> {
    const key = `${path} ${offset}`;
    const known = this.#blocks.use(key);
    if (known !== undefined) return known;
    const block = this.#load(path, offset);
    this.#blocks.set(key, block);
    // What failed is tried again.
    block.then(
      (found) => found === undefined && this.#blocks.delete(key),
      () => this.#blocks.delete(key),
    );
    return block;
  }

  async #load(path: string, offset: number): Promise<Buffer | undefined> {
    const block = await readRecords(path, offset);
    if (block !== 'damaged') return block;
    this.#damaged(unreadable({ path, offset, bytes: 1 }));
    return undefined;
  }
}
