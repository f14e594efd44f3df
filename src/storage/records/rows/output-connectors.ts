// Output connectors in the records store; their properties are encrypted as a whole, because most hold secrets.
import type { Insertable, Selectable } from 'kysely';
import type { OutputConnector, OutputScope } from '../../../model/connector.ts';
import { isJsonObject, type JsonObject } from '../../../model/json.ts';
import { UnreadableRecord } from '../../../model/errors.ts';
import type { PageRequest } from '../../../model/page.ts';
import { contains, isOneOf, fromFlag, mapOrNull, searchTextOf, toFlag } from '../columns.ts';
import type { RecordsDb, SealedDb } from '../records.ts';
import { sortColumns, type WorkspaceFilter } from '../list.ts';
import type { RecordTables } from '../schema.ts';
import { RecordRows, SealedRows } from './record-rows.ts';
import type { Sealer } from '../secret-encryption.ts';

type Table = RecordTables['outputConnectors'];
/** Fewer than any engine's limit of parameters. */
const idsPerQuery = 500;

function toRow(record: OutputConnector, sealer: Sealer): Insertable<Table> {
  return {
    ...record,
    sendConsecutiveAlerts: toFlag(record.sendConsecutiveAlerts),
    invokeRuleEngine: toFlag(record.invokeRuleEngine),
    useCustomPayload: toFlag(record.useCustomPayload),
    properties: mapOrNull(record.properties, (value) => sealer.seal(JSON.stringify(value))),
    searchText: searchTextOf(record.name),
  };
}

function fromRow(row: Selectable<Table>, sealer: Sealer): OutputConnector {
  return {
    ...openFromRow(row),
    properties: mapOrNull(row.properties, (sealed) => openProperties(sealed, sealer)),
  };
}

function openFromRow(row: Selectable<Table>): OpenOutputConnector {
  return {
    id: row.id,
    organizationId: row.organizationId,
    workspaceId: row.workspaceId,
    name: row.name,
    scope: row.scope as OutputScope,
    type: row.type,
    sendConsecutiveAlerts: fromFlag(row.sendConsecutiveAlerts),
    invokeRuleEngine: fromFlag(row.invokeRuleEngine),
    useCustomPayload: fromFlag(row.useCustomPayload),
    customPayload: row.customPayload,
    created: row.created,
    updated: row.updated,
    version: row.version,
  };
}

function openProperties(sealed: string, sealer: Sealer): JsonObject {
  const value: unknown = JSON.parse(sealer.open(sealed));
  if (!isJsonObject(value))
    throw new UnreadableRecord('The properties of an output connector are no object');
  return value;
}

class OutputConnectorRows extends RecordRows<'outputConnectors', OutputConnector> {
  /** Those of the workspaces and the global ones; `global` asks for the global ones alone. */
  override async list(
    db: RecordsDb,
    filter: WorkspaceFilter & {
      readonly scope?: OutputScope | undefined;
      readonly types?: readonly string[] | undefined;
      readonly global?: boolean | undefined;
      readonly withoutId?: string | undefined;
    },
    page: PageRequest,
  ) {
    const { workspaceIds, global } = filter;
    let query = this.select(db).where((eb) => {
      const own = eb('organizationId', '=', filter.organizationId);
      const narrowed =
        workspaceIds === undefined ? own : eb.and([own, isOneOf('workspaceId', workspaceIds)]);
      const everybodys = eb('organizationId', 'is', null);
      if (global === undefined) return eb.or([narrowed, everybodys]);
      return global ? everybodys : narrowed;
    });
    if (filter.withoutId !== undefined) query = query.where('id', '<>', filter.withoutId);
    if (filter.scope !== undefined) query = query.where('scope', '=', filter.scope);
    if (filter.types !== undefined) query = query.where(isOneOf('type', filter.types));
    if (filter.search) query = query.where(contains('searchText', filter.search));
    return this.page(db, query, page);
  }

  /** With its deliveries on their way to the log. */
  override async remove(db: RecordsDb, id: string) {
    await db.deleteFrom('deliveries').where('connectorId', '=', id).execute();
    await super.remove(db, id);
  }
}

export const outputConnectorRows = new SealedRows<
  'outputConnectors',
  OutputConnector,
  OutputConnectorRows
>(
  (sealer) =>
    new OutputConnectorRows(
      'outputConnectors',
      (record) => toRow(record, sealer),
      (row) => fromRow(row, sealer),
      { columns: { ...sortColumns, type: 'type', scope: 'scope' } },
    ),
);

/**
 * Output connectors without their sealed properties, which a wrong key or damage makes unreadable.
 */
export type OpenOutputConnector = Omit<OutputConnector, 'properties'>;

/** Reads what is not sealed, so that one unreadable connector holds up none of the others. */
export async function findOpenOutputConnectors(
  db: RecordsDb,
  ids: readonly string[],
): Promise<OpenOutputConnector[]> {
  const found: OpenOutputConnector[] = [];
  for (let from = 0; from < ids.length; from += idsPerQuery) {
    const some = ids.slice(from, from + idsPerQuery);
    const rows = await db
      .selectFrom('outputConnectors')
      .selectAll()
      .where('id', 'in', some)
      .execute();
    for (const row of rows) found.push(openFromRow(row));
  }
  return found;
}

/** The properties of the connectors, by id, without those that cannot be read. */
export async function findReadableProperties(
  { db, sealer }: SealedDb,
  ids: readonly string[],
): Promise<ReadonlyMap<string, JsonObject>> {
  const found = new Map<string, JsonObject>();
  for (let from = 0; from < ids.length; from += idsPerQuery) {
    const some = ids.slice(from, from + idsPerQuery);
    const query = db
      .selectFrom('outputConnectors')
      .select(['id', 'properties'])
      .where('id', 'in', some);
    for (const { id, properties } of await query.execute()) {
      const opened = readableProperties(properties, sealer);
      if (opened !== undefined) found.set(id, opened);
    }
  }
  return found;
}

/** The ids of all in the workspace. */
export async function connectorIdsOf(
  db: RecordsDb,
  workspaceId: string,
): Promise<readonly string[]> {
  const query = db
    .selectFrom('outputConnectors')
    .select('id')
    .where('workspaceId', '=', workspaceId);
  return (await query.execute()).map(({ id }) => id);
}

/** Those of a type in the workspace, without those that cannot be read. */
export async function findReadableConnectors(
  { db, sealer }: SealedDb,
  workspaceId: string,
  type: string,
): Promise<OutputConnector[]> {
  const query = db
    .selectFrom('outputConnectors')
    .selectAll()
    .where('workspaceId', '=', workspaceId)
    .where('type', '=', type);
  const rows = await query.execute();
  return rows.flatMap((row) => {
    const properties = readableProperties(row.properties, sealer);
    return properties === undefined ? [] : [{ ...openFromRow(row), properties }];
  });
}

function readableProperties(sealed: string | null, sealer: Sealer): JsonObject | undefined {
  if (sealed === null) return undefined;
  try {
    return openProperties(sealed, sealer);
  } catch (error) {
    if (error instanceof UnreadableRecord) return undefined;
    throw error;
  }
}

/** Those of the ids that are output connectors. */
export async function existingOutputConnectors(
  db: RecordsDb,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let from = 0; from < ids.length; from += idsPerQuery) {
    const some = ids.slice(from, from + idsPerQuery);
    const rows = await db
      .selectFrom('outputConnectors')
      .select('id')
      .where('id', 'in', some)
      .execute();
    for (const { id } of rows) found.add(id);
  }
  return found;
}
