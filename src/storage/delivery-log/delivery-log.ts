// Delivery log: outcomes of deliveries and deliveries that wait for long, in append-only segments (contract 35).
import { setImmediate as pause } from 'node:timers/promises';
import { makeFolder } from '../log/durable-file.ts';
import {
  deliveryLogLimits,
  type DeliveryLogLimits,
  idMark,
  recordAt,
  type RecordPlace,
  type StoredDelivery,
} from './record.ts';
import {
  type ClosedSegment,
  type DeliveryLogDamage,
  findSegments,
  type FoundSegments,
  readRecords,
  type Segment,
  unlessDiskFull,
  unreadable,
} from './segment.ts';
import { type Batch, type DeliveryLogOptions, LogWriter } from './log-writer.ts';
import type { DeliveryRow, RowCounts, RowsOf } from './row-table.ts';
import { createBoundedMap } from '../../structures/caches.ts';
import type { EpochMs } from '../../model/instant.ts';
import { removeSegment } from '../block-log/segment-files.ts';

// Reader of the delivery log: rows by connector or id, the newest of each delivery, and their records.

/** Rows between two pauses, in which other work runs. */
const rowsPerTurn = 5_000;

interface Recovered {
  /** Deliveries that wait, in any order. */
  readonly pending: readonly DeliveryRow[];
  /** Ids of the deliveries of the journal from the position on that the log has. */
  readonly known: Set<string>;
}

class LogReader {
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

// Compaction of the delivery log: copies what is needed of old segments to the open one and removes them.

/** What must stay. */
interface Needs {
  /** Deliveries of journal entries from here on can be repeated, and are recognized by their records. */
  readonly followedTo: number;
  /** Whether the connector exists. */
  readonly isKnown: (connectorId: string) => boolean;
  /** How many deliveries wait in each segment, by its number. */
  readonly waitingCounts: () => ReadonlyMap<number, number>;
  /** The deliveries that wait in a segment, by `placeKey`. */
  readonly waitingIn: (segment: number) => ReadonlyMap<string, { place?: RecordPlace | undefined }>;
  /** Devices that were deleted; every segment that names one is copied without them. */
  readonly deletedDevices?: ReadonlySet<string>;
}

export function placeKey({ block: { segment, offset }, at }: RecordPlace): string {
  return `${segment} ${offset} ${at}`;
}

/** One pass over the segments. */
class Compaction {
  readonly #needs: Needs;
  readonly #writer: LogWriter;
  readonly #reader: LogReader;
  readonly #limits: DeliveryLogLimits;
  readonly #now: () => EpochMs;
  readonly #removed = new Set<ClosedSegment>();

  constructor(
    needs: Needs,
    writer: LogWriter,
    reader: LogReader,
    limits: DeliveryLogLimits,
    now: () => EpochMs,
  ) {
    this.#needs = needs;
    this.#writer = writer;
    this.#reader = reader;
    this.#limits = limits;
    this.#now = now;
  }

  /** Copies what is needed before it removes anything, so that a crash leaves too much at most. */
  async run(): Promise<void> {
    const { deletedDevices, followedTo, waitingCounts } = this.#needs;
    if (deletedDevices !== undefined && deletedDevices.size > 0) await this.#writer.closeSegment();
    const waiting = waitingCounts();
    for (const segment of [...this.#writer.closed]) {
      const names = deletedDevices !== undefined && (await namesDevice(segment, deletedDevices));
      if (!names && segment.lastPosition >= followedTo) continue;
      if (!names && ![...segment.counts.keys()].every((id) => this.#isLast(segment, id))) continue;
      const needed = this.#neededOf(segment) + (waiting.get(segment.number) ?? 0);
      if (!names && needed >= segment.records * this.#limits.neededShareMin) continue;
      if (needed > 0 || names) await this.#copy(segment);
      this.#removed.add(segment);
    }
    if (this.#removed.size === 0) return;
    await this.#writer.sync();
    await this.#writer.removed(this.#removed);
    for (const { path } of this.#removed) await removeSegment(path);
  }

  /** Number of ended deliveries of the segment that must be kept, by their counts. */
  #neededOf(segment: ClosedSegment): number {
    if (segment.updated < this.#now() - this.#limits.keptMsMax) return 0;
    let needed = 0;
    for (const [connectorId, counts] of segment.counts) {
      if (!this.#needs.isKnown(connectorId)) continue;
      let newer = this.#writer.open?.tables.get(connectorId)?.counts.ended ?? 0;
      for (const other of this.#writer.closed)
        if (other.number > segment.number) newer += other.counts.get(connectorId)?.ended ?? 0;
      const ended = counts.rows - counts.pending;
      needed += Math.max(0, Math.min(ended, this.#limits.keptPerConnectorMax - newer));
    }
    return needed;
  }

  /**
   * Whether no earlier record of a delivery is left when those of the segment go: a delivery that
   * ended would wait again.
   */
  #isLast(segment: ClosedSegment, connectorId: string): boolean {
    if ((segment.counts.get(connectorId)?.revised ?? 0) === 0) return true;
    return !this.#writer.closed.some(
      (other) =>
        other.number < segment.number &&
        !this.#removed.has(other) &&
        (other.counts.get(connectorId)?.pending ?? 0) > 0,
    );
  }

  async #copy(segment: ClosedSegment): Promise<void> {
    const waiting = this.#needs.waitingIn(segment.number);
    for (const connectorId of segment.counts.keys()) {
      if (!this.#needs.isKnown(connectorId)) continue;
      for (const row of await this.#keptRows(segment, connectorId)) {
        const waits = waiting.get(placeKey(row.place));
        if (row.state === 'PENDING' && waits === undefined) continue;
        const before = waits?.place;
        const record = await this.#reader.read(row.place);
        // Damage was reported. A delivery that was attempted meanwhile has a newer record.
        if (record === undefined || waits?.place !== before) continue;
        const place = this.#writer.append(record);
        if (waits !== undefined) waits.place = place;
        if (this.#writer.isBehind) await this.#writer.write();
      }
    }
  }

  /**
   * The rows of a connector in the segment that are the newest of their delivery, and are kept:
   * however old they are where an earlier record would count without them.
   */
  async #keptRows(segment: ClosedSegment, connectorId: string): Promise<DeliveryRow[]> {
    const { keptMsMax, keptPerConnectorMax } = this.#limits;
    const { deletedDevices } = this.#needs;
    const all = !this.#isLast(segment, connectorId);
    const newest = [...(await this.#reader.newestOf(connectorId)).values()];
    const since = this.#now() - keptMsMax;
    const kept = keptEnded(newest, keptPerConnectorMax);
    return newest.filter(
      (row) =>
        row.place.block.segment === segment.number &&
        deletedDevices?.has(row.deviceId) !== true &&
        (row.state === 'PENDING' || all || (row.updated >= since && kept.has(row))),
    );
  }
}

async function namesDevice(
  segment: ClosedSegment,
  deviceIds: ReadonlySet<string>,
): Promise<boolean> {
  for (const connectorId of segment.counts.keys())
    if ((await segment.tableOf(connectorId)).hasDevice(deviceIds)) return true;
  return false;
}

/** The ended ones of the rows, the newest of them in the order of making. */
export function keptEnded(rows: readonly DeliveryRow[], max: number): ReadonlySet<DeliveryRow> {
  const ended = rows.filter(({ state }) => state !== 'PENDING');
  if (ended.length > max) ended.sort((a, b) => b.sequence - a.sequence);
  return new Set(ended.slice(0, max));
}

export class DeliveryLog {
  readonly #options: DeliveryLogOptions;
  readonly #limits: DeliveryLogLimits;
  readonly #writer: LogWriter;
  readonly #reader: LogReader;
  #isNoted = true;

  private constructor(options: DeliveryLogOptions, found: FoundSegments) {
    this.#options = options;
    this.#limits = { ...deliveryLogLimits, ...options.limits };
    this.#writer = new LogWriter(options, this.#limits, found);
    this.#reader = new LogReader(this.#writer, this.#limits.blocksCached, options.damaged);
  }

  /** Opens or creates the log of the folder. Throws OtherFormatError for files of another format. */
  static async open(options: DeliveryLogOptions): Promise<DeliveryLog> {
    const { directory, expected, damaged } = options;
    await makeFolder(directory);
    const found = await findSegments(directory, expected, true);
    const { closed, open, damage } = found;
    for (const place of damage) damaged(place);
    const isNew = closed.length === 0 && open === undefined;
    const log = new DeliveryLog(options, found);
    if (isNew || damage.length > 0)
      log.#isNoted = await unlessDiskFull(log.#writer.writeManifest());
    return log;
  }

  /** Whether the folder has files, which the next start can expect. */
  get isNoted(): boolean {
    return this.#isNoted;
  }

  /** Adds the newest state of a delivery. It is listed immediately and written soon. */
  append(record: StoredDelivery): RecordPlace {
    return this.#writer.append(record);
  }

  /** Whether so much waits for the disk that no delivery should start. */
  get isBehind(): boolean {
    return this.#writer.isBehind;
  }

  /** Whether writing failed and is tried again by itself. */
  get isStuck(): boolean {
    return this.#writer.isStuck;
  }

  /** Whether something is not on the disk for certain. */
  get isUnsynced(): boolean {
    return this.#writer.isUnsynced;
  }

  /** Resolves when all that was added is in its file, where a kill of the process leaves it. */
  write(): Promise<void> {
    return this.#writer.write();
  }

  /** Resolves when all that was added is on the disk. */
  sync(): Promise<void> {
    return this.#writer.sync();
  }

  /** Undefined when the record cannot be read, which is reported. */
  read(place: RecordPlace): Promise<StoredDelivery | undefined> {
    return this.#reader.read(place);
  }

  /**
   * The newest row of ended deliveries of the connector, by id: of at least `min` that ended last,
   * or of all.
   */
  endedOf(connectorId: string, min?: number): Promise<Map<string, DeliveryRow>> {
    return this.#reader.endedOf(connectorId, min);
  }

  /** The newest row of a delivery. */
  find(id: string): Promise<DeliveryRow | undefined> {
    return this.#reader.find(id);
  }

  /** What a start must know. `from` is the journal position from which deliveries are repeated. */
  recover(from: number): Promise<Recovered> {
    return this.#reader.recover(from);
  }

  /** Connectors with records. */
  connectorIds(): ReadonlySet<string> {
    return this.#reader.connectorIds();
  }

  get bytes(): number {
    const { closed, open } = this.#writer;
    return closed.reduce((sum, { bytes }) => sum + bytes, open?.bytes ?? 0);
  }

  /** Of all segments, those of one delivery counted one by one. */
  get records(): number {
    const { closed, open } = this.#writer;
    return closed.reduce((sum, { records }) => sum + records, open?.records ?? 0);
  }

  /** Removes segments that are no longer needed, after copying what is. */
  compact(needs: Needs): Promise<void> {
    const { now } = this.#options;
    return new Compaction(needs, this.#writer, this.#reader, this.#limits, now).run();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }
}
