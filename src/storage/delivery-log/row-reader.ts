// Row reader: rows of the delivery log by connector or id, the newest of each delivery.
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { idMark } from './record.ts';
import type { LogWriter } from './log-writer.ts';
import type { ClosedSegment } from './open-segments.ts';
import { type DeliveryRow, RowTable, type RowsOf } from './row-table.ts';
import { emptySegment, scanBlocks } from './segment.ts';
import { readTable, writeIndex } from './segment-index.ts';

/** Rows between two pauses. */
const rowsPerTurn = 5_000;

export interface RowReaderParts {
  readonly closed: readonly ClosedSegment[];
  readonly writer: LogWriter;
  /** Yields to other work. */
  readonly pause: () => Promise<unknown>;
}

export interface Recovered {
  /** Deliveries that wait, in any order. */
  readonly pending: readonly DeliveryRow[];
  /** Ids of the deliveries of the journal from the position on that the log has. */
  readonly known: Set<string>;
}

export interface RowReader {
  /**
   * The newest row of ended deliveries of the connector, by id: of at least `min` that ended last,
   * or of all.
   */
  endedOf(connectorId: string, min?: number): Promise<Map<string, DeliveryRow>>;
  /** The newest row of each delivery of the connector, by id. */
  newestOf(connectorId: string): Promise<Map<string, DeliveryRow>>;
  /** The newest row of a delivery. */
  find(id: string): Promise<DeliveryRow | undefined>;
  /** `from` is the journal position from which deliveries are repeated. */
  recover(from: number): Promise<Recovered>;
  tableOf(segment: ClosedSegment, connectorId: string): Promise<RowTable>;
  connectorIds(): ReadonlySet<string>;
}

export function createRowReader({ closed, writer, pause }: RowReaderParts): RowReader {
  async function* rowsOf(
    connectorId: string,
    pending: boolean,
    isWanted: (counts: RowTable['counts'], segment: ClosedSegment) => boolean = () => true,
  ): AsyncGenerator<DeliveryRow> {
    let left = rowsPerTurn;
    const segments = [...closed];
    const open = writer.open;
    const unwritten = [...writer.unwritten()];
    for (const segment of segments) {
      const counts = segment.counts.get(connectorId);
      if (counts === undefined || !isWanted(counts, segment)) continue;
      const table = await tableOf(segment, connectorId);
      for (const row of table.read(placeOf(segment, connectorId), { pending })) {
        yield row;
        if (--left > 0) continue;
        await pause();
        left = rowsPerTurn;
      }
    }
    const table = open?.tables?.get(connectorId);
    if (open !== undefined && table !== undefined)
      yield* table.read(placeOf(open, connectorId), { pending });
    for (const { record, place } of unwritten)
      if (record.connectorId === connectorId && (pending || record.state !== 'PENDING'))
        yield { ...record, place };
  }

  async function newest(
    rows: AsyncIterable<DeliveryRow>,
    into = new Map<string, DeliveryRow>(),
  ): Promise<Map<string, DeliveryRow>> {
    for await (const row of rows) {
      if (row.revision >= (into.get(row.id)?.revision ?? 0)) into.set(row.id, row);
    }
    return into;
  }

  async function endedOf(
    connectorId: string,
    min = Number.POSITIVE_INFINITY,
  ): Promise<Map<string, DeliveryRow>> {
    let left = min;
    const isWanted = ({ ended }: RowTable['counts']): boolean => {
      const isNeeded = left > 0;
      left -= ended;
      return isNeeded;
    };
    // From the newest segment on, so that the older ones of a busy connector need not be read.
    left -= writer.open?.tables?.get(connectorId)?.counts.ended ?? 0;
    const wanted = new Set<number>();
    for (const { number, counts } of closed.toReversed()) {
      const own = counts.get(connectorId);
      if (own !== undefined && isWanted(own)) wanted.add(number);
    }
    return newest(rowsOf(connectorId, false, (_counts, { number }) => wanted.has(number)));
  }

  function connectorIds(): Set<string> {
    const ids = new Set(closed.flatMap(({ counts }) => [...counts.keys()]));
    for (const id of writer.open?.tables?.keys() ?? []) ids.add(id);
    for (const { record } of writer.unwritten()) ids.add(record.connectorId);
    return ids;
  }

  async function find(id: string): Promise<DeliveryRow | undefined> {
    let found: DeliveryRow | undefined;
    const take = (row: DeliveryRow): void => {
      if (row.id === id && row.revision >= (found?.revision ?? 0)) found = row;
    };
    for (const segment of [...closed]) {
      for (const connectorId of segment.counts.keys()) {
        if (!segment.hasForeignIds && !id.startsWith(idMark(connectorId))) continue;
        const table = await tableOf(segment, connectorId);
        for (const row of table.find(id, placeOf(segment, connectorId))) take(row);
      }
    }
    const { open } = writer;
    for (const [connectorId, table] of open?.tables ?? [])
      for (const row of open ? table.find(id, placeOf(open, connectorId)) : []) take(row);
    for (const { record, place } of writer.unwritten())
      if (record.id === id) take({ ...record, place });
    return found;
  }

  async function recover(from: number): Promise<Recovered> {
    const pending: DeliveryRow[] = [];
    const known = new Set<string>();
    for (const connectorId of connectorIds()) {
      if (hasPending(connectorId)) {
        const changed = rowsOf(connectorId, true, (counts) => counts.pending + counts.revised > 0);
        for (const row of (await newest(changed)).values())
          if (row.state === 'PENDING') pending.push(row);
      }
      const late = rowsOf(connectorId, true, (_counts, { lastPosition }) => lastPosition >= from);
      for await (const row of late) if (row.sequence >= from) known.add(row.id);
    }
    return { pending, known };
  }

  function hasPending(connectorId: string): boolean {
    const inClosed = closed.some(({ counts }) => (counts.get(connectorId)?.pending ?? 0) > 0);
    if (inClosed || (writer.open?.tables?.get(connectorId)?.counts.pending ?? 0) > 0) return true;
    return [...writer.unwritten()].some(({ record }) => record.connectorId === connectorId);
  }

  return {
    endedOf,
    newestOf: (connectorId) => newest(rowsOf(connectorId, true)),
    find,
    recover,
    tableOf,
    connectorIds,
  };
}

function placeOf(
  { number, owners }: Pick<ClosedSegment, 'number' | 'owners'>,
  connectorId: string,
): RowsOf {
  return { connectorId, segment: number, owners: owners.list };
}

/** The rows of a connector; an index that is lost or damaged is rebuilt from its segment. */
async function tableOf(segment: ClosedSegment, connectorId: string): Promise<RowTable> {
  const table = await readTable(segment.path, connectorId);
  if (table !== undefined) return table;
  try {
    const anew = emptySegment(dirname(segment.path), segment.number);
    const { size } = await stat(segment.path);
    await scanBlocks(anew, 0, size);
    anew.bytes = size;
    await writeIndex(anew);
    return anew.tables?.get(connectorId) ?? new RowTable();
  } catch (error) {
    // It was removed meanwhile, and what was needed of it is elsewhere.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new RowTable();
    throw error;
  }
}
