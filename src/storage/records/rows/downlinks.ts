// Downlink queue in the records store: per device in order of creation, limited by count and age (contract 17, 35).
import { type Insertable, type Selectable, sql } from 'kysely';
import type { Connectivity } from '../../../model/connector.ts';
import type { Downlink, DownlinkState } from '../../../model/downlink.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { Json } from '../../../model/json.ts';
import type { PageRequest } from '../../../model/page.ts';
import {
  fromFlag,
  fromFlagOrNull,
  fromJsonTextOrNull,
  toFlag,
  toFlagOrNull,
  toJsonTextOrNull,
} from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import { pageOfRows, type Rows } from '../list.ts';
import type { RecordTables } from '../schema.ts';

type Table = RecordTables['downlinks'];

function toRow(record: Downlink): Insertable<Table> {
  return {
    ...record,
    confirmed: toFlagOrNull(record.confirmed),
    payload: toJsonTextOrNull(record.payload),
    replaces: toFlag(record.replaces),
  };
}

function fromRow({ sequence: _, ...row }: Selectable<Table>): Downlink {
  return {
    ...row,
    connectivity: row.connectivity as Connectivity,
    state: row.state as DownlinkState,
    confirmed: fromFlagOrNull(row.confirmed),
    payload: fromJsonTextOrNull<Json>(row.payload),
    replaces: fromFlag(row.replaces),
  };
}

/** An existing downlink with the id stays unchanged. The transaction is the caller's. */
export async function insertDownlinks(
  step: RecordsDb,
  records: readonly Downlink[],
): Promise<void> {
  const insertion = step.insertInto('downlinks').values(records.map(toRow));
  await insertion.onConflict((conflict) => conflict.column('id').doNothing()).execute();
}

export async function waitingDownlinks(
  db: RecordsDb,
  deviceId: string,
  max: number,
): Promise<Downlink[]> {
  const query = db
    .selectFrom('downlinks')
    .selectAll()
    .where('state', '=', 'QUEUED')
    .where('deviceId', '=', deviceId);
  return (await query.orderBy('sequence').limit(max).execute()).map(fromRow);
}

/** The device's oldest that waits. */
export async function nextDownlink(db: RecordsDb, deviceId: string): Promise<Downlink | undefined> {
  return (await waitingDownlinks(db, deviceId, 1))[0];
}

/** Devices behind the given one that have downlinks waiting, in order of id. */
export async function devicesWithDownlinks(
  db: RecordsDb,
  after: string,
  max: number,
): Promise<string[]> {
  const query = db
    .selectFrom('downlinks')
    .select('deviceId')
    .distinct()
    .where('state', '=', 'QUEUED');
  const rows = await query.where('deviceId', '>', after).orderBy('deviceId').limit(max).execute();
  return rows.map((row) => row.deviceId);
}

/** Devices of the integration that have downlinks waiting. */
export async function devicesOfIntegrationWithDownlinks(
  db: RecordsDb,
  integrationId: string,
): Promise<string[]> {
  const query = db.selectFrom('downlinks').innerJoin('devices', 'devices.id', 'downlinks.deviceId');
  const waiting = query.select('devices.id').distinct().where('downlinks.state', '=', 'QUEUED');
  return (await waiting.where('devices.integrationId', '=', integrationId).execute()).map(
    (row) => row.id,
  );
}

/** Those that wait although their time is over. */
export async function expiredDownlinks(
  db: RecordsDb,
  now: EpochMs,
  max: number,
): Promise<Downlink[]> {
  const query = db
    .selectFrom('downlinks')
    .selectAll()
    .where('state', '=', 'QUEUED')
    .where('expiresAt', '<=', now);
  return (await query.orderBy('sequence').limit(max).execute()).map(fromRow);
}

/**
 * The downlink that a network server reports of: by our id, by the server's, else the oldest that
 * was sent and may still be acknowledged.
 */
export async function reportedDownlink(
  db: RecordsDb,
  deviceId: string,
  named: { readonly downlinkId?: string; readonly serverReference?: string },
  unnamed: { readonly state: DownlinkState; readonly confirmedOnly: boolean },
): Promise<Downlink | undefined> {
  let query = db.selectFrom('downlinks').selectAll().where('deviceId', '=', deviceId);
  if (named.downlinkId !== undefined) query = query.where('id', '=', named.downlinkId);
  else if (named.serverReference !== undefined)
    query = query.where('serverReference', '=', named.serverReference);
  else {
    query = query.where('state', '=', unnamed.state);
    if (unnamed.confirmedOnly) query = query.where('confirmed', '=', 1);
    const row = await query.orderBy('sequence').executeTakeFirst();
    return row && fromRow(row);
  }
  const row = await query.orderBy('sequence', 'desc').executeTakeFirst();
  return row && fromRow(row);
}

/** Only while it is in that state, so that of two reports one wins; whether it was. */
export async function saveDownlink(
  db: RecordsDb,
  record: Downlink,
  whileIn: DownlinkState,
): Promise<boolean> {
  const query = db.updateTable('downlinks').set(toRow(record)).where('id', '=', record.id);
  const { numUpdatedRows } = await query.where('state', '=', whileIn).executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Deletes ended ones that are old, and the oldest of each device beyond the limit. */
export async function dropOldDownlinks(
  db: RecordsDb,
  createdBefore: EpochMs,
  keptPerDeviceMax: number,
): Promise<void> {
  await db
    .deleteFrom('downlinks')
    .where('state', '!=', 'QUEUED')
    .where('created', '<', createdBefore)
    .execute();
  const crowded = await db
    .selectFrom('downlinks')
    .select('deviceId')
    .groupBy('deviceId')
    .having(sql`count(*)`, '>', keptPerDeviceMax)
    .execute();
  for (const { deviceId } of crowded) {
    const own = db.selectFrom('downlinks').select('sequence').where('deviceId', '=', deviceId);
    const last = await own
      .orderBy('sequence', 'desc')
      .limit(1)
      .offset(keptPerDeviceMax)
      .executeTakeFirst();
    if (last === undefined) continue;
    const old = db
      .deleteFrom('downlinks')
      .where('deviceId', '=', deviceId)
      .where('state', '!=', 'QUEUED');
    await old.where('sequence', '<=', last.sequence).execute();
  }
}

/** Newest first unless the page asks for another order. */
export async function listDownlinks(
  db: RecordsDb,
  filter: { readonly deviceId: string; readonly state?: DownlinkState | undefined },
  page: PageRequest,
): Promise<Rows<Downlink>> {
  let query = db.selectFrom('downlinks').selectAll().where('deviceId', '=', filter.deviceId);
  if (filter.state !== undefined) query = query.where('state', '=', filter.state);
  const columns = { created: 'created', updated: 'updated', state: 'state', sequence: 'sequence' };
  const defaultSort = [{ field: 'sequence', direction: 'desc' }] as const;
  const { rows, total } = await pageOfRows(query, page, { columns, defaultSort });
  return { rows: rows.map(fromRow), total };
}
