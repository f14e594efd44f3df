// Member view: members of an organization or a workspace as answers show them (contract 2).
import { formatInstant } from '../../model/instant.ts';
import { type Page, type PageRequest, pageOf } from '../../model/page.ts';
import type { Records } from '../../storage/records/records.ts';
import {
  listMembers as listRows,
  type MembersOf,
  type NamedMember,
} from '../../storage/records/rows/members.ts';
import { findUser } from '../../storage/records/rows/users.ts';
import { found, type Step } from '../record-change.ts';

export type MemberView = ReturnType<typeof memberView>;

/**
 * Shows the name only after the invitation is accepted: before, it could be that of a user of
 * another organization.
 */
export function memberView(member: NamedMember) {
  const { id, userId, email, role, created, acceptedAt } = member;
  const pending = acceptedAt === null;
  const name = pending ? email : member.name;
  return { id, userId, name, email, role, created: formatInstant(created), pending };
}

/** Throws 404 for a member without a user. */
export async function readMemberView(
  step: Step,
  member: Omit<NamedMember, 'name' | 'email'>,
): Promise<MemberView> {
  const { name, email } = found(await findUser(step.db, member.userId), 'user', member.userId);
  return memberView({ ...member, name, email });
}

export async function listMembers(
  records: Records,
  within: MembersOf,
  page: PageRequest,
): Promise<Page<MemberView>> {
  const { rows, total } = await listRows(records.db, within, page);
  return pageOf(rows.map(memberView), total, page);
}
