// Records engine: the port to the database that keeps the records, SQLite or PostgreSQL.
import type { Kysely } from 'kysely';
import type { RecordChange } from '../../model/record.ts';
import type { ListChanges } from './list-changes.ts';
import type { RecordTables } from './schema.ts';

/** What a statement answers: its rows, or how many rows it changed. */
export interface StatementResult {
  readonly rows: unknown[];
  readonly changed?: number | bigint;
}

/** An open transaction; it ends with exactly one `commit` or `rollback`. */
export interface OpenTransaction {
  run(text: string, parameters: readonly unknown[]): Promise<StatementResult>;
  /** Resolves when the commit is on disk, or immediately with `isLazy`. */
  commit(isLazy: boolean): Promise<void>;
  rollback(): Promise<void>;
  /** Writes the changes for other nodes, with the commit. Does nothing on a single platform. */
  publish(changes: readonly RecordChange[]): void;
}

/**
 * Statements of one engine. Writers take turns: what a transaction has read stays true until it
 * commits.
 */
export interface EngineConnection {
  /** A statement outside transactions. A write is on disk when it resolves. */
  run(text: string, parameters: readonly unknown[]): Promise<StatementResult>;
  begin(): Promise<OpenTransaction>;
  /** A select for slow queries. Waiting tenants are served in turns. */
  readElsewhere(
    tenant: string,
    text: string,
    parameters: readonly unknown[],
  ): Promise<StatementResult>;
  close(): Promise<void>;
}

/** An open database, at the version of this program. */
export interface RecordsEngine {
  readonly db: Kysely<RecordTables>;
  /** See `Records.elsewhere`. */
  readonly elsewhere: (organizationId: string) => Kysely<RecordTables>;
  /** The revision of the device lists of an organization. */
  readonly revisionOf: (organizationId: string) => number;
  /** See `ListChanges.listsChanged`. */
  readonly listsChanged: ListChanges['listsChanged'];
  /** See `OpenRecords.hurry`. */
  hurry(): void;
  close(): Promise<void>;
}

export interface RecordsMigrating {
  /** The newest migration before, and the one afterwards. */
  readonly from: string;
  readonly to: string;
  /** How many run. */
  readonly migrations: number;
  /** How long they took; undefined while they run. */
  readonly ms?: number;
}

export interface EngineEvents {
  /**
   * Called once, when the disk failed: from then on nothing is written any more, and writers are
   * refused with `recordsStopped`.
   */
  readonly stopped: (error: Error) => void;
  /** Called before an older database is brought to this version, and after. */
  readonly migrating?: ((migration: RecordsMigrating) => void) | undefined;
  /** Called after each commit that published something for other nodes. */
  readonly published?: (() => void) | undefined;
}

export type OpenEngine = (events: EngineEvents) => Promise<RecordsEngine>;

/** Whether a statement reads alone. */
export function isSelect(text: string): boolean {
  return /^\s*select\b/i.test(text);
}
