// Workspaces: create, read, list, update, delete, and which of them a principal reaches (contract 3).
import { newId } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import { type Page, type PageRequest, pageOf } from '../../model/page.ts';
import type { Scope, Verb } from '../../model/permission.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { openTimeZone } from '../../model/time-zone.ts';
import {
  defaultWorkspaceSettings,
  type Workspace,
  type WorkspaceSettings,
} from '../../model/workspace.ts';
import type { Records } from '../../records/records.ts';
import {
  findWorkspace,
  insertWorkspace,
  listWorkspaces as listRows,
  removeWorkspace,
  saveWorkspace,
  workspaceContents,
} from '../../records/rows/workspaces.ts';
import {
  auditView,
  change,
  firstVersion,
  found,
  nextVersion,
  orCurrent,
  type RecordUpdate,
  refuseWhenUsed,
} from '../record-change.ts';
import { ownOrganization } from '../list-scope.ts';
import { checkCalendar } from './workspace-settings.ts';

type SettingsDraft = { readonly [K in keyof WorkspaceSettings]?: WorkspaceSettings[K] | undefined };

export interface WorkspaceUpdate extends RecordUpdate {
  readonly settings?: SettingsDraft | null | undefined;
  readonly properties?: JsonObject | null | undefined;
}

export interface WorkspaceDraft extends WorkspaceUpdate {
  readonly organizationId: string;
  readonly name: string;
}

function view(record: Workspace) {
  return { ...record, ...auditView(record) };
}

/** Sent settings over the current ones, one by one; null goes back to the defaults. */
function settingsFrom(
  current: WorkspaceSettings,
  sent: SettingsDraft | null | undefined,
): WorkspaceSettings {
  if (sent === undefined) return current;
  if (sent === null) return defaultWorkspaceSettings;
  const given = Object.fromEntries(
    Object.entries(sent).filter(
      ([name, value]) => value !== undefined && Object.hasOwn(current, name),
    ),
  );
  const settings: WorkspaceSettings = { ...current, ...given };
  checkCalendar(settings);
  const { timezone } = settings;
  if (timezone !== null && openTimeZone(timezone) === undefined) {
    throw problem('unknownTimeZone', { timeZone: timezone });
  }
  return settings;
}

export async function createWorkspace(records: Records, draft: WorkspaceDraft, now: number) {
  const record: Workspace = {
    id: newId('workspace'),
    organizationId: draft.organizationId,
    name: draft.name,
    description: draft.description ?? null,
    settings: settingsFrom(defaultWorkspaceSettings, draft.settings),
    properties: draft.properties ?? {},
    ...firstVersion(now),
  };
  await change(records, async (step) => {
    await insertWorkspace(step.db, record);
    step.announce({ kind: 'workspace', id: record.id, action: 'created' });
  });
  return view(record);
}

export async function readWorkspace(records: Records, id: string) {
  return view(found(await findWorkspace(records.db, id), 'workspace', id));
}

/** A restricted principal sees its own workspaces (contract 35). */
export async function listWorkspaces(
  records: Records,
  principal: Principal,
  filter: {
    readonly organizationId?: string | undefined;
    readonly search?: string | undefined;
    readonly name?: string | undefined;
  },
  page: PageRequest,
): Promise<Page<ReturnType<typeof view>>> {
  const organizationId = ownOrganization(principal, filter.organizationId);
  const workspaceIds = principal.workspaces === 'all' ? undefined : [...principal.workspaces];
  const { rows, total } = await listRows(
    records.db,
    { ...filter, organizationId, workspaceIds },
    page,
  );
  return pageOf(rows.map(view), total, page);
}

export async function updateWorkspace(
  records: Records,
  id: string,
  sent: WorkspaceUpdate,
  now: number,
) {
  const saved = await change(records, async (step) => {
    const current = found(await findWorkspace(step.db, id), 'workspace', id);
    const record: Workspace = {
      ...current,
      name: orCurrent(sent.name, current.name),
      description: orCurrent(sent.description, current.description),
      settings: settingsFrom(current.settings, sent.settings),
      properties: orCurrent(sent.properties, current.properties) ?? {},
      ...nextVersion(current, sent.version, now),
    };
    await saveWorkspace(step.db, record);
    step.announce({ kind: 'workspace', id, action: 'updated' });
    return record;
  });
  return view(saved);
}

/** Only an empty workspace can be deleted; else 409 says what is in it. */
export async function deleteWorkspace(records: Records, id: string): Promise<void> {
  await change(records, async (step) => {
    found(await findWorkspace(step.db, id), 'workspace', id);
    refuseWhenUsed('workspace', await workspaceContents(step.db, id));
    await removeWorkspace(step.db, id);
    step.announce({ kind: 'workspace', id, action: 'deleted' });
  });
}

/** `GET /v3/workspace-access`: where the principal may do the verb; without the permission, nowhere. */
export function workspaceAccess(
  principal: Principal,
  scope: Scope,
  verb: Verb,
): { readonly all: boolean; readonly ids: readonly string[] } {
  if (principal.workspaces === 'all' && holds(principal, scope, verb, null))
    return { all: true, ids: [] };
  const reached =
    principal.workspaces === 'all'
      ? (principal.workspacePermissions?.keys() ?? [])
      : principal.workspaces;
  return { all: false, ids: [...reached].filter((id) => holds(principal, scope, verb, id)).sort() };
}
