// Second factor demand: which organizations are closed to a session until its user has a second factor.
import { isClosedEverywhere, type Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { Session } from '../model/user.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { organizationMembershipsOf } from '../storage/records/rows/members.ts';
import { hasSecondFactor, organizationsDemanding } from '../storage/records/rows/sign-in.ts';

/**
 * Those of the organizations that demand a second factor which the user does not have. Sessions of
 * the provider are closed out of none, because the provider asks for what its own rules demand.
 */
export async function organizationsClosedTo(
  db: RecordsDb,
  { userId, signInKind }: Pick<Session, 'userId' | 'signInKind'>,
  organizationIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (signInKind === 'PROVIDER') return new Set();
  const demanding = await organizationsDemanding(db, organizationIds);
  if (demanding.size === 0 || (await hasSecondFactor(db, userId))) return new Set();
  return demanding;
}

/** Throws 409 while an organization of the user demands a second factor. */
export async function refuseWithoutSecondFactor(db: RecordsDb, userId: string): Promise<void> {
  const accepted = (await organizationMembershipsOf(db, userId)).filter(
    ({ acceptedAt }) => acceptedAt !== null,
  );
  const demanding = await organizationsDemanding(
    db,
    accepted.map(({ organizationId }) => organizationId),
  );
  if (demanding.size > 0) throw problem('secondFactorDemanded');
}

/** Throws 403 for a session that may only get its user a second factor. */
export function requireMfaSetup(principal: Principal): Principal {
  if (isClosedEverywhere(principal)) throw problem('secondFactorRequired');
  return principal;
}
