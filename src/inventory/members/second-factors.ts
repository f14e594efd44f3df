// Second factors of members: an organization demands them, and a member who lost every one starts again.
import { type Actor, isClosed, type Principal } from '../../model/principal.ts';
import { emailAddressOf, type OrganizationRole, type User } from '../../model/user.ts';
import { problem } from '../../model/problem.ts';
import type { Records, RecordsDb } from '../../storage/records/records.ts';
import {
  findOrganizationMember,
  type OrganizationMember,
  organizationMembershipsOf,
  userRows,
} from '../../storage/records/rows/users.ts';
import {
  demandsSecondFactor,
  hasSecondFactor,
  removeSecondFactorsOf,
  saveSecondFactorDemand,
  sessionRows,
} from '../../storage/records/rows/sign-in.ts';
import { auditAction } from '../audit/audit.ts';
import { change, found, type Step } from '../record-change.ts';
import { assertRoleWithinOwn } from './machine-credentials.ts';

/**
 * Removes app, passkeys and recovery codes of the member, and ends the member's sessions. Throws
 * 403 for the caller's own, for a role that may do more than the caller's, and for a member of an
 * organization where the caller cannot do the same: the account is one for all of them. Throws
 * 404 for a membership that is not accepted, because the user did not agree to it.
 */
export async function resetSecondFactors(
  records: Records,
  principal: Principal,
  organizationId: string,
  userId: string,
): Promise<void> {
  const actor = records.actor();
  await change(records, async (step) => {
    const { db } = step;
    const member = await findOrganizationMember(db, organizationId, userId);
    const accepted = member === undefined || member.acceptedAt === null ? undefined : member;
    const { role } = found(accepted, 'member', userId);
    if (userId === principal.id) throw problem('ownSecondFactorReset');
    assertRoleWithinOwn(principal, role);
    if (!(await mayResetEverywhere(db, principal, userId))) throw problem('memberElsewhere');
    const user = found(await userRows.find(db, userId), 'user', userId);
    await removeFactors(step, userId);
    if (actor !== undefined) await logReset(step, actor, { organizationId, user });
  });
}

export interface OperatorReset {
  /** Whether the user had an authenticator app or a passkey. */
  readonly hadFactor: boolean;
  readonly endedSessions: number;
}

/**
 * The same in the name of the operator, who may do it for every account: an only owner has no
 * other way back. Each organization of the user has it in its audit log. Undefined for an unknown
 * address.
 */
export async function resetSecondFactorsByOperator(
  records: Records,
  email: string,
  operator: Actor,
): Promise<OperatorReset | undefined> {
  return change(records, async (step) => {
    const user = await userRows.byEmail(step.db, emailAddressOf(email));
    if (user === undefined) return undefined;
    const hadFactor = await hasSecondFactor(step.db, user.id);
    const endedSessions = await removeFactors(step, user.id);
    const memberships = await organizationMembershipsOf(step.db, user.id);
    for (const { organizationId } of memberships.filter(isAccepted))
      await logReset(step, operator, { organizationId, user });
    return { hadFactor, endedSessions };
  });
}

/** How many sessions it has ended. */
async function removeFactors(step: Step, userId: string): Promise<number> {
  await removeSecondFactorsOf(step.db, userId);
  const sessions = await sessionRows.removeOf(step.db, userId);
  for (const id of sessions) step.announce({ kind: 'session', id, action: 'deleted' });
  step.announce({ kind: 'user', id: userId, action: 'updated' });
  return sessions.length;
}

function logReset(
  step: Step,
  actor: Actor,
  about: { readonly organizationId: string; readonly user: User },
): Promise<void> {
  const changes = [{ field: 'secondFactors', secret: true }] as const;
  return auditAction(step, actor, { ...about, action: 'UPDATE', changes });
}

async function mayResetEverywhere(
  db: RecordsDb,
  principal: Principal,
  userId: string,
): Promise<boolean> {
  const own = new Map(
    (await organizationMembershipsOf(db, principal.id))
      .filter(isAccepted)
      .filter(({ organizationId }) => !isClosed(principal, organizationId))
      .map(({ organizationId, role }) => [organizationId, role]),
  );
  const theirs = (await organizationMembershipsOf(db, userId)).filter(isAccepted);
  return theirs.every(({ organizationId, role }) => mayReset(own.get(organizationId), role));
}

function isAccepted({ acceptedAt }: OrganizationMember): boolean {
  return acceptedAt !== null;
}

function mayReset(own: OrganizationRole | undefined, role: OrganizationRole): boolean {
  return own === 'OWNER' || (own === 'ADMIN' && role !== 'OWNER');
}

// Second factor demand of an organization: whether its members must have a second factor.

export async function readSecondFactorDemand({ db }: Records, organizationId: string) {
  return { secondFactorRequired: await demandsSecondFactor(db, organizationId) };
}

/**
 * Open sessions follow the change with their next request. Throws 409 for a caller who demands what
 * the caller does not have, and would be shut out.
 */
export async function changeSecondFactorDemand(
  records: Records,
  principal: Principal,
  organizationId: string,
  required: boolean,
) {
  return change(records, async (step) => {
    if ((await demandsSecondFactor(step.db, organizationId)) !== required) {
      if (required && !(await wouldStay(step.db, principal)))
        throw problem('ownSecondFactorMissing');
      await saveSecondFactorDemand(step.db, organizationId, required);
      step.announce({ kind: 'organization', id: organizationId, action: 'updated' });
    }
    return { secondFactorRequired: required };
  });
}

/** Whether the demand does not concern the caller: with a second factor, or signed in by the provider. */
async function wouldStay(db: RecordsDb, { id, sessionId }: Principal): Promise<boolean> {
  if (await hasSecondFactor(db, id)) return true;
  const session = sessionId === undefined ? undefined : await sessionRows.find(db, sessionId);
  return session?.signInKind === 'PROVIDER';
}
