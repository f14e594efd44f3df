// Dashboards: create, read, list, update, delete (contract 32).
import type { Dashboard } from '../../model/dashboard.ts';
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
} from '../../storage/records/rows/dashboards.ts';
import type { Records } from '../../storage/records/records.ts';
import { auditView, orCurrent, type RecordUpdate, type Step } from '../record-change.ts';
import { createCrud, placeIn } from '../record-crud.ts';
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

const crud = createCrud<Dashboard>({
  kind: 'dashboard',
  noun: 'dashboard',
  find: ({ db }, id) => findDashboard(db, id),
  insert: ({ db }, record) => insertDashboard(db, record),
  save: ({ db }, record) => saveDashboard(db, record),
  remove: ({ db }, id) => removeDashboard(db, id),
  check,
});

async function check(
  { db }: Step,
  { groupId, workspaceId, configuration }: Dashboard,
): Promise<void> {
  if (JSON.stringify(configuration).length > configurationLengthMax) {
    throw problem('invalidRequest', {
      reason: `body configuration: must be at most ${configurationLengthMax} characters`,
    });
  }
  if (groupId === null) return;
  const group = await findDashboardGroup(db, groupId);
  if (group?.workspaceId === workspaceId) return;
  throw problem('unknownReference', {
    field: 'body groupId',
    what: 'dashboard group',
    id: groupId,
    place: 'workspace',
  });
}

export async function createDashboard(records: Records, draft: DashboardDraft) {
  const record = await crud.create(records, async (step, fields) => ({
    ...fields,
    ...(await placeIn(step, draft.workspaceId)),
    name: draft.name,
    description: draft.description ?? null,
    groupId: draft.groupId ?? null,
    configuration: draft.configuration ?? {},
  }));
  return view(record);
}

export async function readDashboard(records: Records, id: string) {
  return view(await crud.read(records, id));
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

export async function updateDashboard(records: Records, id: string, sent: DashboardUpdate) {
  const record = await crud.update(records, id, sent, (current) => ({
    groupId: orCurrent(sent.groupId, current.groupId),
    configuration: sent.configuration ?? current.configuration,
  }));
  return view(record);
}

export function deleteDashboard(records: Records, id: string): Promise<void> {
  return crud.remove(records, id);
}
