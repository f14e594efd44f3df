// Compaction of the delivery log: copies what is needed of old segments to the open one and removes them.
import type { EpochMs } from '../../model/instant.ts';
import type { DeliveryLogLimits } from './format.ts';
import type { LogWriter } from './log-writer.ts';
import type { ClosedSegment } from './open-segments.ts';
import type { RecordPlace, StoredDelivery } from './record.ts';
import type { RowReader } from './row-reader.ts';
import type { DeliveryRow } from './row-table.ts';
import { removeSegment } from './segment.ts';

/** What must stay. */
export interface Needs {
  /** Deliveries of journal entries from here on can be repeated, and are recognized by their records. */
  readonly followedTo: number;
  /** Whether the connector exists. */
  readonly isKnown: (connectorId: string) => boolean;
  /** How many deliveries wait in each segment, by its number. */
  readonly waitingCounts: () => ReadonlyMap<number, number>;
  /** The deliveries that wait in a segment, by `placeKey`. */
  readonly waitingIn: (segment: number) => ReadonlyMap<string, { place?: RecordPlace | undefined }>;
  /** Devices that were deleted; every segment that names one is copied without them. */
  readonly deletedDevices?: ReadonlySet<string>;
}

export interface CompactionParts {
  readonly closed: ClosedSegment[];
  readonly writer: LogWriter;
  readonly rows: RowReader;
  readonly read: (place: RecordPlace) => Promise<StoredDelivery | undefined>;
  readonly limits: DeliveryLogLimits;
  readonly now: () => EpochMs;
}

export function placeKey({ segment, offset, at }: RecordPlace): string {
  return `${segment} ${offset} ${at}`;
}

/** Copies what is needed before it removes anything, so that a crash leaves too much at most. */
export async function compact(needs: Needs, parts: CompactionParts): Promise<void> {
  const { closed, writer, limits } = parts;
  const { deletedDevices } = needs;
  if (deletedDevices !== undefined && deletedDevices.size > 0) await writer.closeSegment();
  const waiting = needs.waitingCounts();
  const removed: ClosedSegment[] = [];
  for (const segment of [...closed]) {
    const names =
      deletedDevices !== undefined && (await namesDevice(segment, deletedDevices, parts));
    if (!names && segment.lastPosition >= needs.followedTo) continue;
    if (!names && ![...segment.counts.keys()].every((id) => isLast(segment, id, removed, parts)))
      continue;
    const needed = neededOf(segment, needs, parts) + (waiting.get(segment.number) ?? 0);
    if (!names && needed >= segment.records * limits.neededShareMin) continue;
    if (needed > 0 || names) await copy(segment, needs, removed, parts);
    removed.push(segment);
  }
  if (removed.length === 0) return;
  await writer.sync();
  await writer.alone(async () => {
    for (const segment of removed) closed.splice(closed.indexOf(segment), 1);
    await writer.writeManifest();
  });
  for (const segment of removed) await removeSegment(segment);
}

/** Number of ended deliveries of the segment that must be kept, by their counts. */
function neededOf(
  segment: ClosedSegment,
  { isKnown }: Needs,
  { closed, writer, limits, now }: CompactionParts,
): number {
  if (segment.updated < now() - limits.keptMsMax) return 0;
  let needed = 0;
  for (const [connectorId, counts] of segment.counts) {
    if (!isKnown(connectorId)) continue;
    let newer = writer.open?.tables?.get(connectorId)?.counts.ended ?? 0;
    for (const other of closed)
      if (other.number > segment.number) newer += other.counts.get(connectorId)?.ended ?? 0;
    const ended = counts.rows - counts.pending;
    needed += Math.max(0, Math.min(ended, limits.keptPerConnectorMax - newer));
  }
  return needed;
}

async function namesDevice(
  segment: ClosedSegment,
  deviceIds: ReadonlySet<string>,
  { rows }: CompactionParts,
): Promise<boolean> {
  for (const connectorId of segment.counts.keys()) {
    if ((await rows.tableOf(segment, connectorId)).hasDevice(deviceIds)) return true;
  }
  return false;
}

/**
 * Whether no earlier record of a delivery is left when those of the segment go: a delivery that
 * ended would wait again.
 */
function isLast(
  segment: ClosedSegment,
  connectorId: string,
  removed: readonly ClosedSegment[],
  { closed }: CompactionParts,
): boolean {
  if ((segment.counts.get(connectorId)?.revised ?? 0) === 0) return true;
  return !closed.some(
    (other) =>
      other.number < segment.number &&
      !removed.includes(other) &&
      (other.counts.get(connectorId)?.pending ?? 0) > 0,
  );
}

async function copy(
  segment: ClosedSegment,
  needs: Needs,
  removed: readonly ClosedSegment[],
  parts: CompactionParts,
): Promise<void> {
  const { writer, read } = parts;
  const waiting = needs.waitingIn(segment.number);
  for (const connectorId of segment.counts.keys()) {
    if (!needs.isKnown(connectorId)) continue;
    const all = !isLast(segment, connectorId, removed, parts);
    for (const row of await keptRows(segment, { connectorId, all }, needs, parts)) {
      const waits = waiting.get(placeKey(row.place));
      if (row.state === 'PENDING' && waits === undefined) continue;
      const before = waits?.place;
      const record = await read(row.place);
      // Damage was reported. A delivery that was attempted meanwhile has a newer record.
      if (record === undefined || waits?.place !== before) continue;
      const place = writer.append(record);
      if (waits !== undefined) waits.place = place;
      if (writer.isBehind) await writer.write();
    }
  }
}

/**
 * The rows of a connector in the segment that are the newest of their delivery, and are kept; with
 * `all` however old they are.
 */
async function keptRows(
  segment: ClosedSegment,
  { connectorId, all }: { readonly connectorId: string; readonly all: boolean },
  { deletedDevices }: Needs,
  { rows, limits, now }: CompactionParts,
): Promise<DeliveryRow[]> {
  const newest = await rows.newestOf(connectorId);
  const since = now() - limits.keptMsMax;
  const kept = keptEnded([...newest.values()], limits.keptPerConnectorMax);
  return [...newest.values()].filter(
    (row) =>
      row.place.segment === segment.number &&
      deletedDevices?.has(row.deviceId) !== true &&
      (row.state === 'PENDING' || all || (row.updated >= since && kept.has(row))),
  );
}

/** The ended ones of the rows, the newest of them in the order of making. */
export function keptEnded(rows: readonly DeliveryRow[], max: number): ReadonlySet<DeliveryRow> {
  const ended = rows.filter(({ state }) => state !== 'PENDING');
  if (ended.length > max) ended.sort((a, b) => b.sequence - a.sequence);
  return new Set(ended.slice(0, max));
}
