// Saved views: own ones and those shared with the workspace; who may share and change them (contract 37).
import type { ViewDraft, ViewUpdate } from '../../contract/views.ts';
import { pageOf, type PageRequest } from '../../model/page.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { View } from '../../model/arrangements.ts';
import type { Records } from '../../storage/records/records.ts';
import { viewRows } from '../../storage/records/rows/views.ts';
import { listReach, type ListScope } from '../list-scope.ts';
import { auditView, Crud, found, placeIn, type Step } from '../record-crud.ts';
import { checkRecordQuota } from './organizations.ts';

/** Views that one owner may have in a workspace. */
const viewsMax = 500;

/** Bytes of the content as JSON. */
const viewContentBytesMax = 64 * 1024;

const crud = new Crud<View>('view', 'view', () => viewRows, check);

function view(record: View, principal: Principal) {
  return { ...record, own: record.ownerId === principal.id, ...auditView(record) };
}

async function check(step: Step, record: View, current: View | undefined): Promise<void> {
  if (Buffer.byteLength(JSON.stringify(record.content)) > viewContentBytesMax)
    throw problem('invalidRequest', {
      reason: `body content: must be at most ${viewContentBytesMax} bytes`,
    });
  if (current === undefined) await checkRecordQuota(step, record.organizationId, 'views');
  if (current === undefined && (await viewRows.countOf(step.db, record)) >= viewsMax)
    throw problem('quotaReached', {
      limitName: 'views',
      limitMax: viewsMax,
      per: 'caller',
      what: 'views in a workspace',
    });
}

/** Saved views as callers make and read them. */
export class Views {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /** Throws 403 for a shared view when the principal cannot change the workspace. */
  async create(principal: Principal, draft: ViewDraft) {
    const shared = draft.shared ?? false;
    if (shared) refuseUnlessSharing(principal, draft.workspaceId);
    const record = await crud.create(this.#records, async (step, fields) => ({
      ...fields,
      ...(await placeIn(step, draft.workspaceId)),
      ownerId: principal.id,
      name: draft.name,
      description: draft.description ?? null,
      kind: draft.kind,
      shared,
      content: draft.content ?? {},
    }));
    return view(record, principal);
  }

  /** Throws 404 for a view that another owner has not shared. */
  async read(principal: Principal, id: string) {
    return view(visible(await viewRows.find(this.#records.db, id), principal, id), principal);
  }

  /** The shared views of the workspaces, and those of the principal. */
  async list(
    principal: Principal,
    filter: ListScope & {
      readonly search?: string | undefined;
      readonly kind?: string | undefined;
    },
    page: PageRequest,
  ) {
    const reach = await listReach(this.#records, principal, filter, ['workspace', 'read']);
    const { search, kind } = filter;
    const wanted = { ...reach, search, kind, viewerId: principal.id };
    const { rows, total } = await viewRows.list(this.#records.db, wanted, page);
    const shown = rows.map((record) => view(record, principal));
    return pageOf(shown, total, page);
  }

  /** A view that is or becomes shared needs `workspace` `update`. Throws 403, 404, or 409. */
  async update(principal: Principal, id: string, sent: ViewUpdate) {
    // Checked in the transaction, because the owner may stop sharing at the same moment.
    const record = await crud.update(this.#records, id, sent, (current) => {
      visible(current, principal, id);
      const shared = sent.shared ?? current.shared;
      const isOwn = current.ownerId === principal.id;
      if (shared || !isOwn) refuseUnlessSharing(principal, current.workspaceId);
      const content = sent.content ?? current.content;
      return { kind: sent.kind ?? current.kind, shared, content };
    });
    return view(record, principal);
  }

  /** Owners delete their views; a shared one also who may change the workspace. */
  async remove(principal: Principal, id: string) {
    await crud.remove(this.#records, id, async ({ db }) => {
      const { ownerId, workspaceId } = visible(await viewRows.find(db, id), principal, id);
      if (ownerId !== principal.id) refuseUnlessSharing(principal, workspaceId);
      return [];
    });
  }
}

/** The view, or 404 when the principal does not see it. */
function visible(record: View | undefined, { id: viewerId }: Principal, id: string): View {
  const isVisible = record?.shared === true || record?.ownerId === viewerId;
  return found(isVisible ? record : undefined, 'view', id);
}

/** What all readers see is changed only with the permission to change the workspace. */
function refuseUnlessSharing(principal: Principal, workspaceId: string): void {
  if (!holds(principal, 'workspace', 'update', workspaceId)) throw problem('permissionDenied');
}
