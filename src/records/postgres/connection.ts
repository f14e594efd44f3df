// Connection to PostgreSQL: one session writes, in turns with other nodes; others read what is committed.
import pg from 'pg';
import {
  type EngineConnection,
  isSelect,
  type OpenTransaction,
  type StatementResult,
} from '../engine.ts';
import type { RecordChange } from '../../model/record.ts';
import { createTenantTurns } from '../tenant-turns.ts';
import { createWriteLock } from '../write-lock.ts';
import { isLost, recordsError } from './records-error.ts';
import { type PostgresServer, postgresLimits, sessionOf } from './server.ts';
import { beginQuery, newsQueries } from './turn.ts';
import { createWriter } from './writer.ts';

export interface ConnectionEvents {
  /** Called before each statement of the writer except selects, and after it or its `commit`. */
  readonly ran: (statement: string) => void;
  /** See `EngineEvents.published`. */
  readonly published?: (() => void) | undefined;
  readonly changed: (organizationId: string) => void;
  /** Called when the outcome of an earlier statement was unknown, and is final now. */
  readonly allChanged: () => void;
  /** The organizations that the open transaction `changed`. */
  readonly changing: () => readonly string[];
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
  events: ConnectionEvents,
): PostgresConnection {
  const { ran, changed, allChanged } = events;
  const writer = createWriter(server, { changed, replaced: allChanged });
  const lock = createWriteLock();
  const readers = openReaders(server, postgresLimits.readersMax);
  const elsewhere = openReaders(server, postgresLimits.elsewhereMax);
  const turns = createTenantTurns(postgresLimits.elsewhereMax);

  const begin = async (): Promise<OpenTransaction> => {
    const release = await lock.take();
    try {
      const session = await writer.session();
      await beginOn(session, server);
      ran('begin');
      return openTransaction(session, { events, release, node: server.node });
    } catch (error) {
      release();
      throw error;
    }
  };

  return {
    async run(text, parameters) {
      if (isSelect(text)) return runOn(readers, text, parameters);
      if (server.node !== undefined) return runInTurn(await begin(), text, parameters);
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
    begin,
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

async function beginOn(session: pg.Client, server: PostgresServer): Promise<void> {
  try {
    await session.query(beginQuery(server));
  } catch (error) {
    // Without a turn in time, the transaction has begun and failed.
    await session.query('rollback').catch(() => undefined);
    throw recordsError(error);
  }
}

/** A statement that is a transaction. */
async function runInTurn(
  transaction: OpenTransaction,
  text: string,
  parameters: readonly unknown[],
): Promise<StatementResult> {
  try {
    const result = await transaction.run(text, parameters);
    await transaction.commit(false);
    return result;
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

interface TransactionParts {
  readonly events: ConnectionEvents;
  readonly release: () => void;
  /** Undefined where there are no other nodes. */
  readonly node: string | undefined;
}

function openTransaction(
  session: pg.Client,
  { events: { ran, changing, published }, release, node }: TransactionParts,
): OpenTransaction {
  const changes: RecordChange[] = [];
  const news = () => (node === undefined ? [] : newsQueries(node, { changes, lists: changing() }));
  let isOpen = true;
  const end = (): void => {
    isOpen = false;
    release();
  };
  return {
    run: (text, parameters) => runOn(session, text, parameters),
    publish: (added) => void changes.push(...added),
    async commit(isLazy) {
      const lazily = isLazy ? ['set local synchronous_commit = off'] : [];
      const own = news();
      const text = [...own, ...lazily, 'commit'].join('; ');
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
      if (own.length > 0) published?.();
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
