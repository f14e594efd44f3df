// Dashboard groups: create, read, list, update, delete (contract 32).
import type { DashboardGroup } from '../../model/dashboard.ts';
import { newId } from '../../model/ids.ts';
import { type PageRequest, pageOf } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import {
  dashboardsOfGroup,
  findDashboardGroup,
  insertDashboardGroup,
  listDashboardGroups as listRows,
  removeDashboardGroup,
  saveDashboardGroup,
} from '../../records/rows/dashboards.ts';
import type { Records } from '../../records/records.ts';
import { findWorkspace } from '../../records/rows/workspaces.ts';
import {
  auditView,
  change,
  firstVersion,
  found,
  nextVersion,
  orCurrent,
  type RecordUpdate,
  refuseWhenUsed,
  usersNamedMax,
} from '../record-change.ts';
import { type ListScope, listReach } from '../list-scope.ts';

type DashboardGroupUpdate = RecordUpdate;

export interface DashboardGroupDraft extends DashboardGroupUpdate {
  readonly workspaceId: string;
  readonly name: string;
}

const view = (record: DashboardGroup) => ({ ...record, ...auditView(record) });

export async function createDashboardGroup(
  records: Records,
  draft: DashboardGroupDraft,
  now: number,
) {
  return change(records, async (step) => {
    const { organizationId } = found(
      await findWorkspace(step.db, draft.workspaceId),
      'workspace',
      draft.workspaceId,
    );
    const { name, workspaceId, description = null } = draft;
    const id = newId('dashboardGroup');
    const record = { id, organizationId, workspaceId, name, description, ...firstVersion(now) };
    await insertDashboardGroup(step.db, record);
    step.announce({ kind: 'dashboardGroup', id, action: 'created' });
    return view(record);
  });
}

export async function readDashboardGroup(records: Records, id: string) {
  return view(found(await findDashboardGroup(records.db, id), 'dashboard group', id));
}

export async function listDashboardGroups(
  records: Records,
  principal: Principal,
  filter: ListScope & { readonly search?: string | undefined },
  page: PageRequest,
) {
  const reach = await listReach(records, principal, filter);
  const { rows, total } = await listRows(records.db, { ...reach, search: filter.search }, page);
  return pageOf(rows.map(view), total, page);
}

export async function updateDashboardGroup(
  records: Records,
  id: string,
  sent: DashboardGroupUpdate,
  now: number,
) {
  return change(records, async (step) => {
    const current = found(await findDashboardGroup(step.db, id), 'dashboard group', id);
    const record: DashboardGroup = {
      ...current,
      name: orCurrent(sent.name, current.name),
      description: orCurrent(sent.description, current.description),
      ...nextVersion(current, sent.version, now),
    };
    await saveDashboardGroup(step.db, record);
    step.announce({ kind: 'dashboardGroup', id, action: 'updated' });
    return view(record);
  });
}

/** A group that has dashboards is a 409 that names some of them. */
export async function deleteDashboardGroup(records: Records, id: string): Promise<void> {
  await change(records, async (step) => {
    found(await findDashboardGroup(step.db, id), 'dashboard group', id);
    refuseWhenUsed('dashboard group', await dashboardsOfGroup(step.db, id, usersNamedMax));
    await removeDashboardGroup(step.db, id);
    step.announce({ kind: 'dashboardGroup', id, action: 'deleted' });
  });
}
