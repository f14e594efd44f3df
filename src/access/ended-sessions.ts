// Ended sessions: removed in one transaction that empties the caches of every node.
import type { Records } from '../storage/records/records.ts';
import { removeSession } from '../storage/records/rows/sign-in.ts';
import {
  announceAfterCommit,
  transaction,
  type TransactionStep,
} from '../storage/records/transaction.ts';

type Announcing = Pick<Records, 'db' | 'announce'>;

export async function endSessionsById(
  { db, announce }: Announcing,
  ids: readonly string[],
): Promise<void> {
  if (ids.length > 0) await transaction(db, (step) => removeInStep(step, announce, ids));
}

/** The same as a part of the transaction. */
export async function removeInStep(
  step: TransactionStep,
  announce: Records['announce'],
  ids: readonly string[],
): Promise<void> {
  for (const id of ids) await removeSession(step.db, id);
  const changes = ids.map((id) => ({ kind: 'session', id, action: 'deleted' }) as const);
  await announceAfterCommit(step, announce, changes);
}
