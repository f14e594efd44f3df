// Statements of one SQLite connection: compiled once and cached.
import type { DatabaseSync, StatementSync, SQLInputValue } from 'node:sqlite';
import { createBoundedMap } from '../../../structures/bounded-map.ts';
import type { StatementResult } from '../engine.ts';

const statementsMax = 500;

export interface Statements {
  run(text: string, parameters: readonly unknown[]): StatementResult;
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
  };
}
