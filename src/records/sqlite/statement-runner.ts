// Statement runner: reads and writes of the records connection, in turns of the event loop.
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { isSelect, type StatementResult } from '../engine.ts';
import { isBusy, recordsError } from './records-error.ts';
import type { RecordsThread } from './records-thread.ts';
import type { Statements } from './statements.ts';
import type { Turns } from './turns.ts';

const busyRetryMs = 20;

/** The parts of a connection that run statements. */
export interface StatementRunner {
  readonly database: DatabaseSync;
  readonly writer: Statements;
  /** The connection for reads while a transaction is open on the writer. */
  readonly readers: { statements(): Statements; renew(): void };
  readonly elsewhere: Pick<RecordsThread, 'renew'>;
  readonly turns: Turns;
  /** Called before each statement of the writer except selects. */
  readonly ran: (statement: string) => void;
  readonly patience: { readonly ms: number };
}

/** Statements that do not see an open transaction. */
function readerOf({ database, readers, writer }: StatementRunner): Statements {
  if (database.isTransaction) return readers.statements();
  return writer;
}

export async function select(
  open: StatementRunner,
  text: string,
  parameters: readonly unknown[],
): Promise<StatementResult> {
  const turn = open.turns.take(false);
  if (turn !== undefined) await turn;
  return translated(() => readerOf(open).run(text, parameters));
}

/** Call with the write lock. */
export async function write(
  { turns, ran, writer, readers, elsewhere, patience }: StatementRunner,
  text: string,
  parameters: readonly unknown[],
): Promise<StatementResult> {
  await turns.take(true);
  if (!isSelect(text)) ran(text);
  const result = await retried(() => writer.run(text, parameters), patience);
  if (/^\s*pragma optimize\b/i.test(text))
    for (const reader of [readers, elsewhere]) reader.renew();
  return result;
}

/** Throws the errors of SQLite as problems. */
export function translated<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw recordsError(error);
  }
}

/** Retries while another program holds the lock, without blocking the event loop. */
async function retried<T>(work: () => T, patience: { readonly ms: number }): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += busyRetryMs) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || waitedMs >= patience.ms) throw recordsError(error);
    }
    await wait(busyRetryMs);
  }
}
