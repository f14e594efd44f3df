// Data flows in the records store, with the device connectors and output connectors at their ends.
import type { Insertable, Selectable } from 'kysely';
import type {
  Carrier,
  Connectivity,
  ConnectorAuthType,
  DataFlow,
  DecodingType,
  DeviceConnector,
  FlowOutput,
  Integration,
  IntegrationType,
  LineProtocolMapping,
  OutputConnector,
  OutputScope,
  SparkplugMapping,
} from '../../../model/connector.ts';
import {
  contains,
  fromFlag,
  fromJsonTextOrNull,
  isOneOf,
  mapOrNull,
  searchTextOf,
  toFlag,
  toJsonTextOrNull,
} from '../columns.ts';
import type { RecordsDb, SealedDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { RecordRows, SealedRows } from './record-rows.ts';
import type { PayloadEncoding } from '../../../model/device-type.ts';
import { sortColumns, type WorkspaceFilter } from '../list.ts';
import { type Sealer, secretHash } from '../secret-encryption.ts';
import { isJsonObject, type JsonObject } from '../../../model/json.ts';
import { UnreadableRecord } from '../../../model/problem.ts';
import type { PageRequest } from '../../../model/page.ts';

type Table = RecordTables['dataFlows'];

function toRow({ outputs: _, ...record }: DataFlow): Insertable<Table> {
  return {
    ...record,
    passThrough: toFlag(record.passThrough),
    searchText: searchTextOf(record.name),
  };
}

function fromRow({ searchText: _, ...row }: Selectable<Table>): DataFlow {
  return { ...row, passThrough: fromFlag(row.passThrough), outputs: [] };
}

/** Changes are to be made within a transaction: a flow without its outputs must never be seen. */
class DataFlowRows extends RecordRows<'dataFlows', DataFlow> {
  override async insert(step: RecordsDb, record: DataFlow) {
    await super.insert(step, record);
    await insertOutputs(step, record);
  }

  override async save(step: RecordsDb, record: DataFlow) {
    await super.save(step, record);
    await step.deleteFrom('dataFlowOutputs').where('dataFlowId', '=', record.id).execute();
    await insertOutputs(step, record);
  }

  protected override async read(db: RecordsDb, rows: readonly Selectable<Table>[]) {
    if (rows.length === 0) return [];
    const ids = rows.map((row) => row.id);
    const outputs = await db
      .selectFrom('dataFlowOutputs')
      .selectAll()
      .where('dataFlowId', 'in', ids)
      .orderBy('place')
      .execute();
    const outputsOf = new Map<string, FlowOutput[]>(ids.map((id) => [id, []]));
    for (const { dataFlowId, outputConnectorId, topic } of outputs)
      outputsOf.get(dataFlowId)?.push({ outputConnectorId, topic });
    return (await super.read(db, rows)).map((flow) => ({
      ...flow,
      outputs: outputsOf.get(flow.id) ?? [],
    }));
  }

  /**
   * Every data flow of the workspace, with what its device connector is for; of several of one name
   * the oldest comes last.
   */
  async ofWorkspace(
    db: RecordsDb,
    workspaceId: string,
  ): Promise<
    { readonly id: string; readonly name: string; readonly connectivity: Connectivity }[]
  > {
    const query = db
      .selectFrom('dataFlows')
      .innerJoin('deviceConnectors', 'deviceConnectors.id', 'dataFlows.deviceConnectorId')
      .select(['dataFlows.id', 'dataFlows.name', 'deviceConnectors.connectivity'])
      .where('dataFlows.workspaceId', '=', workspaceId);
    const rows = await query.orderBy('dataFlows.created', 'desc').orderBy('dataFlows.id').execute();
    return rows.map((row) => ({ ...row, connectivity: row.connectivity as Connectivity }));
  }

  /** Of a device connector. */
  async oldestOf(
    db: RecordsDb,
    deviceConnectorId: string,
  ): Promise<{ readonly id: string } | undefined> {
    return db
      .selectFrom('dataFlows')
      .select('id')
      .where('deviceConnectorId', '=', deviceConnectorId)
      .orderBy('created')
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
  }

  /** Data flows of a device connector, the oldest first. */
  async ofConnector(db: RecordsDb, deviceConnectorId: string, max: number) {
    const rows = await db
      .selectFrom('dataFlows')
      .select(['id', 'name', 'deviceTypeId', 'passThrough'])
      .where('deviceConnectorId', '=', deviceConnectorId)
      .orderBy('created')
      .orderBy('id')
      .limit(max)
      .execute();
    return rows.map((row) => ({ ...row, passThrough: fromFlag(row.passThrough) }));
  }

  /** Number of the devices of a data flow. */
  async devicesOf(db: RecordsDb, dataFlowId: string): Promise<number> {
    const { count } = await db
      .selectFrom('devices')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('dataFlowId', '=', dataFlowId)
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /**
   * The data flows that use a record, `Name (id)`, in order of name, at most `max`: what a refusal to
   * delete names.
   */
  async using(
    db: RecordsDb,
    used:
      | { readonly deviceConnectorId: string }
      | { readonly deviceTypeId: string }
      | { readonly outputConnectorId: string },
    max: number,
  ): Promise<string[]> {
    let query = db.selectFrom('dataFlows').select(['id', 'name']).orderBy('searchText').limit(max);
    if ('deviceConnectorId' in used)
      query = query.where('deviceConnectorId', '=', used.deviceConnectorId);
    else if ('deviceTypeId' in used) query = query.where('deviceTypeId', '=', used.deviceTypeId);
    else {
      query = query.where('id', 'in', (eb) =>
        eb
          .selectFrom('dataFlowOutputs')
          .select('dataFlowId')
          .where('outputConnectorId', '=', used.outputConnectorId),
      );
    }
    return (await query.execute()).map((row) => `data flow ${row.name} (${row.id})`);
  }
}

export const dataFlowRows = new DataFlowRows('dataFlows', toRow, fromRow);

async function insertOutputs(db: RecordsDb, record: DataFlow): Promise<void> {
  if (record.outputs.length === 0) return;
  const rows = record.outputs.map((output, place) => ({ dataFlowId: record.id, place, ...output }));
  await db.insertInto('dataFlowOutputs').values(rows).execute();
}

// Device connectors and integrations with network servers in the records store; their secrets are encrypted.

type ConnectorTable = RecordTables['deviceConnectors'];
function connectorToRow(record: DeviceConnector, sealer: Sealer): Insertable<ConnectorTable> {
  const { uplinkSecret } = record;
  return {
    ...record,
    uplinkSecret: mapOrNull(uplinkSecret, (secret) => sealer.seal(secret)),
    uplinkSecretHash: mapOrNull(uplinkSecret, secretHash),
    pushConfigurationAutomatically: toFlag(record.pushConfigurationAutomatically),
    lineProtocol: toJsonTextOrNull(record.lineProtocol),
    sparkplug: toJsonTextOrNull(record.sparkplug),
    searchText: searchTextOf(record.name),
  };
}

function connectorFromRow(row: Selectable<ConnectorTable>, sealer: Sealer): DeviceConnector {
  const { searchText: _, uplinkSecretHash: __, ...columns } = row;
  return {
    ...columns,
    connectivity: row.connectivity as Connectivity,
    authType: row.authType as ConnectorAuthType,
    decodingType: row.decodingType as DecodingType,
    carrier: row.carrier as Carrier | null,
    encoding: row.encoding as PayloadEncoding | null,
    uplinkSecret: mapOrNull(row.uplinkSecret, (sealed) => sealer.open(sealed)),
    pushConfigurationAutomatically: fromFlag(row.pushConfigurationAutomatically),
    lineProtocol: fromJsonTextOrNull<LineProtocolMapping>(row.lineProtocol),
    sparkplug: fromJsonTextOrNull<SparkplugMapping>(row.sparkplug),
  };
}

class DeviceConnectorRows extends SealedRows<'deviceConnectors', DeviceConnector> {
  /** The connector that the integration made. */
  async ofIntegration(
    { db, sealer }: SealedDb,
    integrationId: string,
  ): Promise<DeviceConnector | undefined> {
    const rows = this.with(sealer);
    return rows.first(db, rows.select(db).where('integrationId', '=', integrationId));
  }

  async bySecret(
    { db, sealer }: SealedDb,
    uplinkSecret: string,
  ): Promise<DeviceConnector | undefined> {
    const rows = this.with(sealer);
    const hash = secretHash(uplinkSecret);
    return rows.first(db, rows.select(db).where('uplinkSecretHash', '=', hash));
  }
}

export const deviceConnectorRows = new DeviceConnectorRows(
  (sealer) =>
    new RecordRows(
      'deviceConnectors',
      (record) => connectorToRow(record, sealer),
      (row) => connectorFromRow(row, sealer),
      { columns: { ...sortColumns, connectivity: 'connectivity' } },
    ),
);

// Integrations with network servers in the records store; their settings are encrypted as a whole.

type IntegrationTable = RecordTables['integrations'];

function integrationToRow(record: Integration, sealer: Sealer): Insertable<IntegrationTable> {
  return {
    ...record,
    properties: sealer.seal(JSON.stringify(record.properties)),
    searchText: searchTextOf(record.name),
  };
}

function integrationFromRow(
  { searchText: _, ...row }: Selectable<IntegrationTable>,
  sealer: Sealer,
): Integration {
  return {
    ...row,
    type: row.type as IntegrationType,
    properties: JSON.parse(sealer.open(row.properties)) as Integration['properties'],
  };
}

class IntegrationRows extends SealedRows<'integrations', Integration> {
  /**
   * Devices of the integration, `device Name (id)`, at most `max`: what a refusal to delete names.
   */
  async devicesOf(db: RecordsDb, integrationId: string, max: number): Promise<string[]> {
    const query = db
      .selectFrom('devices')
      .select(['id', 'name'])
      .where('integrationId', '=', integrationId);
    return (await query.orderBy('searchText').limit(max).execute()).map(
      (row) => `device ${row.name} (${row.id})`,
    );
  }
}

export const integrationRows = new IntegrationRows(
  (sealer) =>
    new RecordRows(
      'integrations',
      (record) => integrationToRow(record, sealer),
      (row) => integrationFromRow(row, sealer),
      { columns: { ...sortColumns, type: 'type' } },
    ),
);

// Output connectors in the records store; their properties are encrypted as a whole, because most hold secrets.

type OutputTable = RecordTables['outputConnectors'];
/** Fewer than any engine's limit of parameters. */
const idsPerQuery = 500;

function outputToRow(record: OutputConnector, sealer: Sealer): Insertable<OutputTable> {
  return {
    ...record,
    sendConsecutiveAlerts: toFlag(record.sendConsecutiveAlerts),
    invokeRuleEngine: toFlag(record.invokeRuleEngine),
    useCustomPayload: toFlag(record.useCustomPayload),
    properties: mapOrNull(record.properties, (value) => sealer.seal(JSON.stringify(value))),
    searchText: searchTextOf(record.name),
  };
}

function outputFromRow(row: Selectable<OutputTable>, sealer: Sealer): OutputConnector {
  return {
    ...openFromRow(row),
    properties: mapOrNull(row.properties, (sealed) => openProperties(sealed, sealer)),
  };
}

function openFromRow(row: Selectable<OutputTable>): OpenOutputConnector {
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

class SealedOutputConnectorRows extends SealedRows<
  'outputConnectors',
  OutputConnector,
  OutputConnectorRows
> {
  /** Reads what is not sealed, so that one unreadable connector holds up none of the others. */
  async findOpen(db: RecordsDb, ids: readonly string[]): Promise<OpenOutputConnector[]> {
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
  async findReadableProperties(
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
  async idsOf(db: RecordsDb, workspaceId: string): Promise<readonly string[]> {
    const query = db
      .selectFrom('outputConnectors')
      .select('id')
      .where('workspaceId', '=', workspaceId);
    return (await query.execute()).map(({ id }) => id);
  }

  /** Those of a type in the workspace, without those that cannot be read. */
  async findReadable(
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

  /** Those of the ids that are output connectors. */
  async existing(db: RecordsDb, ids: readonly string[]): Promise<ReadonlySet<string>> {
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
}

export const outputConnectorRows = new SealedOutputConnectorRows(
  (sealer) =>
    new OutputConnectorRows(
      'outputConnectors',
      (record) => outputToRow(record, sealer),
      (row) => outputFromRow(row, sealer),
      { columns: { ...sortColumns, type: 'type', scope: 'scope' } },
    ),
);

/**
 * Output connectors without their sealed properties, which a wrong key or damage makes unreadable.
 */
export type OpenOutputConnector = Omit<OutputConnector, 'properties'>;

function readableProperties(sealed: string | null, sealer: Sealer): JsonObject | undefined {
  if (sealed === null) return undefined;
  try {
    return openProperties(sealed, sealer);
  } catch (error) {
    if (error instanceof UnreadableRecord) return undefined;
    throw error;
  }
}
