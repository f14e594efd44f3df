// Compaction of the delivery log: copies what is needed of old segments to the open one and removes them.
import type { EpochMs } from '../../model/instant.ts';
import { removeSegment } from '../block-log/segment-files.ts';
import type { DeliveryLogLimits, RecordPlace } from './record.ts';
import type { LogReader } from './log-reader.ts';
import type { LogWriter } from './log-writer.ts';
import type { DeliveryRow } from './row-table.ts';
import type { ClosedSegment } from './segment.ts';

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

export function placeKey({ block: { segment, offset }, at }: RecordPlace): string {
  return `${segment} ${offset} ${at}`;
}

/** One pass over the segments. */
export class Compaction {
  readonly #needs: Needs;
  readonly #writer: LogWriter;
  readonly #reader: LogReader;
  readonly #limits: DeliveryLogLimits;
  readonly #now: () => EpochMs;
  readonly #removed = new Set<ClosedSegment>();

  constructor(
    needs: Needs,
    writer: LogWriter,
    reader: LogReader,
    limits: DeliveryLogLimits,
    now: () => EpochMs,
  ) {
    this.#needs = needs;
    this.#writer = writer;
    this.#reader = reader;
    this.#limits = limits;
    this.#now = now;
  }

  /** Copies what is needed before it removes anything, so that a crash leaves too much at most. */
  async run(): Promise<void> {
    const { deletedDevices, followedTo, waitingCounts } = this.#needs;
    if (deletedDevices !== undefined && deletedDevices.size > 0) await this.#writer.closeSegment();
    const waiting = waitingCounts();
    for (const segment of [...this.#writer.closed]) {
      const names = deletedDevices !== undefined && (await namesDevice(segment, deletedDevices));
      if (!names && segment.lastPosition >= followedTo) continue;
      if (!names && ![...segment.counts.keys()].every((id) => this.#isLast(segment, id))) continue;
      const needed = this.#neededOf(segment) + (waiting.get(segment.number) ?? 0);
      if (!names && needed >= segment.records * this.#limits.neededShareMin) continue;
      if (needed > 0 || names) await this.#copy(segment);
      this.#removed.add(segment);
    }
    if (this.#removed.size === 0) return;
    await this.#writer.sync();
    await this.#writer.removed(this.#removed);
    for (const { path } of this.#removed) await removeSegment(path);
  }

  /** Number of ended deliveries of the segment that must be kept, by their counts. */
  #neededOf(segment: ClosedSegment): number {
    if (segment.updated < this.#now() - this.#limits.keptMsMax) return 0;
    let needed = 0;
    for (const [connectorId, counts] of segment.counts) {
      if (!this.#needs.isKnown(connectorId)) continue;
      let newer = this.#writer.open?.tables.get(connectorId)?.counts.ended ?? 0;
      for (const other of this.#writer.closed)
        if (other.number > segment.number) newer += other.counts.get(connectorId)?.ended ?? 0;
      const ended = counts.rows - counts.pending;
      needed += Math.max(0, Math.min(ended, this.#limits.keptPerConnectorMax - newer));
    }
    return needed;
  }

  /**
   * Whether no earlier record of a delivery is left when those of the segment go: a delivery that
   * ended would wait again.
   */
  #isLast(segment: ClosedSegment, connectorId: string): boolean {
    if ((segment.counts.get(connectorId)?.revised ?? 0) === 0) return true;
    return !this.#writer.closed.some(
      (other) =>
        other.number < segment.number &&
        !this.#removed.has(other) &&
        (other.counts.get(connectorId)?.pending ?? 0) > 0,
    );
  }

  async #copy(segment: ClosedSegment): Promise<void> {
    const waiting = this.#needs.waitingIn(segment.number);
    for (const connectorId of segment.counts.keys()) {
      if (!this.#needs.isKnown(connectorId)) continue;
      for (const row of await this.#keptRows(segment, connectorId)) {
        const waits = waiting.get(placeKey(row.place));
        if (row.state === 'PENDING' && waits === undefined) continue;
        const before = waits?.place;
        const record = await this.#reader.read(row.place);
        // Damage was reported. A delivery that was attempted meanwhile has a newer record.
        if (record === undefined || waits?.place !== before) continue;
        const place = this.#writer.append(record);
        if (waits !== undefined) waits.place = place;
        if (this.#writer.isBehind) await this.#writer.write();
      }
    }
  }

  /**
   * The rows of a connector in the segment that are the newest of their delivery, and are kept:
   * however old they are where an earlier record would count without them.
   */
  async #keptRows(segment: ClosedSegment, connectorId: string): Promise<DeliveryRow[]> {
    const { keptMsMax, keptPerConnectorMax } = this.#limits;
    const { deletedDevices } = this.#needs;
    const all = !this.#isLast(segment, connectorId);
    const newest = [...(await this.#reader.newestOf(connectorId)).values()];
    const since = this.#now() - keptMsMax;
    const kept = keptEnded(newest, keptPerConnectorMax);
    return newest.filter(
      (row) =>
        row.place.block.segment === segment.number &&
        deletedDevices?.has(row.deviceId) !== true &&
        (row.state === 'PENDING' || all || (row.updated >= since && kept.has(row))),
    );
  }
}

async function namesDevice(
  segment: ClosedSegment,
  deviceIds: ReadonlySet<string>,
): Promise<boolean> {
  for (const connectorId of segment.counts.keys())
    if ((await segment.tableOf(connectorId)).hasDevice(deviceIds)) return true;
  return false;
}

/** The ended ones of the rows, the newest of them in the order of making. */
export function keptEnded(rows: readonly DeliveryRow[], max: number): ReadonlySet<DeliveryRow> {
  const ended = rows.filter(({ state }) => state !== 'PENDING');
  if (ended.length > max) ended.sort((a, b) => b.sequence - a.sequence);
  return new Set(ended.slice(0, max));
}
