// Messages between the records connection and its worker threads, and the cached statements that both execute.
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { createBoundedMap } from '../../../structures/caches.ts';
import type { StatementResult } from '../engine.ts';

export interface RecordsWorkerStart {
  readonly path: string;
  readonly kind: 'reader' | 'checkpointer';
  readonly cacheKiB: number;
  readonly busyTimeoutMs: number;
}

/** Answered one after the other, by the same `id`. */
export type ToRecordsWorker =
  | {
      readonly id: number;
      readonly ask: 'rows';
      readonly text: string;
      readonly parameters: readonly unknown[];
    }
  /** The next part of a long answer. */
  | { readonly id: number; readonly ask: 'more'; readonly of: number }
  | { readonly id: number; readonly ask: 'checkpoint' }
  /** The next statement opens the database again: statistics of the query planner are read only then. */
  | { readonly id: number; readonly ask: 'renew' };

export interface FromRecordsWorker {
  readonly id: number;
  readonly rows?: unknown[];
  /** More rows wait at the worker: a message of all of them would hold the reader's event loop. */
  readonly hasMore?: boolean;
  readonly isTruncated?: boolean;
  readonly error?: {
    readonly message: string;
    readonly code: string | undefined;
    readonly errcode: number | undefined;
  };
}

// Statements of one SQLite connection: compiled once and cached.

const statementsMax = 500;

interface Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
}

/** Throws the errors of SQLite. */
export class Statements {
  readonly #database: DatabaseSync;
  readonly #prepared = createBoundedMap<string, Prepared>(statementsMax);

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  #prepare(text: string): Prepared {
    let known = this.#prepared.use(text);
    if (known === undefined) {
      const statement = this.#database.prepare(text);
      known = { statement, returnsRows: statement.columns().length > 0 };
      this.#prepared.set(text, known);
    }
    return known;
  }

  run(text: string, parameters: readonly unknown[]): StatementResult {
    const { statement, returnsRows } = this.#prepare(text);
    const values = parameters as readonly SQLInputValue[];
    if (returnsRows) return { rows: statement.all(...values) };
    return { rows: [], changed: statement.run(...values).changes };
  }
}
