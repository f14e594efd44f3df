// Memberships that the sign-in provider gave, which its groups change and take away.
import { toFlag } from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import type { OrganizationMember } from './members.ts';

export async function organizationsFromProvider(
  db: RecordsDb,
  userId: string,
): Promise<OrganizationMember[]> {
  const query = db.selectFrom('organizationMembers').selectAll().where('userId', '=', userId);
  return (await query.where('fromProvider', '=', toFlag(true)).execute()) as OrganizationMember[];
}

export async function workspacesFromProvider(
  db: RecordsDb,
  userId: string,
): Promise<{ readonly id: string; readonly workspaceId: string }[]> {
  const query = db
    .selectFrom('workspaceMembers')
    .select(['id', 'workspaceId'])
    .where('userId', '=', userId);
  return query.where('fromProvider', '=', toFlag(true)).execute();
}

/** The membership follows the groups of the provider from now on. */
export async function markFromProvider(
  db: RecordsDb,
  table: 'organizationMembers' | 'workspaceMembers',
  id: string,
): Promise<void> {
  await db
    .updateTable(table)
    .set({ fromProvider: toFlag(true) })
    .where('id', '=', id)
    .execute();
}
