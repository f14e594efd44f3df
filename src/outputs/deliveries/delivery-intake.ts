// Delivery intake: deliveries of data flows, whose drafts are journal entries until they have a record.
import { type DeliveryLog, placeKey } from '../../storage/delivery-log/delivery-log.ts';
import { deliveryId, type RecordPlace } from '../../storage/delivery-log/record.ts';
import type { Deliverer } from './attempts/delivery-worker.ts';
import {
  recordOf,
  type WaitingDelivery,
  waitingDraft,
  waitingRecord,
} from './attempts/waiting-delivery.ts';
import type { Delivery, DeliveryDraft } from '../../model/delivery.ts';
import { type EpochMs, isWithin } from '../../model/instant.ts';
import { missing } from '../../structures/missing.ts';
import type { EntryLog } from '../../storage/log/entry-log.ts';
import { createSerialQueue } from '../../structures/work-queues.ts';
import type { SetTimer } from '../../structures/timers.ts';

export const intakeLimits = {
  /**
   * Deliveries that are in the memory and hold the journal; further ones, and those that have
   * waited for so long, get a record in the log.
   */
  heldMax: 4_000,
  heldBytesMax: 64 * 1024 * 1024,
  heldMsMax: 10_000,
} as const;

export class DeliveryIntake {
  readonly #parts;
  /** In the order of the journal. */
  readonly #held = new Map<WaitingDelivery, { readonly since: EpochMs; readonly bytes: number }>();
  #heldBytes = 0;
  #followedTo: number;
  /** The last delivery that was added; of one sample there may be several. */
  #lastSequence = -1;
  readonly #lastConnectors = new Set<string>();

  constructor(parts: {
    readonly log: DeliveryLog;
    readonly deliverer: Pick<Deliverer, 'refuse' | 'add'>;
    readonly now: () => EpochMs;
    /** The journal position that is followed next. */
    readonly from: number;
    /** Deliveries from `from` on that the log has; none belongs to `knownTo` or later positions. */
    readonly known: Set<string>;
    readonly knownTo: number;
  }) {
    this.#parts = parts;
    this.#followedTo = parts.from;
  }

  /** Adds deliveries in the order of the journal; repeated ones are skipped. */
  readonly add = async (drafts: readonly DeliveryDraft[]): Promise<void> => {
    for (const draft of drafts) this.#addDraft(draft);
    while (this.#held.size > intakeLimits.heldMax || this.#heldBytes > intakeLimits.heldBytesMax)
      this.#parkFirst();
    if (this.#parts.log.isBehind) await this.#parts.log.write();
  };

  /** Call when everything before the journal position was added. */
  followed(position: number): void {
    this.#followedTo = Math.max(this.#followedTo, position);
    if (position >= this.#parts.knownTo) this.#parts.known.clear();
  }

  /** Everything before this journal position has a record, or nothing to deliver. */
  get heldTo(): number {
    const [first] = this.#held.keys();
    return first === undefined ? this.#followedTo : Math.floor(first.sequence);
  }

  /** Call for a delivery that got a record, or is gone. */
  release(waiting: WaitingDelivery): void {
    const known = this.#held.get(waiting);
    if (known === undefined) return;
    this.#held.delete(waiting);
    this.#heldBytes -= known.bytes;
  }

  /** A delivery that has no record yet. */
  held(id: string): Delivery | undefined {
    return [...this.#held.keys()].find((waiting) => waiting.id === id)?.draft;
  }

  /** Writes a record for those that have waited for long, or for all. */
  park(which: 'old' | 'all'): void {
    const now = this.#parts.now();
    for (let [first] = this.#held; first !== undefined; [first] = this.#held) {
      if (which === 'old' && isWithin(intakeLimits.heldMsMax, first[1].since, now)) return;
      this.#parkFirst();
    }
  }

  #addDraft(draft: DeliveryDraft): void {
    const { now, deliverer, known } = this.#parts;
    if (this.#isRepeated(draft)) return;
    const delivery = deliveryOfDraft(draft, now());
    if (known.size > 0 && known.delete(delivery.id)) return;
    const reason = deliverer.refuse(draft);
    if (reason !== undefined) {
      this.#parts.log.append(recordOf({ ...delivery, state: 'DEAD', reason }));
      return;
    }
    const waiting = waitingDraft(delivery);
    const bytes = draft.bytes ?? 0;
    this.#held.set(waiting, { since: delivery.created, bytes });
    this.#heldBytes += bytes;
    deliverer.add([waiting]);
  }

  /** The follower gets entries again after a failure. */
  #isRepeated({ sequence = missing('sequence'), connectorId }: DeliveryDraft): boolean {
    if (sequence < this.#lastSequence) return true;
    if (sequence === this.#lastSequence && this.#lastConnectors.has(connectorId)) return true;
    if (sequence > this.#lastSequence) this.#lastConnectors.clear();
    this.#lastConnectors.add(connectorId);
    this.#lastSequence = sequence;
    return false;
  }

  #parkFirst(): void {
    const { log } = this.#parts;

    const [waiting] = this.#held.keys();
    if (waiting === undefined) return;
    this.release(waiting);
    const { draft } = waiting;
    if (draft === undefined || waiting.isGone) return;
    waiting.place = log.append(recordOf({ ...draft, revision: waiting.revision }));
    waiting.revision += 1;
    waiting.draft = undefined;
  }
}

function deliveryOfDraft(draft: DeliveryDraft, now: EpochMs): Delivery {
  const { connectorId, correlationId, sequence = missing('sequence') } = draft;
  return {
    id: deliveryId(sequence, connectorId, correlationId),
    sequence,
    connectorId,
    organizationId: draft.organizationId,
    workspaceId: draft.workspaceId,
    deviceId: draft.deviceId,
    correlationId,
    cause: draft.cause,
    context: draft.context,
    ruleHops: draft.ruleHops ?? 0,
    state: 'PENDING',
    tries: 0,
    revision: 0,
    nextAt: now,
    created: now,
    updated: now,
    isResent: false,
    payload: null,
    answer: null,
    reason: null,
  };
}

// Delivery recovery: the deliveries that the last process left waiting in the log.

/** `from` is the journal position that is followed next. Deliveries of deleted connectors end. */
export async function recoverDeliveries(
  log: DeliveryLog,
  {
    from,
    existing,
  }: {
    readonly from: number;
    /** Those of the connectors that exist. */
    readonly existing: (connectorIds: readonly string[]) => Promise<ReadonlySet<string>>;
  },
): Promise<{
  /** In the order of making. */
  readonly waiting: readonly WaitingDelivery[];
  /** Ids of the deliveries of the journal from the position on that the log has. */
  readonly known: Set<string>;
}> {
  const { pending, known } = await log.recover(from);
  const connectors = await existing([...new Set(pending.map(({ connectorId }) => connectorId))]);
  const waiting = pending
    .filter(({ connectorId }) => connectors.has(connectorId))
    .toSorted((a, b) => a.sequence - b.sequence)
    .map((row) => waitingRecord(row, row.place));
  return { waiting, known };
}

// Delivery upkeep: syncs the delivery log once a second, releases the journal and removes old segments.

const saveEveryMs = 1_000;
/** The log is compacted when it has grown by so much, and with each maintenance. */
const grown = { bytes: 32 * 1024 * 1024, records: 100_000 } as const;

export class DeliveryUpkeep {
  readonly #parts;
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
    await this.#savePosition();
    if (this.#wasBehind && !this.#log.isBehind) this.#deliverer.wake();
    this.#wasBehind = this.#log.isBehind;
    const { bytes, records } = this.#compacted;
    if (this.#log.bytes > bytes + grown.bytes || this.#log.records > records + grown.records)
      await this.#compact();
  };

  /** Starts the upkeep. */
  constructor(parts: {
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
  }) {
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
      await this.#savePosition();
    });
  };

  /** What is before the position has a record by now, and the sync makes it durable. */
  async #savePosition(): Promise<void> {
    const { journal, follower, log, intake } = this.#parts;

    const position = intake.heldTo;
    if (log.isUnsynced) await log.sync();
    if (position > (journal.followerPosition(follower) ?? 0))
      journal.setFollowerPosition(follower, position);
  }
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
