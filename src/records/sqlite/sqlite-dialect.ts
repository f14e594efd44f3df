// SQLite dialect: Kysely on the records connection, with transactions of the single writer and reads that never wait.
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { OpenTransaction, RecordsConnection } from './connection.ts';
import type { StatementResult } from './statements.ts';

/**
 * No lock: the records connection queues its callers. Kysely's lock would notify all waiting
 * callers at every release.
 */
class OwnOrderAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }

  /**
   * SQLite rolls back changes of the schema like any other, so that migrations run in a
   * transaction.
   */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

function dialect(createDriver: () => Driver): Dialect {
  return {
    createDriver,
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new OwnOrderAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/** Ending Kysely closes the connection. */
export function sqliteDialect(connection: RecordsConnection): Dialect {
  return dialect(() => ({
    init: async () => {},
    acquireConnection: async () => new Lane(connection),
    beginTransaction: async (lane) => {
      (lane as Lane).transaction = await connection.begin();
    },
    commitTransaction: async (lane) =>
      (lane as Lane).end((transaction, isLazy) => transaction.commit(isLazy)),
    rollbackTransaction: async (lane) =>
      (lane as Lane).end((transaction) => transaction.rollback()),
    releaseConnection: async () => {},
    destroy: () => connection.close(),
  }));
}

/** Selects of one tenant on a thread of their own; ending Kysely closes nothing. */
export function elsewhereDialect(connection: RecordsConnection, tenant: string): Dialect {
  const refuse = async () => {
    throw new Error('This is for reading alone');
  };
  return dialect(() => ({
    init: async () => {},
    acquireConnection: async () => ({
      executeQuery: async <R>({ sql, parameters }: CompiledQuery) =>
        answerOf<R>(await connection.readElsewhere(tenant, sql, parameters)),
      streamQuery: () => {
        throw new Error('Rows of another thread do not come one by one');
      },
    }),
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    releaseConnection: async () => {},
    destroy: async () => {},
  }));
}

/** A connection for Kysely: the statements of one caller, in a transaction or not. */
class Lane implements DatabaseConnection {
  readonly #connection: RecordsConnection;
  transaction: OpenTransaction | undefined;
  isLazy = false;

  constructor(connection: RecordsConnection) {
    this.#connection = connection;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    return answerOf<R>(await (this.transaction ?? this.#connection).run(sql, parameters));
  }

  async *streamQuery<R>({ sql, parameters }: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    for (const row of this.#connection.rows(sql, parameters)) yield { rows: [row as R] };
  }

  async end(how: (transaction: OpenTransaction, isLazy: boolean) => Promise<void>): Promise<void> {
    if (this.transaction !== undefined) await how(this.transaction, this.isLazy);
    // A failed commit must still be rolled back.
    this.transaction = undefined;
  }
}

function answerOf<R>({ rows, changed }: StatementResult): QueryResult<R> {
  const answer = { rows: rows as R[] };
  return changed === undefined ? answer : { ...answer, numAffectedRows: BigInt(changed) };
}

/** The commits of the database handed to `work` wait for no disk; with other databases they do. */
export function withoutSync<Tables, T>(
  db: Kysely<Tables>,
  work: (db: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  return db.connection().execute(async (one) => {
    await one.getExecutor().provideConnection(async (lane) => {
      if (lane instanceof Lane) lane.isLazy = true;
    });
    return work(one);
  });
}
