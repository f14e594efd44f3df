// Statements of one SQLite connection: compiled once and cached.
import type { DatabaseSync, StatementSync, SQLInputValue } from 'node:sqlite';
import { createBoundedMap } from '../../structures/bounded-map.ts';

const statementsMax = 500;

/** What a statement answers: its rows, or how many rows it changed. */
export interface StatementResult {
  readonly rows: unknown[];
  readonly changed?: number | bigint;
}

export interface Statements {
  run(text: string, parameters: readonly unknown[]): StatementResult;
  /**
   * Row by row, by a statement of its own: the kept one may run again while rows are still taken.
   */
  rows(text: string, parameters: readonly unknown[]): Iterable<unknown>;
}

interface Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
}

/** Throws the errors of SQLite. */
export function statementsOf(database: DatabaseSync): Statements {
  const prepared = createBoundedMap<string, Prepared>(statementsMax);

  const prepare = (text: string): Prepared => {
    let known = prepared.use(text);
    if (known === undefined) {
      const statement = database.prepare(text);
      known = { statement, returnsRows: statement.columns().length > 0 };
      prepared.set(text, known);
    }
    return known;
  };

  return {
    run(text, parameters) {
      const { statement, returnsRows } = prepare(text);
      const values = parameters as readonly SQLInputValue[];
      if (returnsRows) return { rows: statement.all(...values) };
      return { rows: [], changed: statement.run(...values).changes };
    },
    rows: (text, parameters) =>
      database.prepare(text).iterate(...(parameters as readonly SQLInputValue[])),
  };
}

/** Whether a statement reads alone. */
export function isSelect(text: string): boolean {
  return /^\s*select\b/i.test(text);
}
