// Sessions of users: how they begin and end, and where a user is signed in (contract 35).
import { randomBytes } from 'node:crypto';
import { newId } from '../model/ids.ts';
import { type EpochMs, formatInstant, minuteMs } from '../model/instant.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { Session, SignInKind, User } from '../model/user.ts';
import {
  announceAfterCommit,
  type Records,
  type RecordsDb,
  transaction,
  type TransactionStep,
} from '../storage/records/records.ts';
import { sessionRows } from '../storage/records/rows/sign-in.ts';
import { organizationMemberRows, userRows } from '../storage/records/rows/users.ts';
import { secretHash } from '../storage/records/secret-encryption.ts';
import { sessionLifetimeMs } from './authenticators.ts';
import type { RecordChange } from '../model/record.ts';

const recentMs = 10 * minuteMs;

const sessionTokenBytes = 32;
/** Beyond this number the oldest session of a user ends. */
const sessionsPerUserMax = 50;
const userAgentLengthMax = 300;

type Announcing = { readonly db: RecordsDb; readonly announce: (change: RecordChange) => void };

/** Sessions of users: how they begin and end, on every node, and what their users see of them. */
export class UserSessions {
  readonly #records: Announcing;
  readonly #now: () => EpochMs;

  constructor(records: Announcing, now: () => EpochMs) {
    this.#records = records;
    this.#now = now;
  }

  /**
   * Starts a session in the requested organization, else in the first that the user joined. Throws
   * 403 for a member of none.
   */
  async start(
    user: User,
    start: {
      readonly signInKind: SignInKind;
      /** Of several, the organization to begin in. */
      readonly organizationId?: string | null | undefined;
      readonly provider?: {
        readonly providerSession: string | null;
        readonly idToken: string | null;
      };
      /** What the owner recognizes the session by. */
      readonly from?: { readonly ip: string; readonly userAgent: string | undefined };
      /** The token of the session that the browser had until now, which ends. */
      readonly replaced?: string | undefined;
    },
  ): Promise<{
    readonly user: User;
    readonly sessionToken: string;
    readonly session: { readonly id: string; readonly organizationId: string };
  }> {
    const { organizationId, signInKind, from, provider, replaced } = start;
    const { db, announce } = this.#records;
    const now = this.#now();
    const memberships = await organizationMemberRows.ofUser(db, user.id);
    const accepted = memberships.filter((member) => member.acceptedAt !== null);
    const member =
      accepted.find((joined) => joined.organizationId === organizationId) ?? accepted[0];
    if (member === undefined) throw problem('noOrganization');
    const sessionToken = randomBytes(sessionTokenBytes).toString('base64url');
    const session = { id: newId('session'), organizationId: member.organizationId };
    const older = await sessionRows.ofUser(db, user.id);
    const crowdedOut = older.slice(0, Math.max(0, older.length + 1 - sessionsPerUserMax));
    const before = replaced && (await sessionRows.byTokenHash(db, secretHash(replaced)));
    const ended = new Set([...crowdedOut, ...(before ? [before] : [])].map(({ id }) => id));
    await transaction(db, async (step) => {
      await removeInStep(step, announce, [...ended]);
      await sessionRows.insert(step.db, {
        ...session,
        tokenHash: secretHash(sessionToken),
        userId: user.id,
        created: now,
        lastSeen: now,
        expiresAt: now + sessionLifetimeMs,
        signInKind,
        userAgent: from?.userAgent?.slice(0, userAgentLengthMax) ?? null,
        ip: from?.ip ?? null,
        providerSession: provider?.providerSession ?? null,
        idToken: provider?.idToken ?? null,
      });
    });
    return { user, sessionToken, session };
  }

  async end(ids: readonly string[]): Promise<void> {
    const { db, announce } = this.#records;
    if (ids.length > 0) await transaction(db, (step) => removeInStep(step, announce, ids));
  }

  /** Ends every session of the user, or every other one; returns how many. */
  async endAll(userId: string, except?: string): Promise<number> {
    const ids = (await sessionRows.ofUser(this.#records.db, userId))
      .map(({ id }) => id)
      .filter((id) => id !== except);
    await this.end(ids);
    return ids.length;
  }

  /** Ends one session, or all that a sign-in provider began for the person. */
  async endOfProvider({
    issuer,
    subject,
    providerSession,
  }: {
    readonly issuer: string;
    readonly subject: string | undefined;
    readonly providerSession: string | undefined;
  }): Promise<void> {
    const { db } = this.#records;
    const identity =
      subject === undefined ? undefined : await userRows.findIdentity(db, { issuer, subject });
    const userId = identity?.userId;
    if (userId === undefined && providerSession === undefined) return;
    await this.end(await sessionRows.fromProvider(db, { userId, providerSession }));
  }

  /** Returns the ended session. Throws 404 for one that is over or belongs to another user. */
  async endOwn(principal: Principal, id: string): Promise<Session> {
    const session = await sessionRows.find(this.#records.db, id);
    if (session?.userId !== principal.id) throw problem('notFound', { what: 'session', id });
    await this.end([id]);
    return session;
  }

  /**
   * Switches the session to another organization. Throws 404 for one that the user is not a member
   * of.
   */
  async switchOrganization(principal: Principal, organizationId: string): Promise<void> {
    const { db, announce } = this.#records;
    const member = await organizationMemberRows.find(db, organizationId, principal.id);
    if (member === undefined || member.acceptedAt === null || principal.sessionId === undefined) {
      throw problem('notFound', { what: 'organization', id: organizationId });
    }
    const { sessionId: id } = principal;
    await transaction(db, async (step) => {
      await sessionRows.saveOrganization(step.db, id, organizationId);
      const changed = { kind: 'session', id, action: 'updated' } as const;
      await announceAfterCommit(step, announce, [changed]);
    });
  }

  /** Whether the session that asks began so recently that it has just shown who its user is. */
  async isRecent({ sessionId = '' }: Principal): Promise<boolean> {
    const session = await sessionRows.find(this.#records.db, sessionId);
    return session !== undefined && this.#now() - session.created <= recentMs;
  }

  /** The newest first. `current` is the session that asks; it is in use now. */
  async listOwn({ id, sessionId }: Principal) {
    const now = this.#now();
    const sessions = await sessionRows.ofUser(this.#records.db, id);
    const open = sessions.filter(({ expiresAt }) => expiresAt > now);
    return open.toReversed().map((session) => view(session, session.id === sessionId, now));
  }
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

/** Removes sessions as a part of a transaction that empties the caches of every node. */
export async function removeInStep(
  step: TransactionStep,
  announce: Records['announce'],
  ids: readonly string[],
): Promise<void> {
  for (const id of ids) await sessionRows.remove(step.db, id);
  const changes = ids.map((id) => ({ kind: 'session', id, action: 'deleted' }) as const);
  await announceAfterCommit(step, announce, changes);
}
