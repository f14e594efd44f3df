// What happened to payloads, in the records store: the processing log of devices, and refused uplinks by connector.
import type { Selectable } from 'kysely';
import { dayMs, type EpochMs } from '../../../model/instant.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { PageRequest } from '../../../model/page.ts';
import type { NoteLevel, NoteSource, ProcessingLogEntry } from '../../../model/entry-trace.ts';
import { type Refusal, refusalLimits, type SentHints } from '../../../model/uplink.ts';
import { fromJsonTextOrNull, isOneOf, toJsonTextOrNull } from '../columns.ts';
import { pageOfRows, type Rows } from '../list.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';

type Limits = { readonly [N in 'perConnectorMax' | 'perWorkspaceMax']: number };

/** Few enough parameters for every engine. */
const rowsPerStatement = 50;

/** What a list of refusals is of. */
export type RefusalsOf = { readonly connectorId: string } | { readonly workspaceId: string };

function fromRow(row: Selectable<RecordTables['refusals']>): Refusal {
  return { ...row, sent: fromJsonTextOrNull<SentHints>(row.sent) } as Refusal;
}

/** Places of the device connectors that exist. */
export async function placesOfConnectors(
  db: RecordsDb,
  ids: readonly string[],
): Promise<ReadonlyMap<string, { readonly organizationId: string; readonly workspaceId: string }>> {
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

const refusalSortColumns = {
  last: 'last',
  first: 'first',
  count: 'count',
  reason: 'reason',
  deviceId: 'deviceId',
  id: 'id',
} as const;

class RefusalRows {
  /** Adds to what was counted, and drops the oldest beyond the limits. The transaction is the caller's. */
  async add(
    step: RecordsDb,
    refusals: readonly Refusal[],
    limits: Limits = refusalLimits,
  ): Promise<void> {
    // In one order, so that nodes do not wait for each other in a circle.
    const rows = refusals
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map((refusal) => ({ ...refusal, sent: toJsonTextOrNull(refusal.sent) }));
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
            sent: ref('excluded.sent'),
          })),
        )
        .execute();
    for (const connectorId of new Set(rows.map((row) => row.connectorId)))
      await dropOldest(step, { connectorId }, limits.perConnectorMax);
    for (const workspaceId of new Set(rows.map((row) => row.workspaceId)))
      await dropOldest(step, { workspaceId }, limits.perWorkspaceMax);
  }

  /** Those since the time; the last ones first unless the page asks for another order. */
  async list(
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

  /** Without payloads: those of a workspace since the time, the last ones first. */
  async since(db: RecordsDb, workspaceId: string, since: EpochMs) {
    const rows = await db
      .selectFrom('refusals')
      .select(['id', 'connectorId', 'deviceId', 'transport', 'reason', 'message', 'last', 'count'])
      .where('workspaceId', '=', workspaceId)
      .where('last', '>=', since)
      .orderBy('last', 'desc')
      .orderBy('id')
      .limit(refusalLimits.perWorkspaceMax)
      .execute();
    return rows as Pick<Refusal, keyof (typeof rows)[number]>[];
  }

  /** Undefined when it is gone. */
  async find(db: RecordsDb, of: RefusalsOf, id: string): Promise<Refusal | undefined> {
    const row = await idsOf(db, of)
      .clearSelect()
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row === undefined ? undefined : fromRow(row);
  }

  /** One of them, or all. */
  async remove(db: RecordsDb, of: RefusalsOf, id?: string): Promise<void> {
    let query = db.deleteFrom('refusals');
    if ('connectorId' in of) query = query.where('connectorId', '=', of.connectorId);
    else query = query.where('workspaceId', '=', of.workspaceId);
    if (id !== undefined) query = query.where('id', '=', id);
    await query.execute();
  }

  /** Drops those that came last before the time. */
  async dropOld(db: RecordsDb, before: EpochMs): Promise<void> {
    await db.deleteFrom('refusals').where('last', '<', before).execute();
  }
}

export const refusalRows = new RefusalRows();

// The processing log: what happened to the payloads of each device, bounded by count and age (contract 27).

export const processingLogLimits = {
  entriesPerDeviceMax: 1_000,
  ageMsMax: 30 * dayMs,
} as const;

// One statement writes this many rows: few enough for every engine's parameter limit, many enough
// to be quick.
const notesPerStatement = 100;

class ProcessingLogRows {
  /**
   * Adds the entries and drops the oldest of each device beyond the limit; the transaction is the
   * caller's. An entry whose id is known already changes nothing, so that a follower may repeat
   * itself.
   */
  async append(
    step: RecordsDb,
    entries: readonly ProcessingLogEntry[],
    entriesPerDeviceMax: number = processingLogLimits.entriesPerDeviceMax,
  ): Promise<void> {
    for (let from = 0; from < entries.length; from += notesPerStatement) {
      const rows = entries
        .slice(from, from + notesPerStatement)
        .map(({ details, ...entry }) => ({ ...entry, details: toJsonTextOrNull(details) }));
      await step
        .insertInto('processingLog')
        .values(rows)
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    }
    for (const deviceId of new Set(entries.map((entry) => entry.deviceId))) {
      const firstTooMany = await step
        .selectFrom('processingLog')
        .select('sequence')
        .where('deviceId', '=', deviceId)
        .orderBy('sequence', 'desc')
        .limit(1)
        .offset(entriesPerDeviceMax)
        .executeTakeFirst();
      if (firstTooMany === undefined) continue;
      const tooMany = step.deleteFrom('processingLog').where('deviceId', '=', deviceId);
      await tooMany.where('sequence', '<=', firstTooMany.sequence).execute();
    }
  }

  /** Drops what is older than the age limit. */
  async dropOld(db: RecordsDb, now: EpochMs): Promise<void> {
    await db
      .deleteFrom('processingLog')
      .where('timestamp', '<', now - processingLogLimits.ageMsMax)
      .execute();
  }

  /** Newest first unless the page asks for another order. */
  async list(
    db: RecordsDb,
    filter: {
      readonly deviceId: string;
      /** Inclusive. */
      readonly from?: EpochMs | undefined;
      /** Exclusive. */
      readonly to?: EpochMs | undefined;
      readonly level?: NoteLevel | undefined;
      readonly source?: NoteSource | undefined;
      readonly correlationId?: string | undefined;
    },
    page: PageRequest,
  ): Promise<Rows<ProcessingLogEntry>> {
    let query = db.selectFrom('processingLog').selectAll().where('deviceId', '=', filter.deviceId);
    if (filter.from !== undefined) query = query.where('timestamp', '>=', filter.from);
    if (filter.to !== undefined) query = query.where('timestamp', '<', filter.to);
    if (filter.level !== undefined) query = query.where('level', '=', filter.level);
    if (filter.source !== undefined) query = query.where('source', '=', filter.source);
    if (filter.correlationId !== undefined)
      query = query.where('correlationId', '=', filter.correlationId);
    const newestFirst = [
      { field: 'timestamp', direction: 'desc' },
      { field: 'sequence', direction: 'desc' },
    ] as const;
    const columns = {
      timestamp: 'timestamp',
      sequence: 'sequence',
      level: 'level',
      source: 'source',
    };
    const { rows, total } = await pageOfRows(query, page, { columns, defaultSort: newestFirst });
    return { rows: rows.map(noteFromRow), total };
  }
}

export const processingLogRows = new ProcessingLogRows();

function noteFromRow({
  sequence: _,
  ...row
}: Selectable<RecordTables['processingLog']>): ProcessingLogEntry {
  const { details, ...entry } = row;
  const level = row.level as NoteLevel;
  const source = row.source as NoteSource;
  const object = fromJsonTextOrNull<JsonObject>(details);
  return { ...entry, level, source, ...(object && { details: object }) };
}
