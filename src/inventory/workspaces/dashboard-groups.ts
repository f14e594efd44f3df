// Dashboard groups: create, read, list, update, delete (contract 32).
import type { DashboardGroupDraft } from '../../contract/dashboards.ts';
import type { DashboardGroup } from '../../model/arrangements.ts';
import { type PageRequest, pageOf } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { dashboardGroupRows, dashboardsOfGroup } from '../../storage/records/rows/dashboards.ts';
import type { Records } from '../../storage/records/records.ts';
import { auditView, type RecordUpdate, usersNamedMax } from '../record-change.ts';
import { Crud, placeIn } from '../record-crud.ts';
import { type ListScope, listReach } from '../list-scope.ts';

const view = (record: DashboardGroup) => ({ ...record, ...auditView(record) });

const crud = new Crud<DashboardGroup>(
  'dashboardGroup',
  'dashboard group',
  () => dashboardGroupRows,
);

export async function createDashboardGroup(records: Records, draft: DashboardGroupDraft) {
  const record = await crud.create(records, async (step, fields) => ({
    ...fields,
    ...(await placeIn(step, draft.workspaceId)),
    name: draft.name,
    description: draft.description ?? null,
  }));
  return view(record);
}

export async function readDashboardGroup(records: Records, id: string) {
  return view(await crud.read(records, id));
}

export async function listDashboardGroups(
  records: Records,
  principal: Principal,
  filter: ListScope & { readonly search?: string | undefined },
  page: PageRequest,
) {
  const reach = await listReach(records, principal, filter);
  const { rows, total } = await dashboardGroupRows.list(
    records.db,
    { ...reach, search: filter.search },
    page,
  );
  return pageOf(rows.map(view), total, page);
}

export async function updateDashboardGroup(records: Records, id: string, sent: RecordUpdate) {
  return view(await crud.update(records, id, sent, () => ({})));
}

/** Throws 409 for a group that has dashboards, naming some of them. */
export function deleteDashboardGroup(records: Records, id: string): Promise<void> {
  return crud.remove(records, id, (step) => dashboardsOfGroup(step.db, id, usersNamedMax));
}
