// Own sessions: where a user is signed in, and how sessions end on every node (contract 35).
import { type EpochMs, formatInstant, minuteMs } from '../model/instant.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { Session } from '../model/user.ts';
import {
  announceAfterCommit,
  type Records,
  type RecordsDb,
  transaction,
  type TransactionStep,
} from '../storage/records/records.ts';
import { sessionRows } from '../storage/records/rows/sign-in.ts';
import type { RecordChange } from '../model/record.ts';

const recentMs = 10 * minuteMs;

/** Whether the session that asks began so recently that it has just shown who its user is. */
export async function isRecentSession(
  { db }: Records,
  { sessionId = '' }: Principal,
  now: EpochMs,
): Promise<boolean> {
  const session = await sessionRows.find(db, sessionId);
  return session !== undefined && now - session.created <= recentMs;
}

/** The newest first. `current` is the session that asks; it is in use now. */
export async function listOwnSessions({ db }: Records, { id, sessionId }: Principal, now: EpochMs) {
  const sessions = await sessionRows.ofUser(db, id);
  const open = sessions.filter(({ expiresAt }) => expiresAt > now);
  return open.toReversed().map((session) => view(session, session.id === sessionId, now));
}

function view(session: Session, current: boolean, now: EpochMs) {
  const { id, signInKind, userAgent, ip, created, lastSeen, expiresAt } = session;
  return {
    id,
    current,
    signInKind,
    userAgent,
    ip,
    created: formatInstant(created),
    // Stored once a minute, so that the row of the session that asks is behind.
    lastSeen: formatInstant(current ? now : lastSeen),
    expires: formatInstant(expiresAt),
  };
}

/** Returns the ended session. Throws 404 for one that is over or belongs to another user. */
export async function endOwnSession(
  records: Records,
  principal: Principal,
  id: string,
): Promise<Session> {
  const session = await sessionRows.find(records.db, id);
  if (session?.userId !== principal.id) throw problem('notFound', { what: 'session', id });
  await endSessionsById(records, [id]);
  return session;
}

// Ended sessions: removed in one transaction that empties the caches of every node.

type Announcing = { readonly db: RecordsDb; readonly announce: (change: RecordChange) => void };

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
  for (const id of ids) await sessionRows.remove(step.db, id);
  const changes = ids.map((id) => ({ kind: 'session', id, action: 'deleted' }) as const);
  await announceAfterCommit(step, announce, changes);
}
