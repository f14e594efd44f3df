// Search over named records by id, name or words (contract 37), and where a record lives by its id.
import { type RawBuilder, sql, type SqlBool } from 'kysely';
import type { SearchKind } from '../../../model/search.ts';
import { contains, isOneOf, keyOf } from '../columns.ts';
import { engineSql } from '../engine.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import type { Place } from '../../../model/record.ts';

type Condition = RawBuilder<SqlBool>;

/** Where records of a kind are searched. */
export interface SearchedPlace {
  readonly kind: NamedKind;
  readonly organizationId: string;
  /** Absent: in every workspace. */
  readonly workspaceIds?: readonly string[] | undefined;
  /** Whose private views are found. */
  readonly viewerId: string;
}

/** A row that was found; `searchText` is the name in lower case, then other searched values. */
export interface FoundRow {
  readonly kind: SearchKind;
  readonly id: string;
  readonly name: string;
  readonly workspaceId: string | null;
  readonly searchText: string;
}

export type NamedKind = Exclude<SearchKind, 'MEMBER'>;

const tables = {
  DEVICE: { table: 'devices', workspace: 'workspaceId' },
  TAG: { table: 'tags', workspace: 'workspaceId' },
  PLACE: { table: 'places', workspace: 'workspaceId' },
  CUSTOM_FIELD: { table: 'customFieldMetas', workspace: 'workspaceId' },
  DEVICE_TYPE: { table: 'deviceTypes', workspace: null },
  DATA_FLOW: { table: 'dataFlows', workspace: 'workspaceId' },
  DEVICE_CONNECTOR: { table: 'deviceConnectors', workspace: 'workspaceId' },
  OUTPUT_CONNECTOR: { table: 'outputConnectors', workspace: 'workspaceId' },
  INTEGRATION: { table: 'integrations', workspace: 'workspaceId' },
  RULE: { table: 'rules', workspace: 'workspaceId' },
  CUSTOM_LOGIC: { table: 'customLogicBlocks', workspace: null },
  DASHBOARD: { table: 'dashboards', workspace: 'workspaceId' },
  DASHBOARD_GROUP: { table: 'dashboardGroups', workspace: 'workspaceId' },
  VIEW: { table: 'views', workspace: 'workspaceId' },
  BLOB: { table: 'blobs', workspace: 'workspaceId' },
  WORKSPACE: { table: 'workspaces', workspace: 'id' },
  API_KEY: { table: 'apiKeys', workspace: null },
  OAUTH_CLIENT: { table: 'oauthClients', workspace: null },
} as const satisfies Readonly<
  Record<
    NamedKind,
    {
      readonly table: keyof RecordTables;
      /** The column with the workspace; null for records of the organization. */
      readonly workspace: 'workspaceId' | 'id' | null;
    }
  >
>;

async function findInAll(
  db: RecordsDb,
  places: readonly SearchedPlace[],
  condition: () => Condition,
  max: number,
): Promise<FoundRow[]> {
  if (places.length === 0) return [];
  const parts = places.map((place) => selectFrom(place, condition(), max));
  const query = sql<FoundRow>`${sql.join(parts, sql` union all `)}`;
  return (await query.execute(db)).rows;
}

function selectFrom(place: SearchedPlace, condition: Condition, max: number): RawBuilder<unknown> {
  const { table, workspace } = tables[place.kind];
  const ownWorkspace = workspace === null ? sql`null` : sql.ref(workspace);
  return sql`select * from (
    select ${sql.lit(place.kind)} as "kind", "id", "name", ${ownWorkspace} as "workspaceId", "searchText"
    from ${sql.table(table)} where ${isWithin(place)} and ${condition}
    order by "searchText" limit ${max}) as "found"`;
}

/** `table` qualifies the columns where another table is joined. */
function isWithin({ kind, organizationId, workspaceIds, viewerId }: SearchedPlace): Condition {
  const { workspace } = tables[kind];
  const conditions: Condition[] = [
    kind === 'DEVICE_TYPE'
      ? sql<SqlBool>`("organizationId" = ${organizationId} or "organizationId" is null)`
      : sql<SqlBool>`"organizationId" = ${organizationId}`,
  ];
  if (workspaceIds !== undefined && workspace !== null)
    conditions.push(sql<SqlBool>`${isOneOf(workspace, workspaceIds)}`);
  if (kind === 'VIEW') conditions.push(sql<SqlBool>`("shared" = 1 or "ownerId" = ${viewerId})`);
  return sql<SqlBool>`${sql.join(conditions, sql` and `)}`;
}

export interface FoundDevice extends FoundRow {
  readonly deviceId: string;
  readonly deviceEui: string | null;
}

/** Searches named records of many kinds. */
class RecordSearch {
  /** The record with the id, of any of the kinds. */
  byId(db: RecordsDb, places: readonly SearchedPlace[], id: string): Promise<FoundRow[]> {
    return findInAll(db, places, () => sql<SqlBool>`"id" = ${id}`, 1);
  }

  /** Records whose name begins with the words, read from an index in order of name. */
  byNameStart(
    db: RecordsDb,
    places: readonly SearchedPlace[],
    start: string,
    max: number,
  ): Promise<FoundRow[]> {
    // No name has a character after the last one of Unicode.
    const condition = sql<SqlBool>`"searchText" >= ${start} and "searchText" < ${`${start}\u{10ffff}`}`;
    return findInAll(db, places, () => condition, max);
  }

  /** Records that contain every word. Reads until `max` of a kind are found. */
  byWords(
    db: RecordsDb,
    places: readonly SearchedPlace[],
    words: readonly string[],
    max: number,
  ): Promise<FoundRow[]> {
    const all = sql.join(
      words.map((word) => contains('searchText', word)),
      sql` and `,
    );
    return findInAll(db, places, () => sql<SqlBool>`${all}`, max);
  }

  /** Devices with the physical id, or with the EUI among their LoRa properties, in any case. */
  async devicesByPhysicalId(
    db: RecordsDb,
    place: SearchedPlace,
    { physicalId, eui }: { readonly physicalId: string; readonly eui: string },
    max: number,
  ): Promise<FoundDevice[]> {
    const ownEui = engineSql(db).text(sql.ref('loraKeys'), 'deviceEui');
    const columns = sql`'DEVICE' as "kind", "id", "name", "workspaceId", "searchText", "deviceId",
      ${ownEui} as "deviceEui"`;
    // By workspace an engine may walk all devices there instead of the index of the id.
    const within = isWithin({ ...place, workspaceIds: undefined });
    const query = sql<FoundDevice>`
      select * from (select ${columns} from "devices"
        where ${within} and "deviceIdKey" = ${keyOf(physicalId)} limit ${max}) as "byId"
      union select * from (select ${columns} from "devices"
        where ${within} and "loraKeys" is not null and ${ownEui} = ${keyOf(eui)} limit ${max}) as "byEui"`;
    const { rows } = await query.execute(db);
    if (place.workspaceIds === undefined) return rows;
    const reached = new Set(place.workspaceIds);
    return rows.filter(({ workspaceId }) => workspaceId !== null && reached.has(workspaceId));
  }

  /** Devices of the tags, with the tag; those of one tag in order of id. */
  async devicesOfTags(
    db: RecordsDb,
    place: SearchedPlace,
    tagIds: readonly string[],
    max: number,
  ): Promise<(FoundRow & { readonly tagId: string })[]> {
    if (tagIds.length === 0) return [];
    const query = sql<FoundRow & { tagId: string }>`
      select 'DEVICE' as "kind", "id", "name", "workspaceId", "searchText", "tagId"
      from "deviceTags" join "devices" on "devices"."id" = "deviceTags"."deviceId"
      where ${isOneOf('deviceTags.tagId', tagIds)} and ${isWithin(place)} limit ${max}`;
    return (await query.execute(db)).rows;
  }

  /** Members of the organization by words of their name or e-mail address, or by id. */
  async members(
    db: RecordsDb,
    organizationId: string,
    sought: { readonly id: string; readonly words: readonly string[] },
    max: number,
  ): Promise<FoundRow[]> {
    const { lineBreak, placeIn } = engineSql(db);
    const searched = sql`lower("users"."name" || ${lineBreak} || "users"."email")`;
    const contained = sought.words.map((word) => sql<SqlBool>`${placeIn(searched, word)} > 0`);
    const matches = sql.join(contained, sql` and `);
    const query = sql<FoundRow>`
      select 'MEMBER' as "kind", "users"."id" as "id", "users"."name" as "name",
        null as "workspaceId", ${searched} as "searchText"
      from "organizationMembers" join "users" on "users"."id" = "organizationMembers"."userId"
      where "organizationMembers"."organizationId" = ${organizationId}
        and ("users"."id" = ${sought.id} or (${matches}))
      order by "users"."name" limit ${max}`;
    return (await query.execute(db)).rows;
  }
}

export const recordSearch = new RecordSearch();

// Resource references: organization and workspace of a record, for authorization, without reading the whole record.

const workspaceTables = {
  tag: { table: 'tags', what: 'tag' },
  place: { table: 'places', what: 'place' },
  deviceConnector: { table: 'deviceConnectors', what: 'device connector' },
  outputConnector: { table: 'outputConnectors', what: 'output connector' },
  dataFlow: { table: 'dataFlows', what: 'data flow' },
  device: { table: 'devices', what: 'device' },
  customFieldMeta: { table: 'customFieldMetas', what: 'custom field' },
  blob: { table: 'blobs', what: 'blob' },
  dashboard: { table: 'dashboards', what: 'dashboard' },
  dashboardGroup: { table: 'dashboardGroups', what: 'dashboard group' },
  operation: { table: 'operations', what: 'operation' },
  sampleExport: { table: 'sampleExports', what: 'export' },
  delivery: { table: 'deliveries', what: 'delivery' },
  integration: { table: 'integrations', what: 'integration' },
  rule: { table: 'rules', what: 'rule' },
  calculation: { table: 'calculations', what: 'calculation' },
  mute: { table: 'mutes', what: 'mute' },
  onCall: { table: 'onCallOrders', what: 'on-call order' },
  alarm: { table: 'alarms', what: 'alarm' },
  view: { table: 'views', what: 'view' },
  annotation: { table: 'annotations', what: 'annotation' },
  report: { table: 'reports', what: 'report' },
} as const;

const organizationTables = {
  deviceType: { table: 'deviceTypes', what: 'device type' },
  apiKey: { table: 'apiKeys', what: 'API key' },
  oauthClient: { table: 'oauthClients', what: 'OAuth client' },
  customLogic: { table: 'customLogicBlocks', what: 'custom logic block' },
} as const;

export type PlacedKind =
  | keyof typeof workspaceTables
  | keyof typeof organizationTables
  | 'workspace'
  | 'organization';

/** What a record of the kind is called in a 404. */
export function nameOfKind(kind: PlacedKind): string {
  if (kind in workspaceTables) return workspaceTables[kind as keyof typeof workspaceTables].what;
  if (kind in organizationTables)
    return organizationTables[kind as keyof typeof organizationTables].what;
  return kind;
}

/** Undefined for an unknown record. */
export async function findPlace(
  db: RecordsDb,
  kind: PlacedKind,
  id: string,
): Promise<Place | undefined> {
  const what = nameOfKind(kind);
  if (kind === 'organization') {
    const row = await db
      .selectFrom('organizations')
      .select('id')
      .where('id', '=', id)
      .executeTakeFirst();
    return row && { organizationId: id, workspaceId: null, what, id };
  }
  if (kind === 'workspace') {
    const row = await db
      .selectFrom('workspaces')
      .select('organizationId')
      .where('id', '=', id)
      .executeTakeFirst();
    return row && { ...row, workspaceId: id, what, id };
  }
  if (
    kind === 'deviceType' ||
    kind === 'apiKey' ||
    kind === 'oauthClient' ||
    kind === 'customLogic'
  ) {
    const { table } = organizationTables[kind];
    const row = await db
      .selectFrom(table as 'deviceTypes')
      .select('organizationId')
      .where('id', '=', id)
      .executeTakeFirst();
    return row && { ...row, workspaceId: null, what, id };
  }
  const { table } = workspaceTables[kind];
  const columns = ['organizationId', 'workspaceId'] as const;
  const row = await db
    .selectFrom(table as 'outputConnectors')
    .select(columns)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && { ...row, what, id };
}
