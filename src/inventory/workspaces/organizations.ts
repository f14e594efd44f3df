// Organizations: create, read, list, update, delete (contract 1).
import { newId } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Organization } from '../../model/organization.ts';
import { type Page, type PageRequest, pageOf } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Records } from '../../records/records.ts';
import { insertOrganizationMember, organizationMembershipsOf } from '../../records/rows/members.ts';
import {
  findOrganization,
  findOrganizationPage,
  insertOrganization,
  organizationContents,
  removeOrganization,
  saveOrganization,
} from '../../records/rows/organizations.ts';
import { findUser } from '../../records/rows/users.ts';
import {
  auditView,
  change,
  firstVersion,
  found,
  nextVersion,
  orCurrent,
  refuseWhenUsed,
} from '../record-change.ts';

export interface OrganizationDraft {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly logo?: string | null | undefined;
  readonly properties?: JsonObject | null | undefined;
}

export interface OrganizationUpdate {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly logo?: string | null | undefined;
  readonly properties?: JsonObject | null | undefined;
  readonly version?: number | null | undefined;
}

async function view(records: Records, record: Organization) {
  const { ownerId, ...organization } = record;
  const owner = found(await findUser(records.db, ownerId), 'user', ownerId);
  return {
    ...organization,
    owner: { id: owner.id, name: owner.name, email: owner.email },
    alphaFeatures: false,
    ...auditView(record),
  };
}

export async function readOrganization(records: Records, id: string) {
  return view(records, found(await findOrganization(records.db, id), 'organization', id));
}

/** The user who makes an organization owns it. Throws 403 for a user who has not proven the address. */
export async function createOrganization(
  records: Records,
  principal: Principal,
  draft: OrganizationDraft,
  now: number,
) {
  // Else whoever is invited could take any address with an organization of the own, and the owner of the address could not.
  if ((await findUser(records.db, principal.id))?.proven !== true)
    throw problem('addressNotProven');
  const id = newId('organization');
  const record: Organization = {
    id,
    name: draft.name,
    description: draft.description ?? null,
    logo: draft.logo ?? null,
    properties: draft.properties ?? null,
    ownerId: principal.id,
    ...firstVersion(now),
  };
  await change(records, async (step) => {
    await insertOrganization(step.db, record);
    const member = {
      id: newId('member'),
      organizationId: id,
      userId: principal.id,
      created: now,
      acceptedAt: now,
    };
    await insertOrganizationMember(step.db, { ...member, role: 'OWNER' });
    step.announce({ kind: 'organization', id, action: 'created' });
    step.announce({ kind: 'member', id: member.id, action: 'created' });
  });
  return view(records, record);
}

/** Only an organization without workspaces and other content can be deleted; else 409 says what is in it. */
export async function deleteOrganization(records: Records, id: string): Promise<void> {
  await change(records, async (step) => {
    found(await findOrganization(step.db, id), 'organization', id);
    refuseWhenUsed('organization', await organizationContents(step.db, id));
    await removeOrganization(step.db, id);
    step.announce({ kind: 'organization', id, action: 'deleted' });
  });
}

/** Exactly the organization of a key or token, or those of a user; `minimal` answers id and name alone. */
export async function listOrganizations(
  records: Records,
  principal: Principal,
  minimal: boolean,
  page: PageRequest,
): Promise<
  Page<Awaited<ReturnType<typeof view>> | { readonly id: string; readonly name: string }>
> {
  const ids =
    principal.kind === 'USER'
      ? await organizationIdsOf(records, principal)
      : [principal.organizationId];
  const shown =
    page.sort.length > 0
      ? await findOrganizationPage(records.db, ids, page)
      : ids.slice(page.page * page.size, (page.page + 1) * page.size);
  const items: Awaited<ReturnType<typeof view>>[] = [];
  for (const id of shown) items.push(await readOrganization(records, id));
  return pageOf(minimal ? items.map(({ id, name }) => ({ id, name })) : items, ids.length, page);
}

/** Ids of the organizations whose membership the user has accepted. */
export async function organizationsOf(records: Records, userId: string): Promise<string[]> {
  const memberships = await organizationMembershipsOf(records.db, userId);
  return memberships
    .filter(({ acceptedAt }) => acceptedAt !== null)
    .map((member) => member.organizationId);
}

/** A user may be a member of several; the one the session is in comes first. */
async function organizationIdsOf(
  records: Records,
  { id, organizationId }: Principal,
): Promise<string[]> {
  const accepted = await organizationsOf(records, id);
  return [organizationId, ...accepted.filter((other) => other !== organizationId)];
}

export async function updateOrganization(
  records: Records,
  id: string,
  sent: OrganizationUpdate,
  now: number,
) {
  const saved = await change(records, async (step) => {
    const current = found(await findOrganization(step.db, id), 'organization', id);
    const record: Organization = {
      ...current,
      name: orCurrent(sent.name, current.name),
      description: orCurrent(sent.description, current.description),
      logo: orCurrent(sent.logo, current.logo),
      properties: orCurrent(sent.properties, current.properties),
      ...nextVersion(current, sent.version, now),
    };
    await saveOrganization(step.db, record);
    step.announce({ kind: 'organization', id, action: 'updated' });
    return record;
  });
  return view(records, saved);
}
