// Workspaces: create, read, list, update, delete, those that a principal may use, and their overview (contract 3, 37).
import { sql } from 'kysely';
import type { WorkspaceDraft, WorkspaceUpdate } from '../../contract/workspaces.ts';
import {
  defaultMapSetting,
  isTileTemplate,
  type MapSetting,
  type MapSource,
} from '../../model/map-tiles.ts';
import { type Page, pageOf, type PageRequest } from '../../model/page.ts';
import { holds, type Principal, type Scope, type Verb } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { openTimeZone } from '../../model/time-zone.ts';
import {
  defaultWorkspaceSettings,
  weekdays,
  type Workspace,
  type WorkspaceSettings,
} from '../../model/workspace.ts';
import type { Records, RecordsDb } from '../../storage/records/records.ts';
import { type RetentionRules, workspaceRows } from '../../storage/records/rows/workspaces.ts';
import { ownOrganization } from '../list-scope.ts';
import { auditView, Crud, found, orCurrent } from '../record-crud.ts';
import { dayMs, type EpochMs, formatInstant, hourMs, minuteMs } from '../../model/instant.ts';
import type { RetentionTimes, WorkspaceUsage } from '../../storage/samples/sample-store.ts';
import type { ChangeFollower, RecordChange } from '../../model/record.ts';
import { createBoundedMap, RecordChanges } from '../../structures/caches.ts';
import { batteryPercents, type UplinkMetrics } from '../../model/uplink-metrics.ts';
import { fromJsonText } from '../../storage/records/columns.ts';
import { alarmRows } from '../../storage/records/rows/alarms.ts';
import { stateCounts } from '../../storage/records/rows/device-totals.ts';
import { outputConnectorRows } from '../../storage/records/rows/data-flows.ts';
import { periodOf, periodCountRows } from '../../storage/records/rows/period-counts.ts';
import { reportRows } from '../../storage/records/rows/reports.ts';
import { isAtPlaces, placeRows } from '../../storage/records/rows/places.ts';
import type { Samples } from '../../storage/samples/samples.ts';
import type { WaitingOf } from '../health/health.ts';

type SettingsDraft = {
  readonly [K in Exclude<keyof WorkspaceSettings, 'map'>]?: WorkspaceSettings[K] | undefined;
} & { readonly map?: MapDraft | null | undefined };

interface MapDraft {
  readonly source: MapSource;
  readonly url?: string | null | undefined;
  readonly attribution?: string | null | undefined;
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
  const map = sent.map === undefined ? current.map : mapFrom(sent.map);
  const settings: WorkspaceSettings = { ...current, ...given, map };
  checkCalendar(settings);
  const { timezone } = settings;
  if (timezone !== null && openTimeZone(timezone) === undefined) {
    throw problem('unknownTimeZone', { timeZone: timezone });
  }
  return settings;
}

/** Throws 400 for an address and an attribution that do not belong to the source. */
function mapFrom(sent: MapDraft | null): MapSetting {
  if (sent === null) return defaultMapSetting;
  const { source, url = null, attribution = null } = sent;
  if (source !== 'URL' && (url !== null || attribution !== null))
    throw refused(`map.${url === null ? 'attribution' : 'url'}: requires the source URL`);
  if (source !== 'URL') return { source, url: null, attribution: null };
  if (url === null) throw refused('map.url: is required for the source URL');
  if (attribution === null) throw refused('map.attribution: is required for the source URL');
  if (!isTileTemplate(url))
    throw refused('map.url: must be an http or https URL with {z}, {x} and {y} after the host');
  return { source, url, attribution };
}

const crud = new Crud<Workspace>('workspace', 'workspace', () => workspaceRows);

/** Workspaces as callers make and read them (contract 3). */
export class Workspaces {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async create(draft: WorkspaceDraft) {
    const record = await crud.create(this.#records, async (_step, fields) => ({
      ...fields,
      organizationId: draft.organizationId,
      name: draft.name,
      description: draft.description ?? null,
      settings: settingsFrom(defaultWorkspaceSettings, draft.settings),
      properties: draft.properties ?? {},
    }));
    return view(record);
  }

  async read(id: string) {
    return view(await crud.read(this.#records, id));
  }

  /** A restricted principal sees its own workspaces (contract 35). */
  async list(
    principal: Principal,
    filter: {
      readonly organizationId?: string | undefined;
      readonly search?: string | undefined;
      readonly name?: string | undefined;
    },
    page: PageRequest,
  ): Promise<Page<WorkspaceRow>> {
    const organizationId = ownOrganization(principal, filter.organizationId);
    const { workspaces } = principal;
    const within = workspaces !== 'all' && { workspaceIds: [...workspaces] };
    const { rows, total } = await workspaceRows.list(
      this.#records.db,
      { ...filter, organizationId, ...within },
      page,
    );
    const row = holds(principal, 'workspace', 'read') ? view : named;
    return pageOf(rows.map(row), total, page);
  }

  async update(id: string, sent: WorkspaceUpdate) {
    const record = await crud.update(this.#records, id, sent, (current) => ({
      settings: settingsFrom(current.settings, sent.settings),
      properties: orCurrent(sent.properties, current.properties) ?? {},
    }));
    return view(record);
  }

  /** Throws 409 for a workspace that is not empty, naming its contents. */
  remove(id: string): Promise<void> {
    return crud.remove(this.#records, id, (step) => workspaceRows.contentsOf(step.db, id));
  }

  /** `retentionDays` in place of the rule of the workspace; undefined is without limit. */
  async retentionEffect(
    workspaceId: string,
    retentionDays: number | undefined,
    samples: Samples,
  ): Promise<{ readonly stored: WorkspaceUsage; readonly expired: WorkspaceUsage }> {
    const { db, now } = this.#records;
    const { dataFlows } = await workspaceRows.retentionRules(db);
    const workspaces = new Map(retentionDays === undefined ? [] : [[workspaceId, retentionDays]]);
    const expired = await samples.previewExpiry(
      workspaceId,
      retentionTimes({ workspaces, dataFlows }, now()),
    );
    const stored = (await samples.usage()).get(workspaceId) ?? { samples: 0, bytes: 0 };
    return { stored, expired };
  }

  /**
   * Devices are listed only for those who may read them. With a place, devices, alarms and lists are of
   * what is there and below. Throws 404 for a place of another workspace.
   */
  async overview(
    principal: Principal,
    {
      workspaceId,
      placeId,
    }: { readonly workspaceId: string; readonly placeId?: string | undefined },
    store: Samples,
    waitingOf: WaitingOf,
  ) {
    const { organizationId } = principal;
    const db = this.#records.elsewhere(organizationId);
    const now = this.#records.now();
    const mayList = holds(principal, 'asset', 'read', workspaceId);
    const max = mayList ? shownMax : 0;
    if (placeId !== undefined) {
      const place = await placeRows.find(db, placeId);
      found(place?.workspaceId === workspaceId ? place : undefined, 'place', placeId);
    }
    const from = periodOf('delivered', now - dayMs + 1);
    const sum = await periodCountRows.sums(db, [workspaceId], ofDay, from);
    const { samples = 0, bytes = 0 } = (await store.usage()).get(workspaceId) ?? {};
    const low = await lowBatteries(db, { workspaceId, placeId }, max);
    const silent = await silentDevices(db, { workspaceId, placeId }, max);
    const mayReadReports =
      placeId === undefined && holds(principal, 'dashboard', 'read', workspaceId);
    const stopped = mayReadReports ? await reportRows.stopped(db, workspaceId, shownMax) : [];
    const waiting = await waitingOf(await outputConnectorRows.idsOf(db, workspaceId));
    return {
      devices:
        placeId === undefined
          ? await stateCounts(db, workspaceId, now)
          : await placeRows.stateCountsAt(db, placeId, now),
      samplesPerMinute: await samplesPerMinute(db, workspaceId, now),
      samples,
      bytes,
      deliveries: {
        delivered: sum(workspaceId, 'delivered'),
        waiting: [...waiting.values()].reduce((total, one) => total + one.waiting, 0),
        failed: sum(workspaceId, 'failed'),
      },
      alarms: await alarmRows.count(db, workspaceId, placeId),
      scriptErrors: sum(workspaceId, 'scriptErrors'),
      stoppedReports: stopped.flatMap(({ id, name, dashboardId, problem }) =>
        problem === null ? [] : [{ id, name, dashboardId, reason: problem.reason }],
      ),
      lowBattery: low.map(({ batteryAt, ...device }) => ({
        ...device,
        batteryTimestamp: formatInstant(batteryAt),
      })),
      silent: silent.map(({ lastUplinkAt, onlineUntil, ...device }) => ({
        ...device,
        lastUplink: formatInstant(lastUplinkAt),
        online: onlineUntil !== null && onlineUntil > now,
      })),
    };
  }
}

type WorkspaceRow = ReturnType<typeof named> & Partial<ReturnType<typeof view>>;

/** What a credential that is limited to the workspace knows of it in any case. */
function named({ id, organizationId, name }: Workspace) {
  return { id, organizationId, name };
}

/**
 * Where the principal may do the verb (`GET /v3/workspace-access`): nowhere without the permission.
 */
export function workspaceAccess(
  principal: Principal,
  scope: Scope,
  verb: Verb,
): { readonly all: boolean; readonly ids: readonly string[] } {
  if (principal.workspaces === 'all' && holds(principal, scope, verb, null))
    return { all: true, ids: [] };
  const reached = workspacesOf(principal);
  return { all: false, ids: [...reached].filter((id) => holds(principal, scope, verb, id)).sort() };
}

function workspacesOf({ workspaces, workspacePermissions }: Principal): Iterable<string> {
  if (workspaces !== 'all') return workspaces;
  return workspacePermissions?.keys() ?? [];
}

// Workspace settings: the check of working hours and holidays against the calendar.

/**
 * Throws 400 for a day that is no weekday and for a date that is in no calendar, naming what is
 * known.
 */
function checkCalendar({ workingHours, holidays }: WorkspaceSettings): void {
  for (const day of Object.keys(workingHours?.days ?? {})) {
    if ((weekdays as readonly string[]).includes(day)) continue;
    throw refused(
      `workingHours.days: unknown weekday ${day.slice(0, 100)}; valid values: ${weekdays.join(', ')}`,
    );
  }
  for (const { date } of holidays ?? []) {
    const at = Date.parse(`${date}T00:00:00Z`);
    // A date such as 2024-02-30 is read as a day in March, or not at all.
    if (!Number.isNaN(at) && new Date(at).toISOString().startsWith(date)) continue;
    throw refused(`holidays: ${date.slice(0, 100)} is not a valid date; use YYYY-MM-DD`);
  }
}

function refused(reason: string) {
  return problem('invalidRequest', { reason: `body settings.${reason}` });
}

// Retention: from which time on samples are kept, and the effect of another retention (contract 37).

/** The times before which samples are not kept now. A deleted data flow has no rule. */
export function retentionTimes(
  { workspaces, dataFlows }: RetentionRules,
  now: EpochMs,
): RetentionTimes {
  const times = (days: ReadonlyMap<string, number>) =>
    new Map([...days].map(([id, count]) => [id, now - count * dayMs] as const));
  return { workspaces: times(workspaces), dataFlows: times(dataFlows) };
}

// Workspace calendars: the settings that queries need, in memory until their workspace changes.

const workspacesMax = 10_000;

/** A changed workspace is read again. */
export class WorkspaceCalendars implements ChangeFollower {
  readonly #db: RecordsDb;
  readonly #known = createBoundedMap<string, WorkspaceSettings>(workspacesMax);
  readonly #changes = new RecordChanges();
  /** The settings of the workspace; the default ones when it does not exist. */
  readonly calendarOf = (workspaceId: string): WorkspaceSettings | Promise<WorkspaceSettings> =>
    this.#known.use(workspaceId) ?? this.#load(workspaceId);
  readonly recordChanged = ({ kind, id }: RecordChange): void => {
    if (kind !== 'workspace') return;
    this.#changes.add(id);
    this.#known.delete(id);
  };
  readonly changesMissed = (): void => {
    this.#changes.addAll();
    this.#known.clear();
  };

  constructor(db: RecordsDb) {
    this.#db = db;
  }

  async #load(workspaceId: string): Promise<WorkspaceSettings> {
    const { revision } = this.#changes;
    const settings = (await workspaceRows.find(this.#db, workspaceId))?.settings;
    // Settings that changed while they were being read must not stay in memory.
    if (settings !== undefined && !this.#changes.hasChanged(workspaceId, revision))
      this.#known.set(workspaceId, settings);
    return settings ?? defaultWorkspaceSettings;
  }
}

// Workspace overview: the figures of a workspace, from counters and indexes (contract 37).

/** Devices in each list. */
const shownMax = 10;
const minutes = 60;
const ofDay = ['delivered', 'failed', 'scriptErrors'] as const;

async function samplesPerMinute(
  db: RecordsDb,
  workspaceId: string,
  now: EpochMs,
): Promise<number[]> {
  const last = periodOf('samples', now);
  const from = last - hourMs + minuteMs;
  const counts = await periodCountRows.ofRecord(db, workspaceId, 'samples', from);
  return Array.from({ length: minutes }, (_, minute) => counts.get(from + minute * minuteMs) ?? 0);
}

// Devices that need attention: low batteries and silence, read from indexes (contract 37).

interface Listed {
  readonly workspaceId: string;
  readonly placeId?: string | undefined;
}

function statusesIn(db: RecordsDb, { workspaceId, placeId }: Listed) {
  const statuses = db
    .selectFrom('deviceStatus')
    .innerJoin('devices', 'devices.id', 'deviceStatus.deviceId')
    .select(['devices.id', 'devices.name', 'devices.deviceId'])
    .where('deviceStatus.workspaceId', '=', workspaceId);
  return placeId === undefined ? statuses : statuses.where(isAtPlaces([placeId]));
}

/** Devices with a low battery, the lowest first. */
async function lowBatteries(db: RecordsDb, of: Listed, max: number) {
  const rows = await statusesIn(db, of)
    .select('deviceStatus.uplinkMetrics')
    // The constant lets the partial index answer.
    .where('deviceStatus.batteryLevel', '<', sql.lit(batteryPercents.medium))
    .orderBy('deviceStatus.batteryLevel')
    .limit(max)
    .execute();
  return rows.map(({ uplinkMetrics, ...device }) => {
    const {
      batteryLevel = 0,
      batteryTimestamp,
      timestamp,
    } = fromJsonText<UplinkMetrics>(uplinkMetrics);
    return { ...device, batteryLevel, batteryAt: batteryTimestamp ?? timestamp };
  });
}

/** Devices by their last uplink, the oldest first. Others never sent one. */
function silentDevices(db: RecordsDb, of: Listed, max: number) {
  return statusesIn(db, of)
    .select(['deviceStatus.lastUplinkAt', 'deviceStatus.onlineUntil'])
    .orderBy('deviceStatus.lastUplinkAt')
    .limit(max)
    .execute();
}
