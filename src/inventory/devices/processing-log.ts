// The processing log of a device, as its owner reads it (contract 27).
import { formatInstant, parseInstant, restorePlus } from '../../model/instant.ts';
import { type PageRequest, pageOf } from '../../model/page.ts';
import { problem } from '../../model/problem.ts';
import type { NoteLevel } from '../../model/processing-note.ts';
import type { Records } from '../../storage/records/records.ts';
import { listProcessingLog } from '../../storage/records/rows/payload-notes.ts';

/** `from` inclusive, `to` exclusive, ISO-8601; newest first. */
export async function readProcessingLog(
  records: Records,
  filter: {
    readonly deviceId: string;
    readonly from?: string | undefined;
    readonly to?: string | undefined;
    readonly level?: NoteLevel | undefined;
  },
  page: PageRequest,
) {
  const { deviceId, level } = filter;
  const from = instant('from', filter.from);
  const to = instant('to', filter.to);
  const { rows, total } = await listProcessingLog(records.db, { deviceId, level, from, to }, page);
  const content = rows.map((entry) => ({
    id: entry.id,
    timestamp: formatInstant(entry.timestamp),
    level: entry.level,
    source: entry.source,
    message: entry.message,
    correlationId: entry.correlationId,
    details: entry.details ?? null,
  }));
  return pageOf(content, total, page);
}

function instant(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseInstant(restorePlus(text));
  if (ms === undefined)
    throw problem('invalidRequest', {
      reason: `query ${name}: ${text} is not an ISO-8601 date-time`,
    });
  return ms;
}
