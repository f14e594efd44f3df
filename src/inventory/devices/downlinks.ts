// The downlinks and the processing log of a device as its owner reads them, and the way into the queue (contract 17, 27, 35).
import { type Downlink, downlinkLimits, type DownlinkState } from '../../model/downlink.ts';
import {
  formatInstant,
  formatInstantOrNull,
  parseInstant,
  restorePlus,
} from '../../model/instant.ts';
import { pageOf, type PageRequest } from '../../model/page.ts';
import { problem } from '../../model/problem.ts';
import type { NoteLevel } from '../../model/entry-trace.ts';
import { type Records, transaction } from '../../storage/records/records.ts';
import { downlinkRows } from '../../storage/records/rows/downlinks.ts';
import { processingLogRows } from '../../storage/records/rows/payload-notes.ts';

function view(downlink: Downlink) {
  const { id, created, updated, state, port, confirmed, payloadHex, topic, payload, error } =
    downlink;
  return {
    id,
    created: formatInstant(created),
    updated: formatInstantOrNull(updated),
    state,
    port,
    confirmed,
    payloadHex,
    topic,
    payload,
    error,
  };
}

/** Newest first. */
export async function listDownlinks(
  records: Records,
  filter: { readonly deviceId: string; readonly state?: DownlinkState | undefined },
  page: PageRequest,
) {
  const { rows, total } = await downlinkRows.list(records.db, filter, page);
  return pageOf(rows.map(view), total, page);
}

/**
 * Queues the downlinks durably behind the waiting ones; a downlink that replaces ends all of these.
 * Already queued downlinks, as after a repeated request, stay unchanged. Throws Problem 409 when
 * too many wait.
 */
export async function addDownlinks(
  { db }: Records,
  deviceId: string,
  downlinks: readonly Downlink[],
  now: number,
): Promise<void> {
  if (downlinks.length === 0) return;
  const { waitingPerDeviceMax } = downlinkLimits;
  await transaction(db, async ({ db: step }) => {
    const waiting = await downlinkRows.waiting(step, deviceId, waitingPerDeviceMax);
    const isReplacing = downlinks.some((downlink) => downlink.replaces);
    const replaced = waiting.filter(() => isReplacing);
    if (waiting.length - replaced.length + downlinks.length > waitingPerDeviceMax) {
      throw problem('downlinkQueueFull', { deviceId, waitingMax: waitingPerDeviceMax });
    }
    const over = {
      state: 'FAILED',
      error: 'superseded by a later downlink',
      nextTryAt: null,
      updated: now,
    } as const;
    for (const downlink of replaced)
      await downlinkRows.save(step, { ...downlink, ...over }, 'QUEUED');
    await downlinkRows.insert(step, downlinks);
  });
}

/** Deletes downlinks beyond their retention. */
export async function forgetOldDownlinks({ db }: Records, now: number): Promise<void> {
  await downlinkRows.dropOld(db, now - downlinkLimits.keptMs, downlinkLimits.keptPerDeviceMax);
}

// The processing log of a device, as its owner reads it (contract 27).

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
  const { rows, total } = await processingLogRows.list(
    records.db,
    { deviceId, level, from, to },
    page,
  );
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
