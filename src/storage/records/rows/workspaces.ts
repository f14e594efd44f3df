// Organizations and workspaces in the records store, with retention rules and the demo workspace.
import type { Insertable, Selectable } from 'kysely';
import type { JsonObject } from '../../../model/json.ts';
import type { PageRequest } from '../../../model/page.ts';
import {
  defaultWorkspaceSettings,
  type Organization,
  simulatedConnectorName,
  simulatedMark,
  type Workspace,
  type WorkspaceSettings,
} from '../../../model/workspace.ts';
import {
  contains,
  fromJsonText,
  fromJsonTextOrNull,
  isOneOf,
  searchTextOf,
  toJsonText,
  toJsonTextOrNull,
} from '../columns.ts';
import { pageOfRows, type WorkspaceFilter } from '../list.ts';
import type { Records, RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { RecordRows } from './record-rows.ts';

type Table = RecordTables['workspaces'];

function toRow(record: Workspace): Insertable<Table> {
  return {
    ...record,
    settings: toJsonText(record.settings),
    properties: toJsonText(record.properties),
    searchText: searchTextOf(record.name),
  };
}

function fromRow({ searchText: _, ...row }: Selectable<Table>): Workspace {
  const settings = {
    ...defaultWorkspaceSettings,
    ...fromJsonText<Partial<WorkspaceSettings>>(row.settings),
  };
  return { ...row, settings, properties: fromJsonText<JsonObject>(row.properties) };
}

class WorkspaceRows extends RecordRows<'workspaces', Workspace> {
  override async list(
    db: RecordsDb,
    filter: WorkspaceFilter & {
      readonly name?: string | undefined;
    },
    page: PageRequest,
  ) {
    const { organizationId, workspaceIds, search, name } = filter;
    let query = this.filtered(db, { organizationId, search });
    if (workspaceIds !== undefined) query = query.where(isOneOf('id', workspaceIds));
    if (name) query = query.where(contains('searchText', name));
    return this.page(db, query, page);
  }

  /** With what belongs to nobody else. */
  override async remove(db: RecordsDb, id: string) {
    for (const table of [
      'workspaceMembers',
      'operations',
      'views',
      'activities',
      'demoWorkspaces',
    ] as const) {
      await db
        .deleteFrom(table as 'operations')
        .where('workspaceId', '=', id)
        .execute();
    }
    await super.remove(db, id);
  }

  /** Ids and names in order of name. */
  async names(
    db: RecordsDb,
    filter: WorkspaceFilter,
  ): Promise<readonly { readonly id: string; readonly name: string }[]> {
    let query = db
      .selectFrom('workspaces')
      .select(['id', 'name'])
      .where('organizationId', '=', filter.organizationId);
    if (filter.workspaceIds !== undefined) query = query.where(isOneOf('id', filter.workspaceIds));
    return query.orderBy('searchText').orderBy('id').execute();
  }

  /** The ids of at most `max` workspaces in order of name. */
  async firstIds(
    db: RecordsDb,
    { organizationId, workspaceIds }: WorkspaceFilter,
    max: number,
  ): Promise<readonly string[]> {
    let query = db
      .selectFrom('workspaces')
      .select('id')
      .where('organizationId', '=', organizationId);
    if (workspaceIds !== undefined) query = query.where(isOneOf('id', workspaceIds));
    const rows = await query.orderBy('searchText').orderBy('id').limit(max).execute();
    return rows.map(({ id }) => id);
  }

  /** What is in the workspace, for example `3 devices`; empty when nothing is. */
  async contentsOf(db: RecordsDb, workspaceId: string): Promise<string[]> {
    const tables = [
      ['devices', 'devices'],
      ['dataFlows', 'data flows'],
      ['integrations', 'integrations'],
      ['deviceConnectors', 'device connectors'],
      ['outputConnectors', 'output connectors'],
      ['tags', 'tags'],
      ['places', 'places'],
      ['customFieldMetas', 'custom fields'],
      ['dashboards', 'dashboards'],
      ['dashboardGroups', 'dashboard groups'],
      ['blobs', 'blobs'],
      ['rules', 'rules'],
      ['calculations', 'calculations'],
    ] as const;
    const contents: string[] = [];
    for (const [table, what] of tables) {
      const query = db
        .selectFrom(table as 'tags')
        .select((eb) => eb.fn.countAll<number>().as('count'));
      const { count } = await query
        .where('workspaceId', '=', workspaceId)
        .executeTakeFirstOrThrow();
      if (Number(count) > 0) contents.push(`${count} ${what}`);
    }
    return contents;
  }

  async oldestOf(db: RecordsDb, organizationId: string): Promise<string | undefined> {
    const query = db
      .selectFrom('workspaces')
      .select('id')
      .where('organizationId', '=', organizationId);
    return (await query.orderBy('created').orderBy('id').executeTakeFirst())?.id;
  }

  /**
   * The oldest workspace with its organization: what a start names so that people need not look the
   * ids up.
   */
  async firstCreated(
    db: RecordsDb,
  ): Promise<{ readonly id: string; readonly organizationId: string } | undefined> {
    return db
      .selectFrom('workspaces')
      .select(['id', 'organizationId'])
      .orderBy('created')
      .orderBy('id')
      .executeTakeFirst();
  }

  async retentionRules(db: RecordsDb): Promise<RetentionRules> {
    const workspaces = new Map<string, number>();
    for (const { id, settings } of await db
      .selectFrom('workspaces')
      .select(['id', 'settings'])
      .execute()) {
      const { retentionDays } = fromJsonText<Partial<WorkspaceSettings>>(settings);
      if (retentionDays !== undefined && retentionDays !== null) workspaces.set(id, retentionDays);
    }
    const flows = db
      .selectFrom('dataFlows')
      .select(['id', 'retentionDays'])
      .where('retentionDays', 'is not', null);
    const dataFlows = new Map(
      (await flows.execute()).map(({ id, retentionDays }) => [id, retentionDays!]),
    );
    return { workspaces, dataFlows };
  }
}

export const workspaceRows = new WorkspaceRows('workspaces', toRow, fromRow);

// Retention rules: the days for which workspaces and data flows keep samples.

/** Days by id; records without a rule are absent. */
export interface RetentionRules {
  readonly workspaces: ReadonlyMap<string, number>;
  readonly dataFlows: ReadonlyMap<string, number>;
}

// Organizations in the records store, and how many records of each kind they have.

type OrganizationTable = RecordTables['organizations'];

function organizationToRow(record: Organization): Insertable<OrganizationTable> {
  const { properties, ...columns } = record;
  return {
    ...columns,
    properties: toJsonTextOrNull(properties),
    searchText: searchTextOf(record.name),
  };
}

function organizationFromRow(row: Selectable<OrganizationTable>): Organization {
  const { searchText: _, properties, ...columns } = row;
  return { ...columns, properties: fromJsonTextOrNull(properties) };
}

class OrganizationRows extends RecordRows<'organizations', Organization> {
  /** With its members, invitations, sessions and credentials. */
  override async remove(db: RecordsDb, id: string) {
    for (const table of [
      'sessions',
      'invitations',
      'secondFactorDemands',
      'organizationMembers',
      'apiKeys',
      'oauthClients',
    ] as const) {
      await db
        .deleteFrom(table as 'sessions')
        .where('organizationId', '=', id)
        .execute();
    }
    await super.remove(db, id);
  }

  /** Id and name of those that exist, by id. */
  async namesOf(db: RecordsDb, ids: readonly string[]): Promise<Map<string, string>> {
    if (ids.length === 0) return new Map();
    const query = db.selectFrom('organizations').select(['id', 'name']).where(isOneOf('id', ids));
    return new Map((await query.execute()).map(({ id, name }) => [id, name]));
  }

  /** The ids of one page of those given, in the order asked for. */
  async pageOf(
    db: RecordsDb,
    ids: readonly string[],
    page: PageRequest,
  ): Promise<readonly string[]> {
    const { rows } = await pageOfRows(
      db.selectFrom('organizations').select('id').where(isOneOf('id', ids)),
      page,
    );
    return rows.map(({ id }) => id);
  }

  /** Whether the database holds any organization: a new one holds none. */
  async any(db: RecordsDb): Promise<boolean> {
    return (
      (await db.selectFrom('organizations').select('id').limit(1).executeTakeFirst()) !== undefined
    );
  }

  /** What is in the organization, for example `2 workspaces`; empty when nothing is. */
  async contentsOf(db: RecordsDb, organizationId: string): Promise<string[]> {
    const tables = [
      ['workspaces', 'workspaces'],
      ['deviceTypes', 'device types'],
    ] as const;
    const contents: string[] = [];
    for (const [table, what] of tables) {
      const query = db
        .selectFrom(table as 'workspaces')
        .select((eb) => eb.fn.countAll<number>().as('count'));
      const { count } = await query
        .where('organizationId', '=', organizationId)
        .executeTakeFirstOrThrow();
      if (Number(count) > 0) contents.push(`${count} ${what}`);
    }
    return contents;
  }

  /** Reads one row, regardless of the number of records. */
  async countOf(db: RecordsDb, organizationId: string, what: CountedRecord): Promise<number> {
    const row = await db
      .selectFrom('organizationCounts')
      .select('count')
      .where('organizationId', '=', organizationId)
      .where('what', '=', what)
      .executeTakeFirst();
    return row?.count ?? 0;
  }
}

export const organizationRows = new OrganizationRows(
  'organizations',
  organizationToRow,
  organizationFromRow,
);

// Organization counts: number of records of a kind; triggers update the counts (migrations 60 and 141).

export type CountedRecord = 'devices' | 'rules' | 'views' | 'openAlarms';

// Demo workspaces in the records store: at most one in each organization.

/** The demo has fewer devices; a user may add some. */
const devicesMax = 1_000;

/** Tables of what is in a workspace, in an order in which nothing uses what follows. */
const contents = [
  ['rule', 'rules'],
  ['calculation', 'calculations'],
  ['device', 'devices'],
  ['dataFlow', 'dataFlows'],
  ['outputConnector', 'outputConnectors'],
  ['integration', 'integrations'],
  ['deviceConnector', 'deviceConnectors'],
  ['tag', 'tags'],
  ['place', 'places'],
  ['customFieldMeta', 'customFieldMetas'],
  ['dashboard', 'dashboards'],
  ['dashboardGroup', 'dashboardGroups'],
  ['blob', 'blobs'],
] as const;

export type DemoContent = (typeof contents)[number][0];

/** A demo workspace with what a simulation of its devices needs. */
interface SimulatedWorkspace {
  readonly workspaceId: string;
  readonly uplinkSecret: string;
  readonly devices: readonly { readonly id: string; readonly deviceId: string }[];
}

class DemoWorkspaceRows {
  async of(db: RecordsDb, organizationId: string): Promise<string | undefined> {
    const query = db
      .selectFrom('demoWorkspaces')
      .select('workspaceId')
      .where('organizationId', '=', organizationId);
    return (await query.executeTakeFirst())?.workspaceId;
  }

  /** The workspace of the organization whose devices are simulated although it is not noted as a demo. */
  async simulatedOf(db: RecordsDb, organizationId: string): Promise<string | undefined> {
    const rows = await db
      .selectFrom('workspaces')
      .select(['id', 'properties'])
      .where('organizationId', '=', organizationId)
      .where('properties', 'like', `%${simulatedMark.simulated}%`)
      .orderBy('created')
      .execute();
    const isMarked = (properties: string): boolean =>
      fromJsonText<JsonObject>(properties)['simulated'] === simulatedMark.simulated;
    return rows.find(({ properties }) => isMarked(properties))?.id;
  }

  /** The demo workspaces that have devices and their connector. */
  async listSimulated({ db, sealer }: Records): Promise<readonly SimulatedWorkspace[]> {
    const found: SimulatedWorkspace[] = [];
    for (const { workspaceId } of await db.selectFrom('demoWorkspaces').selectAll().execute()) {
      const connector = await db
        .selectFrom('deviceConnectors')
        .select('uplinkSecret')
        .where('workspaceId', '=', workspaceId)
        .where('name', '=', simulatedConnectorName)
        .executeTakeFirst();
      const secret = connector?.uplinkSecret ?? null;
      if (secret === null) continue;
      const devices = await db
        .selectFrom('devices')
        .select(['id', 'deviceId'])
        .where('workspaceId', '=', workspaceId)
        .limit(devicesMax)
        .execute();
      found.push({ workspaceId, uplinkSecret: sealer.open(secret), devices });
    }
    return found;
  }

  async insert(
    db: RecordsDb,
    workspace: { readonly workspaceId: string; readonly organizationId: string },
  ): Promise<void> {
    await db
      .insertInto('demoWorkspaces')
      .values({ ...workspace, deviceTypeIds: toJsonText([]) })
      .execute();
  }

  /** The device types that the demo created; undefined when the workspace is not a demo. */
  async deviceTypes(db: RecordsDb, workspaceId: string): Promise<readonly string[] | undefined> {
    const query = db
      .selectFrom('demoWorkspaces')
      .select('deviceTypeIds')
      .where('workspaceId', '=', workspaceId);
    const row = await query.executeTakeFirst();
    return row && fromJsonText<string[]>(row.deviceTypeIds);
  }

  async saveDeviceTypes(
    db: RecordsDb,
    workspaceId: string,
    deviceTypeIds: readonly string[],
  ): Promise<void> {
    await db
      .updateTable('demoWorkspaces')
      .set({ deviceTypeIds: toJsonText(deviceTypeIds) })
      .where('workspaceId', '=', workspaceId)
      .execute();
  }

  /** Ids of those of the rules that are inactive, and were so when they were created. */
  async newInactiveRules(
    db: RecordsDb,
    workspaceId: string,
    names: readonly string[],
  ): Promise<readonly string[]> {
    const rows = await db
      .selectFrom('rules')
      .select('id')
      .where('workspaceId', '=', workspaceId)
      .where(isOneOf('name', names))
      .where('active', '=', 0)
      .where('version', '=', 0)
      .execute();
    return rows.map(({ id }) => id);
  }

  /** The ids of what is in the workspace, in the order of deletion; at most `max` of each kind. */
  async contents(
    db: RecordsDb,
    workspaceId: string,
    max: number,
  ): Promise<readonly { readonly kind: DemoContent; readonly ids: readonly string[] }[]> {
    const found = [];
    for (const [kind, table] of contents) {
      const query = db.selectFrom(table as 'tags').select('id');
      const rows = await query.where('workspaceId', '=', workspaceId).limit(max).execute();
      found.push({ kind, ids: rows.map(({ id }) => id) });
    }
    return found;
  }
}

export const demoWorkspaceRows = new DemoWorkspaceRows();
