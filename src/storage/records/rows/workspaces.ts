// Workspaces in the records store, and the retention rules of theirs and of their data flows.
import type { Insertable, Selectable } from 'kysely';
import type { JsonObject } from '../../../model/json.ts';
import type { PageRequest } from '../../../model/page.ts';
import {
  defaultWorkspaceSettings,
  type Workspace,
  type WorkspaceSettings,
} from '../../../model/workspace.ts';
import { contains, fromJsonText, isOneOf, searchTextOf, toJsonText } from '../columns.ts';
import type { WorkspaceFilter } from '../list.ts';
import type { RecordsDb } from '../records.ts';
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
}

export const workspaceRows = new WorkspaceRows('workspaces', toRow, fromRow);

/** Ids and names in order of name. */
export async function listWorkspaceNames(
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
export async function firstWorkspaceIds(
  db: RecordsDb,
  { organizationId, workspaceIds }: WorkspaceFilter,
  max: number,
): Promise<readonly string[]> {
  let query = db.selectFrom('workspaces').select('id').where('organizationId', '=', organizationId);
  if (workspaceIds !== undefined) query = query.where(isOneOf('id', workspaceIds));
  const rows = await query.orderBy('searchText').orderBy('id').limit(max).execute();
  return rows.map(({ id }) => id);
}

/** What is in the workspace, for example `3 devices`; empty when nothing is. */
export async function workspaceContents(db: RecordsDb, workspaceId: string): Promise<string[]> {
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
    const { count } = await query.where('workspaceId', '=', workspaceId).executeTakeFirstOrThrow();
    if (Number(count) > 0) contents.push(`${count} ${what}`);
  }
  return contents;
}

export async function oldestWorkspaceOf(
  db: RecordsDb,
  organizationId: string,
): Promise<string | undefined> {
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
export async function firstWorkspace(
  db: RecordsDb,
): Promise<{ readonly id: string; readonly organizationId: string } | undefined> {
  return db
    .selectFrom('workspaces')
    .select(['id', 'organizationId'])
    .orderBy('created')
    .orderBy('id')
    .executeTakeFirst();
}

// Retention rules: the days for which workspaces and data flows keep samples.

/** Days by id; records without a rule are absent. */
export interface RetentionRules {
  readonly workspaces: ReadonlyMap<string, number>;
  readonly dataFlows: ReadonlyMap<string, number>;
}

export async function readRetentionRules(db: RecordsDb): Promise<RetentionRules> {
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
