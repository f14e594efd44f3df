// Statements of one SQLite connection: compiled once and cached.
import type { DatabaseSync, StatementSync, SQLInputValue } from 'node:sqlite';
import { createBoundedMap } from '../../../structures/bounded-map.ts';
import type { StatementResult } from '../engine.ts';

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
