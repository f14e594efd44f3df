// Transaction of the records: changes that are committed together, and the tasks that begin once they are.
import type { RecordChange } from '../../model/record.ts';
import type { AfterCommit, RecordsDb } from './records.ts';
import { publishChanges, withoutSync } from './connection-pool.ts';

/** A transaction while it is open. */
export interface TransactionStep {
  readonly db: RecordsDb;
  /** Runs the tasks in order once the changes are committed. A rollback drops them. */
  readonly afterCommit: AfterCommit;
}

/**
 * Runs the work in a transaction. `lazy`: the commit does not wait for the disk, for what can be
 * made again from the journal. After a power cut the newest of them may be missing, whole; the next
 * commit of any other kind makes them durable.
 */
export async function transaction<T>(
  db: RecordsDb,
  work: (step: TransactionStep) => Promise<T>,
  durability: 'synced' | 'lazy' = 'synced',
): Promise<T> {
  const tasks: (() => void)[] = [];
  const afterCommit: AfterCommit = (task) => void tasks.push(task);
  const execute = (own: RecordsDb) =>
    own.transaction().execute((step) => work({ db: step, afterCommit }));
  const result = await (durability === 'lazy' ? withoutSync(db, execute) : execute(db));
  runAll(tasks);
  return result;
}

/** Announces the changes once they are committed: in this process, and to other nodes. */
export async function announceAfterCommit(
  { db, afterCommit }: TransactionStep,
  announce: (change: RecordChange) => void,
  changes: readonly RecordChange[],
): Promise<void> {
  await publishChanges(db, changes);
  afterCommit(() => changes.forEach(announce));
}

/** A task that throws keeps no other from running: what they follow from is committed. */
function runAll(tasks: readonly (() => void)[]): void {
  const errors: unknown[] = [];
  for (const task of tasks) {
    try {
      task();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
