// The processing log: what happened to the payloads of each device, bounded by count and age (contract 27).
import type { Selectable } from 'kysely';
import { dayMs, type EpochMs } from '../../../model/instant.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { PageRequest } from '../../../model/page.ts';
import type { NoteLevel, NoteSource, ProcessingLogEntry } from '../../../model/processing-note.ts';
import { fromJsonTextOrNull, toJsonTextOrNull } from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import { pageOfRows, type Rows } from '../list.ts';
import type { RecordTables } from '../schema.ts';

export const processingLogLimits = {
  entriesPerDeviceMax: 1_000,
  ageMsMax: 30 * dayMs,
} as const;

// One statement writes this many rows: few enough for every engine's parameter limit, many enough
// to be quick.
const rowsPerStatement = 100;

/**
 * Adds the entries and drops the oldest of each device beyond the limit; the transaction is the
 * caller's. An entry whose id is known already changes nothing, so that a follower may repeat
 * itself.
 */
export async function appendProcessingLog(
  step: RecordsDb,
  entries: readonly ProcessingLogEntry[],
  entriesPerDeviceMax: number = processingLogLimits.entriesPerDeviceMax,
): Promise<void> {
  for (let from = 0; from < entries.length; from += rowsPerStatement) {
    const rows = entries
      .slice(from, from + rowsPerStatement)
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
export async function dropOldProcessingLog(db: RecordsDb, now: EpochMs): Promise<void> {
  await db
    .deleteFrom('processingLog')
    .where('timestamp', '<', now - processingLogLimits.ageMsMax)
    .execute();
}

export interface ProcessingLogFilter {
  readonly deviceId: string;
  /** Inclusive. */
  readonly from?: EpochMs | undefined;
  /** Exclusive. */
  readonly to?: EpochMs | undefined;
  readonly level?: NoteLevel | undefined;
  readonly source?: NoteSource | undefined;
}

/** Newest first unless the page asks for another order. */
export async function listProcessingLog(
  db: RecordsDb,
  filter: ProcessingLogFilter,
  page: PageRequest,
): Promise<Rows<ProcessingLogEntry>> {
  let query = db.selectFrom('processingLog').selectAll().where('deviceId', '=', filter.deviceId);
  if (filter.from !== undefined) query = query.where('timestamp', '>=', filter.from);
  if (filter.to !== undefined) query = query.where('timestamp', '<', filter.to);
  if (filter.level !== undefined) query = query.where('level', '=', filter.level);
  if (filter.source !== undefined) query = query.where('source', '=', filter.source);
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
  return { rows: rows.map(fromRow), total };
}

function fromRow({
  sequence: _,
  ...row
}: Selectable<RecordTables['processingLog']>): ProcessingLogEntry {
  const { details, ...entry } = row;
  const level = row.level as NoteLevel;
  const source = row.source as NoteSource;
  const object = fromJsonTextOrNull<JsonObject>(details);
  return { ...entry, level, source, ...(object && { details: object }) };
}
