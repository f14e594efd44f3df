// Data flows and their outputs in the records store.
import type { Insertable, Selectable } from 'kysely';
import type { Connectivity, DataFlow, FlowOutput } from '../../../model/connector.ts';
import { fromFlag, searchTextOf, toFlag } from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { RecordRows } from './record-rows.ts';

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
}

export const dataFlowRows = new DataFlowRows('dataFlows', toRow, fromRow);

async function insertOutputs(db: RecordsDb, record: DataFlow): Promise<void> {
  if (record.outputs.length === 0) return;
  const rows = record.outputs.map((output, place) => ({ dataFlowId: record.id, place, ...output }));
  await db.insertInto('dataFlowOutputs').values(rows).execute();
}

/**
 * Every data flow of the workspace, with what its device connector is for; of several of one name
 * the oldest comes last.
 */
export async function findWorkspaceDataFlows(
  db: RecordsDb,
  workspaceId: string,
): Promise<{ readonly id: string; readonly name: string; readonly connectivity: Connectivity }[]> {
  const query = db
    .selectFrom('dataFlows')
    .innerJoin('deviceConnectors', 'deviceConnectors.id', 'dataFlows.deviceConnectorId')
    .select(['dataFlows.id', 'dataFlows.name', 'deviceConnectors.connectivity'])
    .where('dataFlows.workspaceId', '=', workspaceId);
  const rows = await query.orderBy('dataFlows.created', 'desc').orderBy('dataFlows.id').execute();
  return rows.map((row) => ({ ...row, connectivity: row.connectivity as Connectivity }));
}

/** Of a device connector. */
export async function oldestFlowOf(
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
export async function flowsOfConnector(db: RecordsDb, deviceConnectorId: string, max: number) {
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
export async function devicesOfDataFlow(db: RecordsDb, dataFlowId: string): Promise<number> {
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
export async function dataFlowsUsing(
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
