// Journal copies: which node holds the copy of the journal of another one. Only in PostgreSQL.
import { sql } from 'kysely';
import type { RecordsDb } from '../records.ts';

export interface JournalCopyRow {
  readonly node: string;
  readonly holder: string;
  /** Name of the copy; a holder may have older ones. */
  readonly copy: string;
  /** The copy that became the data folder of the node; earlier folders of it are out of date. */
  readonly adopted: string | null;
}

export async function noteJournalCopy(
  db: RecordsDb,
  { node, holder, copy }: Omit<JournalCopyRow, 'adopted'>,
): Promise<void> {
  await sql`
    insert into "journalCopies" ("node", "holder", "copy") values (${node}, ${holder}, ${copy})
    on conflict ("node") do update set "holder" = excluded."holder", "copy" = excluded."copy"`.execute(
    db,
  );
}

export async function journalCopies(db: RecordsDb): Promise<readonly JournalCopyRow[]> {
  const query = sql<JournalCopyRow>`select "node", "holder", "copy", "adopted" from "journalCopies"`;
  return (await query.execute(db)).rows;
}
