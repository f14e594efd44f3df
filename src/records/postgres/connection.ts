// Connection to PostgreSQL: one session writes, others read what is committed, as with SQLite.
import pg from 'pg';
import {
  type EngineConnection,
  isSelect,
  type OpenTransaction,
  type StatementResult,
} from '../engine.ts';
import { createTenantTurns } from '../tenant-turns.ts';
import { createWriteLock } from '../write-lock.ts';
import { isLost, recordsError } from './records-error.ts';
import { type PostgresServer, postgresLimits, sessionOf } from './server.ts';
import { createWriter } from './writer.ts';

export interface ConnectionEvents {
  /** Called before each statement of the writer except selects, and after it or its `commit`. */
  readonly ran: (statement: string) => void;
  readonly changed: (organizationId: string) => void;
  /** Called when the outcome of an earlier statement was unknown, and is final now. */
  readonly allChanged: () => void;
}

/** All functions reject with the problems of `recordsError` or the error of PostgreSQL. */
export interface PostgresConnection extends EngineConnection {
  /** Limits the statements of writers, from now on. */
  limitStatements(): Promise<void>;
  hurry(): void;
}

/** Connects with the first statement. */
export function openPostgresConnection(
  server: PostgresServer,
  { ran, changed, allChanged }: ConnectionEvents,
): PostgresConnection {
  const writer = createWriter(server, { changed, replaced: allChanged });
  const lock = createWriteLock();
  const readers = openReaders(server, postgresLimits.readersMax);
  const elsewhere = openReaders(server, postgresLimits.elsewhereMax);
  const turns = createTenantTurns(postgresLimits.elsewhereMax);

  return {
    async run(text, parameters) {
      if (isSelect(text)) return runOn(readers, text, parameters);
      const release = await lock.take();
      try {
        const session = await writer.session();
        ran('begin');
        return await runOn(session, text, parameters);
      } finally {
        // What triggers reported during the statement is visible to others only from now on.
        ran('commit');
        release();
      }
    },
    async begin() {
      const release = await lock.take();
      try {
        const session = await writer.session();
        await runOn(session, 'begin', []);
        ran('begin');
        return openTransaction(session, ran, release);
      } catch (error) {
        release();
        throw error;
      }
    },
    readElsewhere: (tenant, text, parameters) =>
      turns.run(tenant, () => runOn(elsewhere, text, parameters)),
    limitStatements: () => writer.limitStatements(postgresLimits.writeMsMax),
    hurry: writer.hurry,
    async close() {
      const release = await lock.take();
      await Promise.all([writer.close(), readers.end(), elsewhere.end()]);
      release();
    },
  };
}

function openReaders({ url }: PostgresServer, max: number): pg.Pool {
  const pool = new pg.Pool({ ...sessionOf(url, postgresLimits.readMsMax), max });
  // A session that is lost while it is idle is replaced by the next statement.
  pool.on('error', () => undefined);
  return pool;
}

function openTransaction(
  session: pg.Client,
  ran: ConnectionEvents['ran'],
  release: () => void,
): OpenTransaction {
  let isOpen = true;
  const end = (): void => {
    isOpen = false;
    release();
  };
  return {
    run: (text, parameters) => runOn(session, text, parameters),
    async commit(isLazy) {
      const text = isLazy ? 'set local synchronous_commit = off; commit' : 'commit';
      try {
        const answer: unknown = await session.query(text);
        const last = (Array.isArray(answer) ? answer.at(-1) : answer) as pg.QueryResult;
        // PostgreSQL answers the commit of a failed transaction with a rollback, without an error.
        if (last.command !== 'COMMIT')
          throw new Error('The transaction had failed before its commit');
      } catch (error) {
        throw recordsError(error);
      }
      ran('commit');
      end();
    },
    async rollback() {
      if (!isOpen) return;
      try {
        await session.query('rollback');
      } catch (error) {
        // A lost session has rolled back.
        if (!isLost(error)) throw recordsError(error);
      } finally {
        ran('rollback');
        end();
      }
    },
  };
}

const counted = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

async function runOn(
  on: Pick<pg.ClientBase, 'query'> | pg.Pool,
  text: string,
  parameters: readonly unknown[],
): Promise<StatementResult> {
  try {
    const { rows, rowCount, command } = await (on as pg.ClientBase).query<Record<string, unknown>>(
      text,
      parameters.map(storable),
    );
    return counted.has(command) ? { rows, changed: rowCount ?? 0 } : { rows };
  } catch (error) {
    throw recordsError(error);
  }
}

/**
 * Strings of PostgreSQL hold no NUL. Requests with one are refused before; what devices and scripts
 * send into a log has the replacement character instead.
 */
function storable(value: unknown): unknown {
  if (typeof value !== 'string' || !value.includes('\0')) return value;
  return value.replaceAll('\0', '\u{fffd}');
}
