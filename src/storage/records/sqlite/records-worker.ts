// Records worker: a connection on its own thread, for long reads, or for checkpoints and their syncs.
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import {
  type FromRecordsWorker,
  type RecordsWorkerStart,
  Statements,
  type ToRecordsWorker,
} from './records-worker-messages.ts';

const { path, kind, cacheKiB, busyTimeoutMs } = workerData as RecordsWorkerStart;
const port = parentPort!;
/** Rows that were read and not asked for yet, by question. */
const waiting = new Map<number, { readonly rows: readonly unknown[]; readonly given: number }>();
const rowsPerAnswer = 2_000;
let open: { readonly database: DatabaseSync; readonly statements: Statements } | undefined;

function connection() {
  if (open !== undefined) return open;
  const database = new DatabaseSync(path, { readOnly: kind === 'reader', timeout: busyTimeoutMs });
  database.exec(`pragma cache_size = -${cacheKiB}`);
  // A checkpoint syncs the log before it copies from it, and the database before it ends.
  database.exec('pragma synchronous = full');
  open = { database, statements: new Statements(database) };
  return open;
}

/** True when the log is empty, on disk too: only then may a new log begin at its place. */
function checkpoint(): boolean {
  const [row] = connection().statements.run('pragma wal_checkpoint(truncate)', []).rows as {
    busy: number;
  }[];
  if (row?.busy !== 0) return false;
  const log = openSync(`${path}-wal`, 'r+');
  try {
    fsyncSync(log);
  } finally {
    closeSync(log);
  }
  return true;
}

function part(of: number): { readonly rows?: unknown[]; readonly hasMore?: boolean } {
  const { rows, given } = waiting.get(of) ?? { rows: [], given: 0 };
  const until = given + rowsPerAnswer;
  const hasMore = until < rows.length;
  if (hasMore) waiting.set(of, { rows, given: until });
  else waiting.delete(of);
  return { rows: rows.slice(given, until), hasMore };
}

function answer(message: ToRecordsWorker): FromRecordsWorker {
  const { id } = message;
  try {
    if (message.ask === 'checkpoint') return { id, isTruncated: checkpoint() };
    if (message.ask === 'renew') {
      open?.database.close();
      open = undefined;
      return { id };
    }
    if (message.ask === 'more') return { id, ...part(message.of) };
    const { rows } = connection().statements.run(message.text, message.parameters);
    waiting.set(id, { rows, given: 0 });
    return { id, ...part(id) };
  } catch (error) {
    const {
      message: text,
      code,
      errcode,
    } = error as Error & { readonly code?: string; readonly errcode?: number };
    return { id, error: { message: text, code, errcode } };
  }
}

port.on('message', (message: ToRecordsWorker) => port.postMessage(answer(message)));
