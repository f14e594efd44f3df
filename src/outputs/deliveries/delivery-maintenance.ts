// Delivery upkeep: syncs the delivery log once a second, releases the journal and removes old segments.
import { placeKey } from '../../storage/delivery-log/compaction.ts';
import type { DeliveryLog } from '../../storage/delivery-log/delivery-log.ts';
import type { RecordPlace } from '../../storage/delivery-log/record.ts';
import type { Deliverer } from './attempts/delivery-worker.ts';
import type { WaitingDelivery } from './attempts/waiting-delivery.ts';
import type { EntryLog } from '../../storage/log/entry-log.ts';
import { createSerialQueue } from '../../structures/serial-queue.ts';
import type { SetTimer } from '../../structures/timers.ts';
import type { DeliveryIntake } from './delivery-intake.ts';

const saveEveryMs = 1_000;
/** The log is compacted when it has grown by so much, and with each maintenance. */
const grown = { bytes: 32 * 1024 * 1024, records: 100_000 } as const;

interface DeliveryUpkeepParts {
  readonly journal: EntryLog;
  /** The name of the follower in the journal. */
  readonly follower: string;
  readonly log: DeliveryLog;
  readonly deliverer: Deliverer;
  readonly intake: DeliveryIntake;
  /** Those of the connectors that exist. */
  readonly existing: (connectorIds: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly setRepeatingTimer: SetTimer;
  readonly failed: (error: unknown) => void;
}

export class DeliveryUpkeep {
  readonly #parts: DeliveryUpkeepParts;
  readonly #log: DeliveryLog;
  readonly #deliverer: Deliverer;
  readonly #intake: DeliveryIntake;
  readonly #turns = createSerialQueue();
  #compacted: { bytes: number; records: number };
  #wasBehind = false;
  readonly #cancel: () => void;
  readonly #tick = async (): Promise<void> => {
    // The log reports its failures and retries.
    if (this.#log.isStuck) {
      this.#wasBehind ||= this.#log.isBehind;
      return;
    }
    this.#intake.park('old');
    await savePosition(this.#parts);
    if (this.#wasBehind && !this.#log.isBehind) this.#deliverer.wake();
    this.#wasBehind = this.#log.isBehind;
    const { bytes, records } = this.#compacted;
    if (this.#log.bytes > bytes + grown.bytes || this.#log.records > records + grown.records)
      await this.#compact();
  };

  /** Starts the upkeep. */
  constructor(parts: DeliveryUpkeepParts) {
    this.#parts = parts;
    const { log, deliverer, intake, failed } = parts;
    this.#log = log;
    this.#deliverer = deliverer;
    this.#intake = intake;
    this.#compacted = { bytes: log.bytes, records: log.records };
    this.#cancel = parts.setRepeatingTimer(
      () => void this.#turns.run(this.#tick).catch(failed),
      saveEveryMs,
    );
  }

  async #compact(deletedDevices?: ReadonlySet<string>): Promise<void> {
    const known = await this.#parts.existing([...this.#log.connectorIds()]);
    await this.#log.compact({
      followedTo: this.#parts.journal.followerPosition(this.#parts.follower) ?? 0,
      isKnown: (connectorId) => known.has(connectorId),
      waitingCounts: () => waitingCounts(this.#deliverer.waitingDeliveries()),
      waitingIn: (segment) => waitingIn(this.#deliverer.waitingDeliveries(), segment),
      ...(deletedDevices !== undefined && { deletedDevices }),
    });
    this.#compacted = { bytes: this.#log.bytes, records: this.#log.records };
  }

  #forget(isForgotten: (waiting: WaitingDelivery) => boolean): void {
    for (const waiting of this.#deliverer.waitingDeliveries()) {
      if (!isForgotten(waiting)) continue;
      waiting.isGone = true;
      this.#intake.release(waiting);
    }
  }

  /** Ends the deliveries that wait for the connector. */
  forgetConnector(id: string): void {
    this.#forget(({ connectorId }) => connectorId === id);
  }

  /** Ends the waiting deliveries of the devices and removes the others from the log. */
  readonly dropDevices = async (deviceIds: ReadonlySet<string>): Promise<void> => {
    if (deviceIds.size === 0) return;
    this.#forget(({ deviceId }) => deviceIds.has(deviceId));
    await this.#turns.run(() => this.#compact(deviceIds));
  };

  readonly compact = (): Promise<void> => this.#turns.run(() => this.#compact());

  /** Writes what waits to the log, makes everything durable and ends. */
  readonly close = async (): Promise<void> => {
    this.#cancel();
    await this.#turns.run(async () => {
      this.#intake.park('all');
      await savePosition(this.#parts);
    });
  };
}

/** What is before the position has a record by now, and the sync makes it durable. */
async function savePosition({
  journal,
  follower,
  log,
  intake,
}: DeliveryUpkeepParts): Promise<void> {
  const position = intake.heldTo;
  if (log.isUnsynced) await log.sync();
  if (position > (journal.followerPosition(follower) ?? 0))
    journal.setFollowerPosition(follower, position);
}

function waitingCounts(waiting: Iterable<WaitingDelivery>): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { place, isGone } of waiting) {
    if (place === undefined || isGone) continue;
    const { segment } = place.block;
    counts.set(segment, (counts.get(segment) ?? 0) + 1);
  }
  return counts;
}

function waitingIn(
  all: Iterable<WaitingDelivery>,
  segment: number,
): Map<string, { place?: RecordPlace | undefined }> {
  const found = new Map<string, WaitingDelivery>();
  for (const waiting of all) {
    const { place, isGone } = waiting;
    if (place?.block.segment === segment && !isGone) found.set(placeKey(place), waiting);
  }
  return found;
}
