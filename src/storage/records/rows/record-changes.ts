// Record changes of nodes that share the records: at least one row for each transaction that changed something.
import { sql } from 'kysely';
import type { RecordChange } from '../../../model/record.ts';
import { fromJsonText } from '../columns.ts';
import type { RecordsDb } from '../records.ts';

/**
 * What one transaction of a node changed, or a part of it. Nodes take turns, so that sequences are
 * given in the order of the commits, and no transaction of another database holds rows back.
 */
export interface PublishedChanges {
  readonly sequence: number;
  readonly node: string;
  readonly changes: readonly RecordChange[];
  /** Organizations whose device lists changed. */
  readonly lists: readonly string[];
}

/**
 * What was committed behind the row with this sequence; at most `max` rows. Undefined when that row
 * has been removed: then others behind it may be missing too.
 */
export async function findRecordChanges(
  db: RecordsDb,
  sequence: number,
  max: number,
): Promise<readonly PublishedChanges[] | undefined> {
  const [own, ...behind] = await db
    .selectFrom('recordChanges')
    .select(['sequence', 'node', 'changes', 'lists'])
    .where('sequence', '>=', sequence)
    .orderBy('sequence')
    .limit(max + 1)
    .execute();
  if (own?.sequence !== sequence) return undefined;
  return behind.map(({ changes, lists, ...row }) => ({
    ...row,
    changes: fromJsonText(changes),
    lists: fromJsonText(lists),
  }));
}

/** The sequence of the newest row; the table is never empty. */
export async function newestRecordChange(db: RecordsDb): Promise<number> {
  const query = db.selectFrom('recordChanges').select('sequence').orderBy('sequence', 'desc');
  return (await query.limit(1).executeTakeFirstOrThrow()).sequence;
}

/**
 * Removes what is older, except for the newest of these rows: a node that has read up to it has
 * missed nothing.
 */
export async function dropOldRecordChanges(db: RecordsDb, keptMs: number): Promise<void> {
  await sql`
    delete from "recordChanges" where "sequence" < (
      select max("sequence") from "recordChanges"
      where "created" < (extract(epoch from clock_timestamp()) * 1000)::bigint - ${keptMs}::bigint)`.execute(
    db,
  );
}
