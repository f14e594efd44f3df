// Period counts: how often something happened to a record in a minute or ten, for overviews (contract 37).
import { sql } from 'kysely';
import { type EpochMs, hourMs, minuteMs } from '../../../model/instant.ts';
import { isOneOf } from '../columns.ts';
import type { RecordsDb } from '../records.ts';

/** What is counted: the length of a period, and how long it is kept. */
export const periodKinds = {
  samples: { periodMs: minuteMs, keptMs: 2 * hourMs },
  scriptErrors: { periodMs: 10 * minuteMs, keptMs: 25 * hourMs },
  delivered: { periodMs: 10 * minuteMs, keptMs: 25 * hourMs },
  failed: { periodMs: 10 * minuteMs, keptMs: 25 * hourMs },
  fired: { periodMs: 10 * minuteMs, keptMs: 25 * hourMs },
} as const;
export type PeriodKind = keyof typeof periodKinds;

export interface PeriodCount {
  /** A workspace, rule or output connector. */
  readonly recordId: string;
  readonly what: PeriodKind;
  /** The first instant of the period. */
  readonly start: EpochMs;
  readonly count: number;
}

/** The start of the period that contains the instant. */
export function periodOf(what: PeriodKind, at: EpochMs): EpochMs {
  const { periodMs } = periodKinds[what];
  return at - (at % periodMs);
}

// Few enough parameters for every engine.
const rowsPerStatement = 100;

/** One count of each record, kind and period: a statement adds to a row once. */
function sumsOf(counts: readonly PeriodCount[]): readonly PeriodCount[] {
  const sums = new Map<string, PeriodCount>();
  for (const one of counts) {
    const key = JSON.stringify([one.recordId, one.what, one.start]);
    const known = sums.get(key)?.count ?? 0;
    sums.set(key, { ...one, count: known + one.count });
  }
  return [...sums.values()];
}

class PeriodCountRows {
  /** Adds to what was counted. The transaction is the caller's. */
  async add(step: RecordsDb, counts: readonly PeriodCount[]): Promise<void> {
    const rows = sumsOf(counts);
    for (let from = 0; from < rows.length; from += rowsPerStatement)
      await step
        .insertInto('periodCounts')
        .values(rows.slice(from, from + rowsPerStatement))
        .onConflict((conflict) =>
          conflict.columns(['recordId', 'what', 'start']).doUpdateSet(({ eb, ref }) => ({
            count: eb(ref('periodCounts.count'), '+', ref('excluded.count')),
          })),
        )
        .execute();
  }

  /** Sums by record and kind, of the periods that begin at `from` or later. */
  async sums(
    db: RecordsDb,
    recordIds: readonly string[],
    kinds: readonly PeriodKind[],
    from: EpochMs,
  ): Promise<(recordId: string, what: PeriodKind) => number> {
    const rows = await db
      .selectFrom('periodCounts')
      .select(({ fn }) => ['recordId', 'what', fn.sum<number>('count').as('count')])
      .where(isOneOf('recordId', recordIds))
      .where(isOneOf('what', kinds))
      .where('start', '>=', from)
      .groupBy(['recordId', 'what'])
      .execute();
    const sums = new Map(rows.map(({ recordId, what, count }) => [recordId + what, Number(count)]));
    return (recordId, what) => sums.get(recordId + what) ?? 0;
  }

  /** Sums by record and kind for each of the `hours` from `from` on, the oldest first. */
  async hourly(
    db: RecordsDb,
    recordIds: readonly string[],
    kinds: readonly PeriodKind[],
    { from, hours }: { readonly from: EpochMs; readonly hours: number },
  ): Promise<(recordId: string, what: PeriodKind) => readonly number[]> {
    const hour = sql<number>`(${sql.ref('start')} - ${sql.lit(from)}) / ${sql.lit(hourMs)}`;
    const rows = await db
      .selectFrom('periodCounts')
      .select(({ fn }) => [
        'recordId',
        'what',
        hour.as('hour'),
        fn.sum<number>('count').as('count'),
      ])
      .where(isOneOf('recordId', recordIds))
      .where(isOneOf('what', kinds))
      .where('start', '>=', from)
      .groupBy(['recordId', 'what', hour])
      .execute();
    const sums = new Map<string, number[]>();
    for (const { recordId, what, hour: place, count } of rows) {
      const known = sums.get(recordId + what) ?? Array<number>(hours).fill(0);
      if (Number(place) < hours) known[Number(place)] = Number(count);
      sums.set(recordId + what, known);
    }
    const none = Array<number>(hours).fill(0);
    return (recordId, what) => sums.get(recordId + what) ?? none;
  }

  /** The counts of one record by the start of their period. */
  async ofRecord(
    db: RecordsDb,
    recordId: string,
    what: PeriodKind,
    from: EpochMs,
  ): Promise<ReadonlyMap<EpochMs, number>> {
    const rows = await db
      .selectFrom('periodCounts')
      .select(['start', 'count'])
      .where('recordId', '=', recordId)
      .where('what', '=', what)
      .where('start', '>=', from)
      .execute();
    return new Map(rows.map(({ start, count }) => [start, count]));
  }

  /** Drops what is older than it is kept. */
  async dropOld(db: RecordsDb, now: EpochMs): Promise<void> {
    for (const [what, { keptMs }] of Object.entries(periodKinds))
      await db
        .deleteFrom('periodCounts')
        .where('what', '=', what)
        .where('start', '<', now - keptMs)
        .execute();
  }
}

export const periodCountRows = new PeriodCountRows();
