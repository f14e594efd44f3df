// Lanes: Kysely's connections on a records engine, each with the statements of one caller, and their turns.
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
} from 'kysely';
import type { RecordChange } from '../../model/record.ts';
import type {
  EngineConnection,
  OpenTransaction,
  RecordsEngine,
  StatementResult,
} from './engine.ts';
import type { RecordTables } from './schema.ts';

/** What Kysely needs to write the SQL of an engine. */
export type KyselyParts = Pick<
  Dialect,
  'createQueryCompiler' | 'createAdapter' | 'createIntrospector'
>;

/** The engine on a connection, which is closed if `prepare` throws: it makes the database ready. */
export async function openLanes(
  {
    connection,
    kyselyParts,
    ...lists
  }: Pick<RecordsEngine, 'revisionOf' | 'listsChanged'> & {
    readonly connection: EngineConnection & Pick<RecordsEngine, 'hurry'>;
    readonly kyselyParts: KyselyParts;
  },
  prepare: (db: Kysely<RecordTables>) => Promise<void>,
): Promise<RecordsEngine> {
  const db = new Kysely<RecordTables>({ dialect: laneDialect(connection, kyselyParts) });
  try {
    await prepare(db);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return {
    db,
    elsewhere: (organizationId) =>
      new Kysely<RecordTables>({
        dialect: elsewhereDialect(connection, kyselyParts, organizationId),
      }),
    ...lists,
    hurry: () => connection.hurry(),
    close: () => db.destroy(),
  };
}

/** Ending Kysely closes the connection. */
export function laneDialect(connection: EngineConnection, kyselyParts: KyselyParts): Dialect {
  const driver: Driver = {
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
  };
  return { ...kyselyParts, createDriver: () => driver };
}

/** Selects of one tenant that hold up nothing else; ending Kysely closes nothing. */
function elsewhereDialect(
  connection: EngineConnection,
  kyselyParts: KyselyParts,
  tenant: string,
): Dialect {
  const refuse = async () => {
    throw new Error('This is for reading alone');
  };
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => ({
      executeQuery: async <R>({ sql, parameters }: CompiledQuery) =>
        answerOf<R>(await connection.readElsewhere(tenant, sql, parameters)),
      streamQuery: refuseToStream,
    }),
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    releaseConnection: async () => {},
    destroy: async () => {},
  };
  return { ...kyselyParts, createDriver: () => driver };
}

/** A connection for Kysely: the statements of one caller, in a transaction or not. */
class Lane implements DatabaseConnection {
  readonly #connection: EngineConnection;
  readonly streamQuery = refuseToStream;
  transaction: OpenTransaction | undefined;
  isLazy = false;

  constructor(connection: EngineConnection) {
    this.#connection = connection;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    return answerOf<R>(await (this.transaction ?? this.#connection).run(sql, parameters));
  }

  async end(how: (transaction: OpenTransaction, isLazy: boolean) => Promise<void>): Promise<void> {
    if (this.transaction !== undefined) await how(this.transaction, this.isLazy);
    // A failed commit must still be rolled back.
    this.transaction = undefined;
  }
}

function refuseToStream(): never {
  throw new Error('Rows of the records do not come one by one: read them in pages');
}

function answerOf<R>({ rows, changed }: StatementResult): QueryResult<R> {
  const answer = { rows: rows as R[] };
  return changed === undefined ? answer : { ...answer, numAffectedRows: BigInt(changed) };
}

/** Publishes the changes for other nodes, with the commit of the transaction that `db` is. */
export async function publishChanges<Tables>(
  db: Kysely<Tables>,
  changes: readonly RecordChange[],
): Promise<void> {
  if (changes.length === 0) return;
  await db.getExecutor().provideConnection(async (lane) => {
    if (lane instanceof Lane) lane.transaction?.publish(changes);
  });
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

// Turns on a connection: one writer at a time, and slow reads of tenants one after the other.

/** At most `atOnceMax` of them run at the same time. */
export class TenantTurns {
  readonly #atOnceMax: number;
  /** In the order of their turns: a tenant that had one goes to the end. */
  readonly #lines = new Map<string, Set<() => void>>();
  #running = 0;

  constructor(atOnceMax = 1) {
    this.#atOnceMax = atOnceMax;
  }

  /** Runs the work when it is the turn of the tenant; settles as the work does. */
  async run<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    // Who waited runs in the place of the one that ended.
    if (this.#running >= this.#atOnceMax) await this.#wait(tenant);
    else this.#running += 1;
    try {
      return await work();
    } finally {
      this.#passOn();
    }
  }

  #wait(tenant: string): Promise<void> {
    return new Promise((resolve) => {
      const line = this.#lines.get(tenant);
      if (line === undefined) this.#lines.set(tenant, new Set([resolve]));
      else line.add(resolve);
    });
  }

  #passOn(): void {
    const [first] = this.#lines;
    if (first === undefined) {
      this.#running -= 1;
      return;
    }
    const [tenant, line] = first;
    const [start] = line;
    this.#lines.delete(tenant);
    if (start === undefined) return this.#passOn();
    line.delete(start);
    if (line.size > 0) this.#lines.set(tenant, line);
    start();
  }
}

// Write lock: one writer at a time, first come, first served; each release resumes exactly one waiting writer.
export class WriteLock {
  readonly #waiting = new Set<() => void>();
  #isHeld = false;
  readonly #release = (): void => {
    const [next] = this.#waiting;
    if (next === undefined) this.#isHeld = false;
    else {
      this.#waiting.delete(next);
      next();
    }
  };

  /** Resolves with the function that releases the lock. */
  async take(): Promise<() => void> {
    if (this.#isHeld) await new Promise<void>((resolve) => void this.#waiting.add(resolve));
    this.#isHeld = true;
    return this.#release;
  }
}
