// A user's own account as the console shows it: who, in which organization, with which role.
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { organizationMembershipsOf } from '../storage/records/rows/members.ts';
import { findOrganizationNames } from '../storage/records/rows/organizations.ts';
import { findUser, hasFirstPassword } from '../storage/records/rows/users.ts';

/** `organizationId` is that of the session. Throws 401 for somebody who is gone. */
export async function readAccount(
  db: RecordsDb,
  { id, organizationId }: Pick<Principal, 'id' | 'organizationId'>,
) {
  const user = await findUser(db, id);
  const memberships = (await organizationMembershipsOf(db, id)).filter(
    ({ acceptedAt }) => acceptedAt !== null,
  );
  const role = memberships.find((member) => member.organizationId === organizationId)?.role;
  if (user === undefined || role === undefined) throw problem('unauthorized');
  const names = await findOrganizationNames(
    db,
    memberships.map((member) => member.organizationId),
  );
  const organizations = memberships.map((member) => ({
    organizationId: member.organizationId,
    name: names.get(member.organizationId) ?? '',
    role: member.role,
  }));
  const isFirst = user.passwordHash !== null && (await hasFirstPassword(db, id));
  return {
    id,
    name: user.name,
    email: user.email,
    organizationId,
    role,
    organizations,
    ...(isFirst && { passwordChangeRequired: true }),
  };
}
