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

interface DeliveryUpkeep {
  /** Ends the deliveries that wait for the connector. */
  forgetConnector(connectorId: string): void;
  /** Ends the waiting deliveries of the devices and removes the others from the log. */
  dropDevices(deviceIds: ReadonlySet<string>): Promise<void>;
  compact(): Promise<void>;
  /** Writes what waits to the log, makes everything durable and ends. */
  close(): Promise<void>;
}

/** Starts the upkeep. */
export function createDeliveryUpkeep(parts: DeliveryUpkeepParts): DeliveryUpkeep {
  const { log, deliverer, intake, failed } = parts;
  const turns = createSerialQueue();
  let compacted = { bytes: log.bytes, records: log.records };
  let wasBehind = false;

  async function compact(deletedDevices?: ReadonlySet<string>): Promise<void> {
    const known = await parts.existing([...log.connectorIds()]);
    await log.compact({
      followedTo: parts.journal.followerPosition(parts.follower) ?? 0,
      isKnown: (connectorId) => known.has(connectorId),
      waitingCounts: () => waitingCounts(deliverer.waitingDeliveries()),
      waitingIn: (segment) => waitingIn(deliverer.waitingDeliveries(), segment),
      ...(deletedDevices !== undefined && { deletedDevices }),
    });
    compacted = { bytes: log.bytes, records: log.records };
  }

  async function tick(): Promise<void> {
    // The log reports its failures and retries.
    if (log.isStuck) {
      wasBehind ||= log.isBehind;
      return;
    }
    intake.park('old');
    await savePosition(parts);
    if (wasBehind && !log.isBehind) deliverer.wake();
    wasBehind = log.isBehind;
    const { bytes, records } = compacted;
    if (log.bytes > bytes + grown.bytes || log.records > records + grown.records) await compact();
  }

  const cancel = parts.setRepeatingTimer(() => void turns.run(tick).catch(failed), saveEveryMs);
  const forget = (isForgotten: (waiting: WaitingDelivery) => boolean): void => {
    for (const waiting of deliverer.waitingDeliveries()) {
      if (!isForgotten(waiting)) continue;
      waiting.isGone = true;
      intake.release(waiting);
    }
  };
  return {
    forgetConnector: (id) => forget(({ connectorId }) => connectorId === id),
    async dropDevices(deviceIds) {
      if (deviceIds.size === 0) return;
      forget(({ deviceId }) => deviceIds.has(deviceId));
      await turns.run(() => compact(deviceIds));
    },
    compact: () => turns.run(() => compact()),
    async close() {
      cancel();
      await turns.run(async () => {
        intake.park('all');
        await savePosition(parts);
      });
    },
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
