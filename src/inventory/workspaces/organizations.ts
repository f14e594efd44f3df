// Organizations: create, read, list, update, delete; what they store, and how much of their quotas they use (contract 1, 36).
import type { OrganizationDraft, OrganizationUpdate } from '../../contract/workspaces.ts';
import { newId } from '../../model/ids.ts';
import type { Organization } from '../../model/workspace.ts';
import { type Page, pageOf, type PageRequest } from '../../model/page.ts';
import { isClosed, type Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import { userRows, organizationMemberRows } from '../../storage/records/rows/users.ts';
import {
  type CountedRecord,
  organizationRows,
  workspaceRows,
} from '../../storage/records/rows/workspaces.ts';
import { auditView, change, Crud, found, orCurrent, type Step } from '../record-crud.ts';
import {
  quotaDetails,
  type QuotaName,
  quotaNames,
  type Quotas,
  quotaTable,
} from '../../model/quota.ts';
import type { WorkspaceUsage } from '../../storage/samples/sample-store.ts';
import type { Samples } from '../../storage/samples/samples.ts';
import { listReach, type ListScope, ownOrganization } from '../list-scope.ts';

type OrganizationView = Awaited<ReturnType<typeof view>>;

async function view(records: Records, record: Organization) {
  const { ownerId, ...organization } = record;
  const owner = found(await userRows.find(records.db, ownerId), 'user', ownerId);
  return {
    ...organization,
    owner: { id: owner.id, name: owner.name, email: owner.email },
    alphaFeatures: false,
    ...auditView(record),
  };
}

const crud = new Crud<Organization>('organization', 'organization', () => organizationRows);

/** Organizations as callers make and read them (contract 1). */
export class Organizations {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async read(id: string) {
    return view(this.#records, await crud.read(this.#records, id));
  }

  /**
   * The user who creates an organization owns it. Throws 403 for a user who has not proven the
   * address.
   */
  async create(principal: Principal, draft: OrganizationDraft) {
    // Without this check an invited user could take any address, and the owner of the address could
    // not.
    if ((await userRows.find(this.#records.db, principal.id))?.proven !== true)
      throw problem('addressNotProven');
    const record = await change(this.#records, async (step) => {
      const created = await crud.create(step, async (_step, fields) => ({
        ...fields,
        name: draft.name,
        description: draft.description ?? null,
        logo: draft.logo ?? null,
        properties: draft.properties ?? null,
        ownerId: principal.id,
      }));
      await addOwner(step, created);
      return created;
    });
    return view(this.#records, record);
  }

  /** Throws 409 for an organization that is not empty, naming its contents. */
  remove(id: string): Promise<void> {
    return crud.remove(this.#records, id, (step) => organizationRows.contentsOf(step.db, id));
  }

  /** The organization of a key or token, or those of a user; `minimal` returns only id and name. */
  async list(
    principal: Principal,
    minimal: boolean,
    page: PageRequest,
  ): Promise<Page<OrganizationView | { readonly id: string; readonly name: string }>> {
    const ids = await organizationIdsOf(this.#records, principal);
    const items: OrganizationView[] = [];
    for (const id of await idsOfPage(this.#records, ids, page)) items.push(await this.read(id));
    if (!minimal) return pageOf(items, ids.length, page);
    const named = items.map(({ id, name }) => ({ id, name }));
    return pageOf(named, ids.length, page);
  }

  /** Ids of the organizations whose membership the user has accepted. */
  async ofUser(userId: string): Promise<string[]> {
    const memberships = await organizationMemberRows.ofUser(this.#records.db, userId);
    return memberships
      .filter(({ acceptedAt }) => acceptedAt !== null)
      .map((member) => member.organizationId);
  }

  async update(id: string, sent: OrganizationUpdate) {
    const record = await crud.update(this.#records, id, sent, (current) => ({
      logo: orCurrent(sent.logo, current.logo),
      properties: orCurrent(sent.properties, current.properties),
    }));
    return view(this.#records, record);
  }

  /**
   * Every workspace that the scope names, without any every one that the principal reaches, in order
   * of name; those without samples too. Throws 404 for what is of another organization and 403 for a
   * named workspace out of reach.
   */
  async usage(principal: Principal, scope: ListScope, samples: Samples, quotas: QuotaUse) {
    const workspaces = await workspaceRows.names(
      this.#records.db,
      await reachOf(this.#records, principal, scope),
    );
    const stored = await samples.usage();
    const content = workspaces.map(({ id, name }) => ({
      workspaceId: id,
      name,
      ...(stored.get(id) ?? nothing),
    }));
    const sum = (figure: keyof WorkspaceUsage) =>
      content.reduce((total, workspace) => total + workspace[figure], 0);
    const total = { samples: sum('samples'), bytes: sum('bytes') };
    // Counts of the organization are only for those who may see all of it.
    if (principal.workspaces !== 'all') return { content, total };
    return {
      content,
      total,
      quotas: [...(await quotas.of(ownOrganization(principal, scope.organizationId)))],
    };
  }
}

async function addOwner(step: Step, { id: organizationId, ownerId, created }: Organization) {
  const id = newId('member');
  const times = { created, acceptedAt: created };
  await organizationMemberRows.insert(step.db, {
    id,
    organizationId,
    userId: ownerId,
    role: 'OWNER',
    ...times,
  });
  step.announce({ kind: 'member', id, userId: ownerId, action: 'created' });
}

async function idsOfPage(
  records: Records,
  ids: readonly string[],
  page: PageRequest,
): Promise<readonly string[]> {
  if (page.sort.length > 0) return organizationRows.pageOf(records.db, ids, page);
  return ids.slice(page.page * page.size, (page.page + 1) * page.size);
}

/**
 * A user may be a member of several; the one of the session comes first. Those that demand a second
 * factor which the session lacks are omitted.
 */
async function organizationIdsOf(records: Records, principal: Principal): Promise<string[]> {
  const { kind, id, organizationId } = principal;
  if (kind !== 'USER') return [organizationId];
  const others = (await new Organizations(records).ofUser(id)).filter(
    (other) => other !== organizationId && !isClosed(principal, other),
  );
  return [organizationId, ...others];
}

// Usage: stored samples of workspaces, and used quotas of the organization (contract 36).

const nothing: WorkspaceUsage = { samples: 0, bytes: 0 };

async function reachOf(records: Records, principal: Principal, scope: ListScope) {
  const { workspaceIds = [] } = scope;
  if (workspaceIds.length > 0 || principal.workspaces === 'all')
    return listReach(records, principal, scope);
  return {
    organizationId: ownOrganization(principal, scope.organizationId),
    workspaceIds: [...principal.workspaces],
  };
}

// Quota use: how much of each quota an organization uses; the owner of each count adds its reader (contract 36).

/** Reads a stored count; it must not scan. */
type QuotaReader = (organizationId: string) => number | Promise<number>;

interface QuotaView {
  readonly limit: QuotaName;
  /** Whose limit it is. */
  readonly per: string;
  readonly max: number;
  /** Null for limits of single devices and uplinks. */
  readonly used: number | null;
}

export class QuotaUse {
  readonly #quotas: Quotas;
  readonly #readers;

  constructor(records: Records, quotas: Quotas) {
    this.#quotas = quotas;
    const stored = ['devices', 'rules', 'views', 'openAlarms'] as const;
    this.#readers = new Map<QuotaName, QuotaReader>(
      stored.map((name) => [
        name,
        (organizationId) => organizationRows.countOf(records.committed, organizationId, name),
      ]),
    );
  }

  async of(organizationId: string): Promise<readonly QuotaView[]> {
    const views: QuotaView[] = [];
    for (const limit of quotaNames) {
      const used = (await this.#readers.get(limit)?.(organizationId)) ?? null;
      views.push({ limit, per: quotaTable[limit].per, max: this.#quotas[limit], used });
    }
    return views;
  }

  /** Adds a reader, one for each quota. */
  readBy(name: QuotaName, read: QuotaReader): void {
    this.#readers.set(name, read);
  }
}

// Record quotas: limits of how many records an organization has (contract 36).

/** Call in the transaction that inserts the record. Throws 409 `quotaReached` at the limit. */
export async function checkRecordQuota(
  step: Step,
  organizationId: string,
  what: CountedRecord,
): Promise<void> {
  refuseAtQuota(step.quotas, what, await organizationRows.countOf(step.db, organizationId, what));
}

/** The same for a count that is known. */
export function refuseAtQuota(quotas: Quotas, what: CountedRecord, used: number): void {
  if (used >= quotas[what]) throw problem('quotaReached', quotaDetails(quotas, what));
}
