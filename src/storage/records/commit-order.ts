// Commit order: reads a growing table in the order of its commits, so that a follower skips no row.
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Expression,
  PostgresAdapter,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import type { RecordsDb } from './records.ts';
import type { RecordTables } from './schema.ts';

/**
 * The place of a row in this order. Only the database that gave a place finds what is behind it.
 */
export interface CommitPlace {
  readonly sequence: number;
  /** The transaction, in a database that numbers rows before it commits them. */
  readonly transaction?: string;
}

/** Tables that are read in this order; `sequence` is the order within one transaction. */
type FollowedTable = 'deliveries' | 'ruleTriggers';

type Placed<Row> = Row & { readonly place: CommitPlace };

interface CommitOrder {
  /**
   * The next rows of the query behind the place, or from the first one; at most `max`. Later
   * commits add rows only behind them. Waits for an older transaction that holds back rows, so that
   * an empty result means that none is committed.
   */
  rowsBehind<Table extends FollowedTable, Row extends { readonly sequence: number }>(
    query: SelectQueryBuilder<RecordTables, Table, Row>,
    place: CommitPlace | undefined,
    max: number,
  ): Promise<Placed<Row>[]>;
  /** Whether a row is at the place or before it, for its removal. */
  isUpTo(place: CommitPlace): Expression<SqlBool>;
}

/** SQLite has one writer, so that sequences are given in the order of the commits. */
const sqlite: CommitOrder = {
  async rowsBehind(query, place, max) {
    const behind = sql<SqlBool>`${sql.ref('sequence')} > ${place?.sequence ?? -1}`;
    const rows = await query.where(behind).orderBy(sql.ref('sequence')).limit(max).execute();
    return rows.map((row) => ({ ...row, place: { sequence: row.sequence } }));
  },
  isUpTo: ({ sequence }) => sql<SqlBool>`${sql.ref('sequence')} <= ${sequence}`,
};

/** A row of PostgreSQL, with its column and the same as a string. */
type Numbered<Row> = Row & { readonly xid: unknown; readonly transaction: string };

const waitMsMin = 2;
const waitMsMax = 100;

/**
 * PostgreSQL numbers rows before they are committed. Transactions below the horizon have ended, and
 * later ones have higher numbers.
 */
const postgres: CommitOrder = {
  async rowsBehind(query, place, max) {
    const isEnded = sql<SqlBool>`"xid" < pg_snapshot_xmin(pg_current_snapshot())`;
    const isBehind = sql<SqlBool>`("xid", "sequence") > ${valuesOf(place ?? { sequence: -1 })}`;
    const behind = query.where(isBehind);
    const ended = behind
      .select(sql<string>`cast("xid" as text)`.as('transaction'))
      .where(isEnded)
      .orderBy(sql`"xid"`, (order) => order.nullsLast())
      .orderBy(sql.ref('sequence'))
      .limit(max);
    for (let waitMs = waitMsMin; ; waitMs = Math.min(2 * waitMs, waitMsMax)) {
      const rows = await ended.execute();
      if (rows.length > 0 || (await behind.limit(1).execute()).length === 0)
        return rows.map((row) => {
          const { xid: _, transaction, ...own } = row as Numbered<typeof row>;
          return {
            ...(own as unknown as typeof row),
            place: { sequence: row.sequence, transaction },
          };
        });
      await delay(waitMs);
    }
  },
  isUpTo: (place) => sql<SqlBool>`("xid", "sequence") <= ${valuesOf(place)}`,
};

function valuesOf({ transaction = '0', sequence }: CommitPlace) {
  return sql`(cast(${transaction} as xid8), ${sequence})`;
}

export function commitOrder(db: RecordsDb): CommitOrder {
  return db.getExecutor().adapter instanceof PostgresAdapter ? postgres : sqlite;
}
