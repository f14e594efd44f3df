// Dashboards: create, read, list, update, delete (contract 32).
import type { Dashboard } from '../../model/dashboard.ts';
import { newId } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import { type PageRequest, pageOf } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import {
  findDashboard,
  findDashboardGroup,
  insertDashboard,
  listDashboards as listRows,
  removeDashboard,
  saveDashboard,
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
  type Step,
} from '../record-change.ts';
import { type ListScope, listReach } from '../list-scope.ts';

const configurationLengthMax = 1024 * 1024;

export interface DashboardUpdate extends RecordUpdate {
  readonly groupId?: string | null | undefined;
  readonly configuration?: JsonObject | null | undefined;
}

export interface DashboardDraft extends DashboardUpdate {
  readonly workspaceId: string;
  readonly name: string;
}

const view = (record: Dashboard) => ({ ...record, ...auditView(record) });

async function check(
  step: Step,
  { groupId, workspaceId, configuration }: Dashboard,
): Promise<void> {
  if (JSON.stringify(configuration).length > configurationLengthMax) {
    throw problem('invalidRequest', {
      reason: `body configuration: is larger than ${configurationLengthMax} characters`,
    });
  }
  if (groupId === null) return;
  const group = await findDashboardGroup(step.db, groupId);
  if (group?.workspaceId === workspaceId) return;
  throw problem('unknownReference', {
    field: 'body groupId',
    what: 'dashboard group',
    id: groupId,
    place: 'workspace',
  });
}

export async function createDashboard(records: Records, draft: DashboardDraft, now: number) {
  return change(records, async (step) => {
    const { organizationId } = found(
      await findWorkspace(step.db, draft.workspaceId),
      'workspace',
      draft.workspaceId,
    );
    const record: Dashboard = {
      id: newId('dashboard'),
      organizationId,
      workspaceId: draft.workspaceId,
      name: draft.name,
      description: draft.description ?? null,
      groupId: draft.groupId ?? null,
      configuration: draft.configuration ?? {},
      ...firstVersion(now),
    };
    await check(step, record);
    await insertDashboard(step.db, record);
    step.announce({ kind: 'dashboard', id: record.id, action: 'created' });
    return view(record);
  });
}

export async function readDashboard(records: Records, id: string) {
  return view(found(await findDashboard(records.db, id), 'dashboard', id));
}

export async function listDashboards(
  records: Records,
  principal: Principal,
  filter: ListScope & {
    readonly search?: string | undefined;
    readonly groupId?: string | undefined;
  },
  page: PageRequest,
) {
  const reach = await listReach(records, principal, filter);
  const { search, groupId } = filter;
  const { rows, total } = await listRows(records.db, { ...reach, search, groupId }, page);
  return pageOf(rows.map(view), total, page);
}

export async function updateDashboard(
  records: Records,
  id: string,
  sent: DashboardUpdate,
  now: number,
) {
  return change(records, async (step) => {
    const current = found(await findDashboard(step.db, id), 'dashboard', id);
    const record: Dashboard = {
      ...current,
      name: orCurrent(sent.name, current.name),
      description: orCurrent(sent.description, current.description),
      groupId: orCurrent(sent.groupId, current.groupId),
      configuration: sent.configuration ?? current.configuration,
      ...nextVersion(current, sent.version, now),
    };
    await check(step, record);
    await saveDashboard(step.db, record);
    step.announce({ kind: 'dashboard', id, action: 'updated' });
    return view(record);
  });
}

export async function deleteDashboard(records: Records, id: string): Promise<void> {
  await change(records, async (step) => {
    found(await findDashboard(step.db, id), 'dashboard', id);
    await removeDashboard(step.db, id);
    step.announce({ kind: 'dashboard', id, action: 'deleted' });
  });
}
