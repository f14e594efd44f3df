// Users and members in the records store. A user without a password has not accepted an invitation, or signs in at a provider.
import type { Selectable } from 'kysely';
import type { EpochMs } from '../../../model/instant.ts';
import type { Member, OrganizationRole, User, WorkspaceRole } from '../../../model/user.ts';
import { fromFlag, isOneOf, toFlag } from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { RecordRows } from './record-rows.ts';
import { removeSecondFactorsOf } from './sign-in.ts';
import { viewRows, preferenceRows } from './views.ts';
import type { PageRequest } from '../../../model/page.ts';
import { pageOfRows, type Rows } from '../list.ts';

// Represents no password: no hash has this form, so nothing can match it.
const noPassword = '!';

function toRow(user: User): Selectable<RecordTables['users']> {
  return { ...user, passwordHash: user.passwordHash ?? noPassword, proven: toFlag(user.proven) };
}

function fromRow(row: Selectable<RecordTables['users']>): User {
  const passwordHash = row.passwordHash === noPassword ? null : row.passwordHash;
  return { ...row, passwordHash, proven: fromFlag(row.proven) };
}

class UserRows extends RecordRows<'users', User> {
  /** Removes a user who is a member of nothing any more, with sessions and invitations. */
  override async remove(db: RecordsDb, id: string) {
    await db.deleteFrom('sessions').where('userId', '=', id).execute();
    await db.deleteFrom('invitations').where('userId', '=', id).execute();
    await db.deleteFrom('passwordResets').where('userId', '=', id).execute();
    await removeSecondFactorsOf(db, id);
    await userRows.forgetFirstPassword(db, id);
    await removeIdentitiesOf(db, id);
    await preferenceRows.removeOf(db, id);
    await viewRows.removePrivateOf(db, id);
    await super.remove(db, id);
  }

  /** `email` in lower case. */
  async byEmail(db: RecordsDb, email: string): Promise<User | undefined> {
    return this.first(db, this.select(db).where('email', '=', email));
  }

  async findIdentity(
    db: RecordsDb,
    { issuer, subject }: { readonly issuer: string; readonly subject: string },
  ): Promise<UserIdentity | undefined> {
    const query = db.selectFrom('userIdentities').selectAll().where('issuer', '=', issuer);
    return query.where('subject', '=', subject).executeTakeFirst();
  }

  async hasIdentityOf(db: RecordsDb, userId: string, issuer: string): Promise<boolean> {
    const query = db.selectFrom('userIdentities').select('userId').where('userId', '=', userId);
    return (await query.where('issuer', '=', issuer).executeTakeFirst()) !== undefined;
  }

  async insertIdentity(db: RecordsDb, identity: UserIdentity): Promise<void> {
    await db.insertInto('userIdentities').values(identity).execute();
  }

  // First passwords in the records store: users whose password was generated, and shown in the log of the first start.
  async insertFirstPassword(db: RecordsDb, userId: string): Promise<void> {
    await db.insertInto('firstPasswords').values({ userId }).execute();
  }

  /** Whether the user still has it. */
  async hasFirstPassword(db: RecordsDb, userId: string): Promise<boolean> {
    const query = db.selectFrom('firstPasswords').select('userId').where('userId', '=', userId);
    return (await query.executeTakeFirst()) !== undefined;
  }

  async forgetFirstPassword(db: RecordsDb, userId: string): Promise<void> {
    await db.deleteFrom('firstPasswords').where('userId', '=', userId).execute();
  }
}

export const userRows = new UserRows('users', toRow, fromRow);

// User identities in the records store: the users of people whom a provider has proven.

interface UserIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly userId: string;
  readonly created: EpochMs;
}

async function removeIdentitiesOf(db: RecordsDb, userId: string): Promise<void> {
  await db.deleteFrom('userIdentities').where('userId', '=', userId).execute();
}

// Members of organizations and workspaces in the records store.

export interface OrganizationMember extends Member<OrganizationRole> {
  readonly organizationId: string;
}

interface WorkspaceMember extends Member<WorkspaceRole> {
  readonly workspaceId: string;
}

/** A member with what lists show of the user. */
export interface NamedMember extends Member<OrganizationRole | WorkspaceRole> {
  readonly name: string;
  readonly email: string;
}

/** Where a membership is: in an organization, or in a workspace. */
export type MembersOf = { readonly organizationId: string } | { readonly workspaceId: string };

/** The role counts when the user accepted the membership of the organization. */
function workspaceMembers(db: RecordsDb) {
  return db
    .selectFrom('workspaceMembers')
    .innerJoin('workspaces', 'workspaces.id', 'workspaceMembers.workspaceId')
    .innerJoin('organizationMembers', (join) =>
      join
        .onRef('organizationMembers.userId', '=', 'workspaceMembers.userId')
        .onRef('organizationMembers.organizationId', '=', 'workspaces.organizationId'),
    );
}

const organizationColumns = {
  name: 'users.name',
  email: 'users.email',
  role: 'organizationMembers.role',
  created: 'organizationMembers.created',
};
const workspaceColumns = {
  ...organizationColumns,
  role: 'workspaceMembers.role',
  created: 'workspaceMembers.created',
};

export async function listMembers(
  db: RecordsDb,
  of: MembersOf,
  page: PageRequest,
): Promise<Rows<NamedMember>> {
  if ('organizationId' in of) {
    const query = db
      .selectFrom('organizationMembers')
      .innerJoin('users', 'users.id', 'organizationMembers.userId')
      .selectAll('organizationMembers')
      .select(['users.name', 'users.email'])
      .where('organizationMembers.organizationId', '=', of.organizationId);
    return pageOfRows<'organizationMembers', NamedMember>(query as never, page, {
      columns: organizationColumns,
      table: 'organizationMembers',
    });
  }
  const query = workspaceMembers(db)
    .innerJoin('users', 'users.id', 'workspaceMembers.userId')
    .selectAll('workspaceMembers')
    .select(['users.name', 'users.email', 'organizationMembers.acceptedAt'])
    .where('workspaceMembers.workspaceId', '=', of.workspaceId);
  return pageOfRows<'workspaceMembers', NamedMember>(query as never, page, {
    columns: workspaceColumns,
    table: 'workspaceMembers',
  });
}

class WorkspaceMemberRows {
  async insert(db: RecordsDb, member: WorkspaceMember): Promise<void> {
    const { acceptedAt: _, ...row } = member;
    await db.insertInto('workspaceMembers').values(row).execute();
  }

  /** Roles in single workspaces of the organization. */
  async ofUser(db: RecordsDb, organizationId: string, userId: string): Promise<WorkspaceMember[]> {
    const query = workspaceMembers(db)
      .selectAll('workspaceMembers')
      .select('organizationMembers.acceptedAt')
      .where('workspaces.organizationId', '=', organizationId);
    return (await query
      .where('workspaceMembers.userId', '=', userId)
      .execute()) as WorkspaceMember[];
  }

  async find(
    db: RecordsDb,
    workspaceId: string,
    userId: string,
  ): Promise<WorkspaceMember | undefined> {
    const query = workspaceMembers(db)
      .selectAll('workspaceMembers')
      .select('organizationMembers.acceptedAt')
      .where('workspaceMembers.workspaceId', '=', workspaceId);
    return (await query.where('workspaceMembers.userId', '=', userId).executeTakeFirst()) as
      | WorkspaceMember
      | undefined;
  }

  async saveRole(db: RecordsDb, id: string, role: WorkspaceRole): Promise<void> {
    await db.updateTable('workspaceMembers').set({ role }).where('id', '=', id).execute();
  }

  async remove(db: RecordsDb, id: string): Promise<void> {
    await db.deleteFrom('workspaceMembers').where('id', '=', id).execute();
  }
}

export const workspaceMemberRows = new WorkspaceMemberRows();

const emailsPerStatement = 500;

class OrganizationMemberRows {
  async insert(db: RecordsDb, member: OrganizationMember): Promise<void> {
    await db.insertInto('organizationMembers').values(member).execute();
  }

  async ofUser(db: RecordsDb, userId: string): Promise<OrganizationMember[]> {
    const query = db.selectFrom('organizationMembers').selectAll().where('userId', '=', userId);
    return (await query.orderBy('created').orderBy('id').execute()) as OrganizationMember[];
  }

  async find(
    db: RecordsDb,
    organizationId: string,
    userId: string,
  ): Promise<OrganizationMember | undefined> {
    const query = db
      .selectFrom('organizationMembers')
      .selectAll()
      .where('organizationId', '=', organizationId);
    return (await query.where('userId', '=', userId).executeTakeFirst()) as
      | OrganizationMember
      | undefined;
  }

  async save(db: RecordsDb, { id, role, acceptedAt }: OrganizationMember): Promise<void> {
    await db
      .updateTable('organizationMembers')
      .set({ role, acceptedAt })
      .where('id', '=', id)
      .execute();
  }

  /** With the roles in the organization's workspaces. */
  async remove(db: RecordsDb, member: OrganizationMember): Promise<void> {
    const { organizationId, userId } = member;
    const workspaces = db
      .selectFrom('workspaces')
      .select('id')
      .where('organizationId', '=', organizationId);
    await db
      .deleteFrom('workspaceMembers')
      .where('userId', '=', userId)
      .where('workspaceId', 'in', workspaces)
      .execute();
    for (const table of ['sessions', 'invitations'] as const)
      await db
        .deleteFrom(table)
        .where('userId', '=', userId)
        .where('organizationId', '=', organizationId)
        .execute();
    await viewRows.removePrivateOf(db, userId, organizationId);
    await db.deleteFrom('organizationMembers').where('id', '=', member.id).execute();
  }

  /** Owners who accepted, the longest standing first. */
  async owners(db: RecordsDb, organizationId: string): Promise<OrganizationMember[]> {
    const query = db
      .selectFrom('organizationMembers')
      .selectAll()
      .where('organizationId', '=', organizationId);
    const owners = query.where('role', '=', 'OWNER').where('acceptedAt', 'is not', null);
    return (await owners.orderBy('created').orderBy('id').execute()) as OrganizationMember[];
  }

  /** Those of the addresses that belong to members of the organization, in the form in which they are stored. */
  async emailsAmong(
    db: RecordsDb,
    organizationId: string,
    emails: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (let from = 0; from < emails.length; from += emailsPerStatement) {
      const rows = await db
        .selectFrom('organizationMembers')
        .innerJoin('users', 'users.id', 'organizationMembers.userId')
        .select('users.email')
        .where('organizationMembers.organizationId', '=', organizationId)
        .where(isOneOf('users.email', emails.slice(from, from + emailsPerStatement)))
        .execute();
      for (const { email } of rows) found.add(email);
    }
    return found;
  }

  /** Addresses of the owners of the organization who have accepted, the longest standing first. */
  async ownerEmails(db: RecordsDb, organizationId: string, max: number): Promise<string[]> {
    const rows = await db
      .selectFrom('organizationMembers')
      .innerJoin('users', 'users.id', 'organizationMembers.userId')
      .select('users.email')
      .where('organizationMembers.organizationId', '=', organizationId)
      .where('organizationMembers.role', '=', 'OWNER')
      .where('organizationMembers.acceptedAt', 'is not', null)
      .orderBy('organizationMembers.created')
      .orderBy('organizationMembers.id')
      .limit(max)
      .execute();
    return rows.map(({ email }) => email);
  }
}

export const organizationMemberRows = new OrganizationMemberRows();
