// Commit order: reads a growing table in the order of its commits, so that a follower skips no row.
import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
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

export interface CommitOrder {
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

export function commitOrder(_db: RecordsDb): CommitOrder {
  return sqlite;
}
