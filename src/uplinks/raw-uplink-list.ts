// Raw uplink list: the raw uplinks of a device by page, newest first by default; empty with a retention of 0 (contract 35).
import { rmSync } from 'node:fs';
import { type EpochMs, formatInstant, parseInstant, restorePlus } from '../model/instant.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { type Page, pageOf, type PageRequest, refuseUnknownFields } from '../model/page.ts';
import { payloadHexOf, type ReadEncoding } from '../model/payload.ts';
import { problem } from '../model/problem.ts';
import type { RawUplink } from '../model/uplink.ts';
import type { RawUplinkPage, RawUplinkRange } from '../storage/raw-uplinks/raw-uplink-store.ts';
import type { RawUplinks } from './followers/followers.ts';

export interface RawUplinkView {
  /** The correlation id, under both names. */
  readonly id: string;
  readonly correlationId: string;
  /** Service device id. */
  readonly deviceId: string;
  /** Time of receipt. */
  readonly timestamp: string;
  /** What the transport said; null when it said nothing. */
  readonly topic: string | null;
  readonly sentTimestamp: string | null;
  /** Bytes of the payload as received. */
  readonly size: number;
  readonly payload: JsonObject | readonly Json[];
  /** What it was read as. */
  readonly encoding: ReadEncoding;
  /** Its bytes as hexadecimal digits; null for JSON and forms. */
  readonly payloadHex: string | null;
}

export interface UplinkInterval {
  /** ISO-8601 times of receipt; `from` inclusive, `to` exclusive. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Throws Problem 400 for an invalid time. */
export async function listRawUplinks(
  deviceId: string,
  interval: UplinkInterval,
  page: PageRequest,
  list: (range: RawUplinkRange) => Promise<RawUplinkPage>,
): Promise<Page<RawUplinkView>> {
  refuseUnknownFields(page.sort, ['timestamp']);
  const range = { deviceId, ...intervalOf(interval) };
  const read = page.sort[0]?.direction === 'asc' ? oldestFirst : newestFirst;
  const { uplinks, total } = await read(range, page, list);
  return pageOf(uplinks.map(rawUplinkView), total, page);
}

type ListedRange = { readonly deviceId: string; readonly from?: EpochMs; readonly to?: EpochMs };

async function newestFirst(
  range: ListedRange,
  { page, size }: PageRequest,
  list: (range: RawUplinkRange) => Promise<RawUplinkPage>,
): Promise<RawUplinkPage> {
  return list({ ...range, skip: page * size, limit: size });
}

// The store reads from the newest on: the page is counted from the other end, again when uplinks
// came in between.
async function oldestFirst(
  range: ListedRange,
  { page, size }: PageRequest,
  list: (range: RawUplinkRange) => Promise<RawUplinkPage>,
): Promise<RawUplinkPage> {
  let { total } = await list({ ...range, skip: 0, limit: 0 });
  for (let left = triesOldestFirst; ; left--) {
    const end = Math.max(0, total - page * size);
    const skip = Math.max(0, end - size);
    const found = await list({ ...range, skip, limit: end - skip });
    if (found.total === total || left === 0)
      return { uplinks: found.uplinks.toReversed(), total: found.total };
    ({ total } = found);
  }
}

const triesOldestFirst = 3;

export function rawUplinkView({ id, deviceId, receivedAt, payload }: RawUplink): RawUplinkView {
  const { topic, timestamp, body, bodyBytes, encoding = 'JSON' } = payload;
  return {
    id,
    correlationId: id,
    deviceId,
    timestamp: formatInstant(receivedAt),
    topic,
    sentTimestamp: timestamp === null ? null : formatInstant(timestamp),
    size: bodyBytes,
    payload: body,
    encoding,
    payloadHex: payloadHexOf(payload),
  };
}

export function intervalOf({ from, to }: UplinkInterval): {
  readonly from?: number;
  readonly to?: number;
} {
  return {
    ...(from !== undefined && { from: instantOf('from', from) }),
    ...(to !== undefined && { to: instantOf('to', to) }),
  };
}

function instantOf(bound: string, text: string): number {
  const ms = parseInstant(restorePlus(text));
  if (ms === undefined) throw problem('badBound', { bound, value: text });
  return ms;
}

// No raw uplinks: with a retention of 0, those of earlier starts are removed and lists are empty (contract 35).

/** Removes the folder, and the follower, which would keep the journal from being truncated. */
export function removeRawUplinks(
  log: { removeFollower(follower: string): void },
  directory: string,
): RawUplinks {
  log.removeFollower('raw-uplinks');
  rmSync(directory, { recursive: true, force: true });
  const nothing = async () => undefined;
  return {
    list: async () => ({ uplinks: [], total: 0 }),
    share: async () => undefined,
    dropDevices: nothing,
    removeReceived: async () => 0,
    runMaintenance: nothing,
    close: nothing,
  };
}
