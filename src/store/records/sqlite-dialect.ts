// Kysely over the SQLite built into Node: one connection, statements compiled once and kept.
import type { DatabaseSync, StatementSync, SQLInputValue } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';

const statementsMax = 500;

interface Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
  readonly isSelect: boolean;
}

/** The dialect for an open database; ending Kysely closes the database. `ran` is told every statement but a select before it runs. */
export function sqliteDialect(database: DatabaseSync, ran: (statement: string) => void = () => {}): Dialect {
  return {
    createDriver: () => sqliteDriver(database, ran),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

// The adapter says that there is one connection, so Kysely itself lets one user in at a time.
function sqliteDriver(database: DatabaseSync, ran: (statement: string) => void): Driver {
  const connection = sqliteConnection(database, ran);
  const run = async (sql: string) => void (await connection.executeQuery(CompiledQuery.raw(sql)));
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    // Taking the write lock at once keeps a transaction from failing halfway when another process writes.
    beginTransaction: () => run('begin immediate'),
    commitTransaction: () => run('commit'),
    rollbackTransaction: () => run('rollback'),
    releaseConnection: async () => {},
    destroy: async () => database.close(),
  };
}

function sqliteConnection(database: DatabaseSync, ran: (statement: string) => void): DatabaseConnection {
  const prepared = new Map<string, Prepared>();

  const prepare = (sql: string): Prepared => {
    let known = prepared.get(sql);
    if (known === undefined) {
      const statement = database.prepare(sql);
      known = { statement, returnsRows: statement.columns().length > 0, isSelect: /^\s*select\b/i.test(sql) };
      // The oldest leaves first; texts that recur are soon back.
      if (prepared.size >= statementsMax) prepared.delete(prepared.keys().next().value!);
      prepared.set(sql, known);
    }
    return known;
  };

  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const { statement, returnsRows, isSelect } = prepare(query.sql);
      if (!isSelect) ran(query.sql);
      const parameters = query.parameters as readonly SQLInputValue[];
      if (returnsRows) return { rows: statement.all(...parameters) as R[] };
      const { changes } = statement.run(...parameters);
      return { rows: [], numAffectedRows: BigInt(changes) };
    },
    async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
      // A statement of its own: the kept one may be run again while rows are still taken from this one.
      const statement = database.prepare(query.sql);
      const parameters = query.parameters as readonly SQLInputValue[];
      for (const row of statement.iterate(...parameters)) yield { rows: [row as R] };
    },
  };
}
