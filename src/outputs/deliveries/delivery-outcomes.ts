// Delivery outcomes: notes for the device's owner, then a record in the log, then the counters.
import type { DeliveryLog } from '../../storage/delivery-log/delivery-log.ts';
import type { QueuedDelivery } from './attempts/delivery-worker.ts';
import type { ProcessingLogEntry } from '../../model/entry-trace.ts';
import { type RecordsDb, transaction } from '../../storage/records/records.ts';
import { processingLogRows } from '../../storage/records/rows/payload-notes.ts';
import type { Telemetry } from '../../telemetry/events.ts';
import type { EpochMs } from '../../model/instant.ts';
import { isSharedConnector } from '../../model/ids.ts';
import { periodCountRows } from '../../storage/records/rows/period-counts.ts';
import { createSerialQueue } from '../../structures/work-queues.ts';
import type { SetTimer } from '../../structures/timers.ts';
import { PeriodCounter } from '../../uplinks/followers/period-counter.ts';
import { recordAttempt, type TriedDelivery } from './attempts/waiting-delivery.ts';

/** Writes all notes or none. After a power cut the attempts they are of may be repeated. */
export async function saveFailureNotes(
  notes: readonly ProcessingLogEntry[],
  { db, telemetry }: { readonly db: RecordsDb; readonly telemetry: Telemetry },
): Promise<void> {
  await transaction(db, (step) => processingLogRows.append(step.db, notes), 'lazy');
  for (const note of notes) telemetry.noted(note);
}

/** Adds the outcome of an attempt to the log and counts it. */
export function recordOutcome(
  tried: TriedDelivery,
  {
    log,
    telemetry,
    recorded,
  }: {
    readonly log: DeliveryLog;
    readonly telemetry: Telemetry;
    /** Called for each attempt that has a record now. */
    readonly recorded: (tried: TriedDelivery) => void;
  },
): void {
  recordAttempt(tried, log);
  recorded(tried);
  telemetry.deliveryTried(tried.outcome.state, tried.tookMs / 1_000);
}

// Delivery counts: deliveries that ended, by workspace and output connector, written every few seconds (contract 37).

const saveEveryMs = 5_000;

/** A crash loses the counts of the last seconds; the deliveries themselves are in their log. */
export class DeliveryCounts {
  readonly #db: RecordsDb;
  readonly #counter = new PeriodCounter();
  readonly #turns = createSerialQueue();
  readonly #stop: () => void;
  readonly #save = async (): Promise<void> => {
    const counts = this.#counter.take();
    if (counts.length === 0) return;
    try {
      await transaction(this.#db, (step) => periodCountRows.add(step.db, counts), 'lazy');
    } catch (error) {
      for (const { recordId, what, start, count } of counts)
        this.#counter.add(recordId, what, start, count);
      throw error;
    }
  };

  constructor(parts: {
    readonly db: RecordsDb;
    readonly setRepeatingTimer: SetTimer;
    readonly failed: (error: unknown) => void;
  }) {
    const { db, setRepeatingTimer, failed } = parts;
    this.#db = db;
    this.#stop = setRepeatingTimer(() => void this.settled().catch(failed), saveEveryMs);
  }

  /** Resolves when all that was counted can be read from the records. */
  readonly settled = (): Promise<void> => this.#turns.run(this.#save);

  readonly close = async (): Promise<void> => {
    this.#stop();
    await this.settled();
  };

  tried({ waiting, outcome }: TriedDelivery): void {
    if (outcome.state === 'PENDING' || waiting.isGone) return;
    this.#add(waiting, outcome.state === 'DELIVERED' ? 'delivered' : 'failed', outcome.updated);
  }

  /** A delivery that found its queue full. */
  givenUp(delivery: QueuedDelivery, at: EpochMs): void {
    this.#add(delivery, 'failed', at);
  }

  #add(
    { workspaceId, connectorId }: Omit<QueuedDelivery, 'organizationId'>,
    what: 'delivered' | 'failed',
    at: EpochMs,
  ): void {
    this.#counter.add(workspaceId, what, at, 1);
    // A count of a shared connector would show organizations to each other.
    if (!isSharedConnector(connectorId)) this.#counter.add(connectorId, what, at, 1);
  }
}
