// Organizations: read, list and update (contract 1).
import type { JsonObject } from '../model/json.ts';
import type { Organization } from '../model/organization.ts';
import { type Page, type PageRequest, pageOf } from '../model/page.ts';
import type { Principal } from '../model/principal.ts';
import type { Records } from '../store/records/database.ts';
import { findOrganization, saveOrganization } from '../store/records/organizations.ts';
import { findUser } from '../store/records/users.ts';
import { auditView, change, found, nextVersion, orCurrent } from './change.ts';

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

/** Exactly the principal's organization; `minimal` answers id and name alone. */
export async function listOrganizations(
  records: Records,
  principal: Principal,
  minimal: boolean,
  page: PageRequest,
): Promise<Page<Awaited<ReturnType<typeof view>> | { readonly id: string; readonly name: string }>> {
  const own = await readOrganization(records, principal.organizationId);
  const item = minimal ? { id: own.id, name: own.name } : own;
  return pageOf(page.page === 0 ? [item] : [], 1, page);
}

export async function updateOrganization(records: Records, id: string, sent: OrganizationUpdate, now: number) {
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
