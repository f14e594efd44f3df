// Records that several nodes share: their changes, leases, journal copies, and the rows of a single node.
import { PostgresAdapter, sql } from 'kysely';
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

class RecordChangeRows {
  /**
   * What was committed behind the row with this sequence; at most `max` rows. Undefined when that row
   * has been removed: then others behind it may be missing too.
   */
  async behind(
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
  async newest(db: RecordsDb): Promise<number> {
    const query = db.selectFrom('recordChanges').select('sequence').orderBy('sequence', 'desc');
    return (await query.limit(1).executeTakeFirstOrThrow()).sequence;
  }

  /**
   * Removes what is older, except for the newest of these rows: a node that has read up to it has
   * missed nothing.
   */
  async dropOld(db: RecordsDb, keptMs: number): Promise<void> {
    await sql`
      delete from "recordChanges" where "sequence" < (
        select max("sequence") from "recordChanges"
        where "created" < (extract(epoch from clock_timestamp()) * 1000)::bigint - ${keptMs}::bigint)`.execute(
      db,
    );
  }
}

export const recordChangeRows = new RecordChangeRows();

// Journal copies: which node holds the copy of the journal of another one. Only in PostgreSQL.

export interface JournalCopyRow {
  readonly node: string;
  readonly holder: string;
  /** Name of the copy; a holder may have older ones. */
  readonly copy: string;
  /** The copy that became the data folder of the node; earlier folders of it are out of date. */
  readonly adopted: string | null;
}

class JournalCopyRows {
  async note(
    db: RecordsDb,
    { node, holder, copy }: Omit<JournalCopyRow, 'adopted'>,
  ): Promise<void> {
    await sql`
      insert into "journalCopies" ("node", "holder", "copy") values (${node}, ${holder}, ${copy})
      on conflict ("node") do update set "holder" = excluded."holder", "copy" = excluded."copy"`.execute(
      db,
    );
  }

  async all(db: RecordsDb): Promise<readonly JournalCopyRow[]> {
    const query = sql<JournalCopyRow>`select "node", "holder", "copy", "adopted" from "journalCopies"`;
    return (await query.execute(db)).rows;
  }
}

export const journalCopyRows = new JournalCopyRows();

// Leases of a node, as the table of all nodes has them. Only in PostgreSQL.

/** Those that the node held last, also when their time is over. */
export async function leasesOfNode<Name extends string>(
  db: RecordsDb,
  node: string,
): Promise<readonly { readonly name: Name; readonly epoch: number }[]> {
  const query = sql<{ name: Name; epoch: number }>`
    select "name", "epoch" from "leases" where "node" = ${node}`;
  return (await query.execute(db)).rows;
}

// Workspaces of devices, and in which epoch of leases devices came there. Only in PostgreSQL.

interface WorkspaceOfDevice {
  readonly workspaceId: string;
  /** 0 for a device that never moved. */
  readonly epoch: number;
}

/** By service id; unknown ones are absent. */
export async function workspacesOfDevices(
  db: RecordsDb,
  ids: readonly string[],
): Promise<ReadonlyMap<string, WorkspaceOfDevice>> {
  const query = sql<WorkspaceOfDevice & { id: string }>`
    select "devices"."id", "devices"."workspaceId", coalesce("movedDevices"."epoch", 0) as "epoch"
    from "devices" left join "movedDevices" on "movedDevices"."deviceId" = "devices"."id"
    where "devices"."id" = any(${[...ids]}::text[])`;
  const { rows } = await query.execute(db);
  return new Map(
    rows.map(({ id, workspaceId, epoch }) => [id, { workspaceId, epoch: Number(epoch) }]),
  );
}

// Node rows: rows about the journal of one of several nodes that share the records have its id.

/** Of a database that several nodes write, as one of them opened it. */
export class NodeAdapter extends PostgresAdapter {
  readonly node: string;

  constructor(node: string) {
    super();
    this.node = node;
  }

  /**
   * Migrations are one transaction, so that its turn is the lock. A second one would let two nodes
   * that start wait for each other.
   */
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

/** The id of the node that opened the database; empty for the only platform. */
export function nodeOf(db: RecordsDb): string {
  const { adapter } = db.getExecutor();
  return adapter instanceof NodeAdapter ? adapter.node : '';
}

/** The name of a row of the node. Names of the only platform contain no slash. */
export function nameOfNode(node: string, name: string): string {
  return node === '' ? name : `${node}/${name}`;
}

/** The rows of the node, with their names as its own. */
export function rowsOfNode<Value>(
  node: string,
  rows: Iterable<readonly [name: string, value: Value]>,
): [string, Value][] {
  const prefix = nameOfNode(node, '');
  return [...rows].flatMap(([name, value]): [string, Value][] => {
    const own = name.slice(prefix.length);
    return name.startsWith(prefix) && !own.includes('/') ? [[own, value]] : [];
  });
}
