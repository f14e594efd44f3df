// Refused uplinks in the records store: counted by connector, reason and named device, bounded by number and age.
import type { Selectable } from 'kysely';
import type { EpochMs } from '../../../model/instant.ts';
import type { PageRequest } from '../../../model/page.ts';
import { type Refusal, refusalLimits } from '../../../model/refused-uplink.ts';
import { isOneOf } from '../columns.ts';
import { pageOfRows, type Rows } from '../list.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';

type Limits = { readonly [N in 'perConnectorMax' | 'perWorkspaceMax']: number };

/** Few enough parameters for every engine. */
const rowsPerStatement = 50;

/** What a list of refusals is of. */
export type RefusalsOf = { readonly connectorId: string } | { readonly workspaceId: string };

function fromRow(row: Selectable<RecordTables['refusals']>): Refusal {
  return row as Refusal;
}

/** Places of the device connectors that exist. */
export async function placesOfConnectors(
  db: RecordsDb,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Pick<Refusal, 'organizationId' | 'workspaceId'>>> {
  const rows = await db
    .selectFrom('deviceConnectors')
    .select(['id', 'organizationId', 'workspaceId'])
    .where(isOneOf('id', ids))
    .execute();
  return new Map(rows.map(({ id, ...place }) => [id, place]));
}

/** The connector of each physical id that the devices of exactly one organization have. */
export async function connectorsOfDevices(
  db: RecordsDb,
  deviceIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('devices')
    .innerJoin('dataFlows', 'dataFlows.id', 'devices.dataFlowId')
    .select(['devices.deviceId as name', 'dataFlows.deviceConnectorId as connectorId'])
    .where(isOneOf('devices.deviceId', deviceIds))
    .execute();
  const found = new Map<string, string>();
  const shared = new Set<string>();
  for (const { name, connectorId } of rows) {
    // Physical ids are unique within an organization, so that a second row is another one's.
    if (found.has(name)) shared.add(name);
    found.set(name, connectorId);
  }
  for (const name of shared) found.delete(name);
  return found;
}

/** Adds to what was counted, and drops the oldest beyond the limits. The transaction is the caller's. */
export async function addRefusals(
  step: RecordsDb,
  refusals: readonly Refusal[],
  limits: Limits = refusalLimits,
): Promise<void> {
  // In one order, so that nodes do not wait for each other in a circle.
  const rows = refusals.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (let from = 0; from < rows.length; from += rowsPerStatement)
    await step
      .insertInto('refusals')
      .values(rows.slice(from, from + rowsPerStatement))
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet(({ eb, ref }) => ({
          workspaceId: ref('excluded.workspaceId'),
          transport: ref('excluded.transport'),
          status: ref('excluded.status'),
          message: ref('excluded.message'),
          last: ref('excluded.last'),
          count: eb(ref('refusals.count'), '+', ref('excluded.count')),
          bytes: ref('excluded.bytes'),
          payload: ref('excluded.payload'),
          payloadForm: ref('excluded.payloadForm'),
        })),
      )
      .execute();
  for (const connectorId of new Set(rows.map((row) => row.connectorId)))
    await dropOldest(step, { connectorId }, limits.perConnectorMax);
  for (const workspaceId of new Set(rows.map((row) => row.workspaceId)))
    await dropOldest(step, { workspaceId }, limits.perWorkspaceMax);
}

async function dropOldest(step: RecordsDb, of: RefusalsOf, max: number): Promise<void> {
  const newest = idsOf(step, of).orderBy('last', 'desc').orderBy('id');
  // A batch adds at most as many as it has rows.
  const tooMany = await newest.offset(max).limit(refusalLimits.perWorkspaceMax).execute();
  if (tooMany.length === 0) return;
  const ids = tooMany.map(({ id }) => id);
  await step.deleteFrom('refusals').where(isOneOf('id', ids)).execute();
}

function idsOf(db: RecordsDb, of: RefusalsOf) {
  const query = db.selectFrom('refusals').select('id');
  if ('connectorId' in of) return query.where('connectorId', '=', of.connectorId);
  return query.where('workspaceId', '=', of.workspaceId);
}

/** Those since the time; the last ones first unless the page asks for another order. */
export async function listRefusals(
  db: RecordsDb,
  of: RefusalsOf,
  since: EpochMs,
  page: PageRequest,
): Promise<Rows<Refusal>> {
  const query = idsOf(db, of).clearSelect().selectAll().where('last', '>=', since);
  const { rows, total } = await pageOfRows(query, page, {
    columns: refusalSortColumns,
    defaultSort: [{ field: 'last', direction: 'desc' }],
  });
  return { rows: rows.map(fromRow), total };
}

const refusalSortColumns = {
  last: 'last',
  first: 'first',
  count: 'count',
  reason: 'reason',
  deviceId: 'deviceId',
  id: 'id',
} as const;

/** One of them, or all. */
export async function removeRefusals(db: RecordsDb, of: RefusalsOf, id?: string): Promise<void> {
  let query = db.deleteFrom('refusals');
  if ('connectorId' in of) query = query.where('connectorId', '=', of.connectorId);
  else query = query.where('workspaceId', '=', of.workspaceId);
  if (id !== undefined) query = query.where('id', '=', id);
  await query.execute();
}

/** Drops those that came last before the time. */
export async function dropOldRefusals(db: RecordsDb, before: EpochMs): Promise<void> {
  await db.deleteFrom('refusals').where('last', '<', before).execute();
}
