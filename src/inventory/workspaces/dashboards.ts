// Dashboards: create, read, list, update, delete, their versions and groups, the links that share one, and the devices they name (contract 32, 39, 42).
import { randomBytes } from 'node:crypto';
import type {
  DashboardDraft,
  DashboardGroupDraft,
  DashboardUpdate,
} from '../../contract/dashboards.ts';
import type { AuditAction, FieldChange } from '../../model/record.ts';
import type { Dashboard, DashboardGroup } from '../../model/arrangements.ts';
import { newId } from '../../model/ids.ts';
import { dayMs, formatInstant, formatInstantOrNull, parseInstant } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import { pageOf, type PageRequest } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { shareTokenPrefix, type ShareValues, valuesOf } from '../../model/dashboard.ts';
import { type Records, type RecordsDb, transaction } from '../../storage/records/records.ts';
import {
  dashboardGroupRows,
  dashboardRows,
  type DashboardShare,
  type SharedBy,
} from '../../storage/records/rows/dashboards.ts';
import { deviceTypeRows } from '../../storage/records/rows/device-types.ts';
import { findPlace } from '../../storage/records/rows/search.ts';
import { secretHash } from '../../storage/records/secret-encryption.ts';
import { auditEntry } from '../audit/audit.ts';
import { listReach, type ListScope } from '../list-scope.ts';
import {
  auditView,
  change,
  Crud,
  found,
  orCurrent,
  placeIn,
  type RecordUpdate,
  type Step,
  usersNamedMax,
} from '../record-crud.ts';
import { stopReportsOf } from './report-states.ts';
import { customFieldRows } from '../../storage/records/rows/custom-fields.ts';
import { placeRows } from '../../storage/records/rows/places.ts';
import { tagRows } from '../../storage/records/rows/tags.ts';
import { type AssetFilter, Assets } from '../devices/assets.ts';

/** Versions of a dashboard that are kept. */
const dashboardVersionsMax = 50;

const configurationLengthMax = 1024 * 1024;

const view = (record: Dashboard) => ({ ...record, ...auditView(record) });

const crud = new Crud<Dashboard>('dashboard', 'dashboard', () => dashboardRows, check);

async function check(step: Step, dashboard: Dashboard): Promise<void> {
  const { db } = step;
  const { id, groupId, placeKind, workspaceId, configuration } = dashboard;
  if (JSON.stringify(configuration).length > configurationLengthMax) {
    throw problem('invalidRequest', {
      reason: `body configuration: must be at most ${configurationLengthMax} characters`,
    });
  }
  if (groupId !== null) {
    const group = await dashboardGroupRows.find(db, groupId);
    if (group?.workspaceId !== workspaceId)
      throw problem('unknownReference', {
        field: 'body groupId',
        what: 'dashboard group',
        id: groupId,
        place: 'workspace',
      });
  }
  await checkType(step, dashboard);
  if (placeKind === null) return;
  const other = await dashboardRows.findOfPlaceKind(db, workspaceId, placeKind);
  if (other !== undefined && other.id !== id) throw problem('placeDashboardExists', other);
}

async function checkType(
  { db }: Step,
  { id, deviceTypeId, organizationId, workspaceId }: Dashboard,
): Promise<void> {
  if (deviceTypeId === null) return;
  const type = await deviceTypeRows.find(db, deviceTypeId);
  if (type === undefined || (type.organizationId ?? organizationId) !== organizationId)
    throw problem('unknownReference', {
      field: 'body deviceTypeId',
      what: 'device type',
      id: deviceTypeId,
      place: 'organization',
    });
  const other = await dashboardRows.findOfType(db, workspaceId, deviceTypeId);
  if (other !== undefined && other.id !== id) throw problem('typeDashboardExists', other);
}

/** Writes the record by `work`, and keeps the version that it has then. */
function versioned(records: Records, work: (step: Step) => Promise<Dashboard>) {
  return change(records, async (step) => {
    const record = await work(step);
    const actor = step.actor();
    const by = actor === undefined ? null : { type: actor.type, id: actor.id, name: actor.name };
    const kept = { at: step.now(), by, keptMax: dashboardVersionsMax };
    await dashboardRows.insertVersion(step.db, record, kept);
    return view(record);
  });
}

export function createDashboard(records: Records, draft: DashboardDraft) {
  return versioned(records, (inStep) =>
    crud.create(inStep, async (step, fields) => ({
      ...fields,
      ...(await placeIn(step, draft.workspaceId)),
      name: draft.name,
      description: draft.description ?? null,
      groupId: draft.groupId ?? null,
      deviceTypeId: draft.deviceTypeId ?? null,
      placeKind: draft.placeKind ?? null,
      configuration: draft.configuration ?? {},
    })),
  );
}

export async function readDashboard(records: Records, id: string) {
  return view(await crud.read(records, id));
}

/** The dashboard of the type in the workspace. */
export async function dashboardOfType({ db }: Records, workspaceId: string, deviceTypeId: string) {
  const record = await dashboardRows.findOfType(db, workspaceId, deviceTypeId);
  return record && view(record);
}

/** The dashboard of places of the kind in the workspace. */
export async function dashboardOfPlaceKind(
  { db }: Records,
  workspaceId: string,
  placeKind: string,
) {
  const record = await dashboardRows.findOfPlaceKind(db, workspaceId, placeKind);
  return record && view(record);
}

export async function listDashboards(
  records: Records,
  principal: Principal,
  filter: ListScope & {
    readonly search?: string | undefined;
    readonly groupId?: string | undefined;
    readonly deviceTypeId?: string | undefined;
    readonly placeKind?: string | undefined;
  },
  page: PageRequest,
) {
  const reach = await listReach(records, principal, filter);
  const { search, groupId, deviceTypeId, placeKind } = filter;
  const wanted = { ...reach, search, groupId, deviceTypeId, placeKind };
  const { rows, total } = await dashboardRows.list(records.db, wanted, page);
  return pageOf(rows.map(view), total, page);
}

export function updateDashboard(records: Records, id: string, sent: DashboardUpdate) {
  return versioned(records, (step) =>
    crud.update(step, id, sent, (current) => ({
      groupId: orCurrent(sent.groupId, current.groupId),
      deviceTypeId: orCurrent(sent.deviceTypeId, current.deviceTypeId),
      placeKind: orCurrent(sent.placeKind, current.placeKind),
      configuration: sent.configuration ?? current.configuration,
    })),
  );
}

/** Its reports are switched off in the same transaction. */
export function deleteDashboard(records: Records, id: string): Promise<void> {
  return change(records, async (step) => {
    await crud.remove(step, id);
    await stopReportsOf(step, id);
  });
}

// Versions of dashboards: the newest ones, and the return to one of them (contract 39).

/** The newest first. */
export async function listDashboardVersions({ db }: Records, id: string, page: PageRequest) {
  const versions = await dashboardRows.versionsOf(db, id);
  const from = page.page * page.size;
  const shown = versions.slice(from, from + page.size);
  const content = shown.map(({ at, ...version }) => ({ ...version, at: formatInstant(at) }));
  return pageOf(content, versions.length, page);
}

/** The record as it was. Throws 404 for a version that is not kept. */
export async function readDashboardVersion({ db }: Records, id: string, version: number) {
  const record = await dashboardRows.findVersion(db, id, version);
  return view(found(record, 'version of the dashboard', String(version)));
}

/** Name, description and configuration become those of then; the group stays. Throws 404 or 409. */
export async function restoreDashboard(
  records: Records,
  id: string,
  of: number,
  version: number | null | undefined,
) {
  const { name, description, configuration } = await readDashboardVersion(records, id, of);
  return updateDashboard(records, id, {
    name,
    description,
    configuration,
    version: version ?? null,
  });
}

// Shares of dashboards: links whose token reads one dashboard, until they expire or are revoked (contract 37, 42).

const tokenBytes = 32;
/** Valid links of one dashboard. */
const sharesMax = 20;
/** How long a link is valid for which no end was asked for. */
const lifetimeMs = 90 * dayMs;

/**
 * The token is shown only here. Throws 400 for an end that is not in the future, and 409 at the
 * limit.
 */
export async function shareDashboard(
  records: Records,
  dashboardId: string,
  {
    publicUrl,
    expires,
    variables: sent,
  }: {
    readonly publicUrl: string;
    readonly expires?: string | null | undefined;
    readonly variables: Readonly<Record<string, string | readonly string[]>>;
  },
) {
  const token = shareTokenPrefix + randomBytes(tokenBytes).toString('base64url');
  const share = await change(records, async (step) => {
    const dashboard = found(
      await dashboardRows.find(step.db, dashboardId),
      'dashboard',
      dashboardId,
    );
    const now = step.now();
    const end = endOf(expires, now);
    const variables = await fixedValues(step, dashboard, sent);
    await dashboardRows.removeExpiredShares(step.db, dashboardId, now);
    if ((await dashboardRows.sharesOf(step.db, dashboardId, now)).length >= sharesMax)
      throw problem('quotaReached', {
        limitName: 'dashboardShares',
        limitMax: sharesMax,
        per: 'dashboard',
        what: 'links',
      });
    const made: DashboardShare = {
      id: newId('dashboardShare'),
      tokenHash: secretHash(token),
      dashboardId,
      variables,
      created: now,
      expiresAt: end,
      lastUsed: null,
    };
    await dashboardRows.insertShare(step.db, made);
    step.announce({ kind: 'dashboard', id: dashboardId, action: 'updated' });
    const expiry = { field: 'expires', after: formatInstantOrNull(end) };
    await auditShare(step, 'CREATE', { ...dashboard, id: made.id }, [
      { field: 'dashboardId', after: dashboardId },
      expiry,
      ...Object.entries(variables).map(([name, after]) => ({ field: `variables.${name}`, after })),
    ]);
    return made;
  });
  const address = `${publicUrl.replace(/\/+$/, '')}/shared/dashboards/${dashboardId}`;
  // The token is behind the number sign, where neither servers nor their logs see it.
  const url = `${address}${parametersOf(share.variables)}#${token}`;
  return { id: share.id, url, token, expires: formatInstantOrNull(share.expiresAt) };
}

/** `?var.NAME=VALUE`, which the page of the link shows; the token reads no others. */
function parametersOf(variables: DashboardShare['variables']): string {
  const parameters = Object.entries(variables).flatMap(([name, values]) =>
    values.map((value) => `var.${name}=${encodeURIComponent(value)}`),
  );
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`;
}

/** Kinds of variables whose values are ids of records. */
const recordOfVariable: ReadonlyMap<unknown, 'device' | 'tag' | 'place'> = new Map([
  ['DEVICE', 'device'],
  ['TAG', 'tag'],
  ['PLACE', 'place'],
]);

/**
 * The values of all variables of the dashboard: those that were sent, else the defaults. Throws 400
 * for one that is not declared, has no value, or names no record of the workspace.
 */
export async function fixedValues(
  { db }: Records,
  { workspaceId, configuration }: Dashboard,
  sent: Readonly<Record<string, string | readonly string[]>>,
): Promise<ShareValues> {
  const refuse = (name: string, reason: string): never => {
    throw problem('invalidRequest', { reason: `body variables.${name}: ${reason}` });
  };
  const declared = declaredVariables(configuration);
  const names = new Set(declared.map(({ name }) => name));
  for (const name of Object.keys(sent))
    if (!names.has(name)) refuse(name, 'no variable has this name');
  const given = Object.fromEntries(
    Object.entries(sent).map(([name, values]) => [name, [values].flat()]),
  );
  const fixed: [string, readonly string[]][] = [];
  for (const variable of declared) {
    const { name, kind, multiple } = variable;
    const values = valuesOf(variable, given);
    if (values.length === 0) refuse(name, 'is required, because the variable has no default');
    if (values.length > 1 && multiple !== true) refuse(name, 'must be one value');
    const record = recordOfVariable.get(kind);
    if (record !== undefined)
      for (const id of new Set(values))
        if ((await findPlace(db, record, id))?.workspaceId !== workspaceId)
          refuse(name, `no ${record} with id ${id} in this workspace`);
    fixed.push([name, values]);
  }
  return Object.fromEntries(fixed);
}

/** Of a configuration that declares none, or that of another client, none. */
function declaredVariables({ variables }: JsonObject): (JsonObject & { readonly name: string })[] {
  if (!Array.isArray(variables)) return [];
  return variables.filter(
    (one): one is JsonObject & { readonly name: string } =>
      typeof one === 'object' &&
      one !== null &&
      !Array.isArray(one) &&
      typeof one['name'] === 'string',
  );
}

type Audited = Pick<SharedBy, 'id' | 'name' | 'organizationId' | 'workspaceId'>;

async function auditShare(
  step: Step,
  action: AuditAction,
  { id, name, organizationId, workspaceId }: Audited,
  changes: readonly FieldChange[],
): Promise<void> {
  const actor = step.actor();
  if (actor === undefined) return;
  await auditEntry(step, actor, {
    organizationId,
    workspaceId,
    action,
    changes,
    resourceType: shareType,
    resourceId: id,
    resourceName: name,
  });
}

const shareType = 'DASHBOARD_SHARE';

/** Notes that a link is in use, unless a use was noted since `before`. */
export async function noteShareUse(
  records: { readonly db: RecordsDb; readonly now: () => number },
  { id, name, organizationId, workspaceId }: Audited,
  before: number,
): Promise<void> {
  await transaction(records.db, async ({ db }) => {
    if (!(await dashboardRows.saveShareUse(db, { id, now: records.now(), before }))) return;
    const actor = { id, name: 'Shared dashboard', requestId: null, ip: null };
    await auditEntry(
      { db, now: records.now },
      { ...actor, type: 'API_KEY' },
      {
        organizationId,
        workspaceId,
        action: 'LOGIN',
        changes: [],
        resourceType: shareType,
        resourceId: id,
        resourceName: name,
      },
    );
  });
}

/** The valid links, without their tokens. */
export async function readShares({ db, now }: Records, dashboardId: string) {
  const shares = await dashboardRows.sharesOf(db, dashboardId, now());
  return {
    shares: shares.map(({ id, created, expiresAt, variables, lastUsed }) => ({
      id,
      created: formatInstant(created),
      expires: formatInstantOrNull(expiresAt),
      ...(Object.keys(variables).length > 0 && { variables }),
      lastUsed: formatInstantOrNull(lastUsed),
    })),
  };
}

/** Revokes all links of the dashboard. */
export async function unshareDashboard(records: Records, dashboardId: string): Promise<void> {
  await change(records, async (step) => {
    const dashboard = found(
      await dashboardRows.find(step.db, dashboardId),
      'dashboard',
      dashboardId,
    );
    const ended = await dashboardRows.sharesOf(step.db, dashboardId, step.now());
    await dashboardRows.removeShares(step.db, dashboardId);
    step.announce({ kind: 'dashboard', id: dashboardId, action: 'updated' });
    for (const { id } of ended) await auditShare(step, 'DELETE', { ...dashboard, id }, []);
  });
}

export async function isShared({ db, now }: Records, dashboardId: string): Promise<boolean> {
  return (await dashboardRows.sharesOf(db, dashboardId, now())).length > 0;
}

function endOf(expires: string | null | undefined, now: number): number | null {
  if (expires === null) return null;
  if (expires === undefined) return now + lifetimeMs;
  const end = parseInstant(expires);
  if (end !== undefined && end > now) return end;
  throw problem('invalidRequest', {
    reason: 'body expires: must be a future ISO-8601 date-time',
  });
}

// Dashboard groups: create, read, list, update, delete (contract 32).

const groupView = (record: DashboardGroup) => ({ ...record, ...auditView(record) });

const groupCrud = new Crud<DashboardGroup>(
  'dashboardGroup',
  'dashboard group',
  () => dashboardGroupRows,
);

export async function createDashboardGroup(records: Records, draft: DashboardGroupDraft) {
  const record = await groupCrud.create(records, async (step, fields) => ({
    ...fields,
    ...(await placeIn(step, draft.workspaceId)),
    name: draft.name,
    description: draft.description ?? null,
  }));
  return groupView(record);
}

export async function readDashboardGroup(records: Records, id: string) {
  return groupView(await groupCrud.read(records, id));
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
  return pageOf(rows.map(groupView), total, page);
}

export async function updateDashboardGroup(records: Records, id: string, sent: RecordUpdate) {
  return groupView(await groupCrud.update(records, id, sent, () => ({})));
}

/** Throws 409 for a group that has dashboards, naming some of them. */
export function deleteDashboardGroup(records: Records, id: string): Promise<void> {
  return groupCrud.remove(records, id, (step) => dashboardRows.ofGroup(step.db, id, usersNamedMax));
}

// Sources of a dashboard: the devices that its series name, by themselves, a tag, a place, or a custom field (contract 39).

export type NamedDevice = {
  readonly id: string;
  readonly name: string;
  readonly onlineTimeoutSeconds: number;
};

/** What devices have in common; that they are of the workspace has no id. */
type DeviceGroup =
  | { readonly kind: 'DEVICE' | 'TAG' | 'PLACE' | 'WORKSPACE'; readonly id: string }
  | { readonly kind: 'CUSTOM_FIELD'; readonly id: string; readonly value: string };

const devicesPerRead = 1_000;

/** Reads the workspace as the principal may. */
export class DashboardSources {
  readonly #records: Records;
  readonly #principal: Principal;
  readonly #workspaceId: string;

  constructor(records: Records, principal: Principal, workspaceId: string) {
    this.#records = records;
    this.#principal = principal;
    this.#workspaceId = workspaceId;
  }

  /** Those of the ids that are devices of the workspace, in order of name. */
  async devices(ids: readonly string[]): Promise<readonly NamedDevice[]> {
    const found: NamedDevice[] = [];
    for (let from = 0; from < ids.length; from += devicesPerRead) {
      const assetIds = ids.slice(from, from + devicesPerRead);
      found.push(...(await this.#page({ assetIds }, devicesPerRead)).rows);
    }
    return found;
  }

  /** The first `max` devices of the group in order of name, and how many it has. */
  async members(
    group: DeviceGroup,
    max: number,
  ): Promise<{ readonly rows: readonly NamedDevice[]; readonly total: number }> {
    if (!('value' in group)) {
      const filters: Readonly<Record<typeof group.kind, AssetFilter>> = {
        DEVICE: { assetIds: [group.id] },
        TAG: { tagIds: [group.id] },
        PLACE: { placeIds: [group.id] },
        WORKSPACE: {},
      };
      return this.#page(filters[group.kind], max);
    }
    const field = await customFieldRows.find(this.#records.db, group.id);
    if (field?.workspaceId !== this.#workspaceId) return { rows: [], total: 0 };
    const expression = {
      operator: 'FILTER',
      field: 'customFields',
      customFieldName: field.name,
      predicate: 'EQUALS',
      values: [group.value],
    };
    return this.#page({ expression }, max);
  }

  /** The name of the record. Throws Problem 404 for one that is not of the workspace. */
  async nameOf(kind: 'DEVICE' | 'TAG' | 'PLACE', id: string): Promise<string> {
    if (kind === 'DEVICE') {
      const [device] = await this.devices([id]);
      if (device !== undefined) return device.name;
      throw problem('notFound', { what: 'device', id });
    }
    const record = await this.#group(kind, id);
    if (record === undefined)
      throw problem('notFound', { what: kind === 'TAG' ? 'tag' : 'place', id });
    return record.name;
  }

  async isKnown(kind: 'TAG' | 'PLACE', id: string): Promise<boolean> {
    return (await this.#group(kind, id)) !== undefined;
  }

  async #group(kind: 'TAG' | 'PLACE', id: string) {
    const rows = kind === 'TAG' ? tagRows : placeRows;
    const record = await rows.find(this.#records.db, id);
    return record?.workspaceId === this.#workspaceId ? record : undefined;
  }

  #page(filter: AssetFilter, size: number) {
    const page = { page: 0, size, sort: [] };
    const wanted = { ...filter, workspaceIds: [this.#workspaceId] };
    return new Assets(this.#records).devicePage(this.#principal, wanted, page);
  }
}
