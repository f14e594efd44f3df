// Connects what deliveries have in common, wherever they are kept: the deliverer, and the stages of outputs.
import { setImmediate as pause } from 'node:timers/promises';
import type { Parts } from './platform-parts.ts';
import { Deliverer, type DeliveryStore } from '../outputs/deliveries/attempts/delivery-worker.ts';
import type { OpenTargets } from '../outputs/deliveries/attempts/open-targets.ts';
import { type DeliveryCounts, saveFailureNotes } from '../outputs/deliveries/delivery-outcomes.ts';
import { noteUnreadable, type OutputStages } from '../outputs/deliveries/outputs.ts';
import type { DeliveryBook } from '../inventory/data-flows/deliveries.ts';
import type { WaitingOf } from '../inventory/health/health.ts';
import { mailConnectorId } from '../model/ids.ts';
import type { DeliveryDraft } from '../model/delivery.ts';
import type { TransactionStep } from '../storage/records/records.ts';
import { setTimer } from '../structures/timers.ts';

/** Deliveries that wait and that ended, wherever they are kept. */
export interface KeptDeliveries {
  readonly book: DeliveryBook;
  /**
   * Resolves when the deliveries are durable. Those with a known key are ignored. `step` is the
   * transaction of the caller: the deliveries are committed or rolled back with it.
   */
  readonly enqueueDeliveries: (
    drafts: readonly DeliveryDraft[],
    step?: TransactionStep,
  ) => Promise<void>;
  /**
   * Resolves when all durable samples have their deliveries, and those that are due were attempted.
   */
  readonly settled: () => Promise<void>;
  /** Ends the waiting deliveries of deleted devices and removes the others. */
  readonly dropDevices: (deviceIds: ReadonlySet<string>) => Promise<void>;
  /** What waits, of output connectors with such deliveries. */
  readonly waitingOf: WaitingOf;
  /** Resolves when the counts of deliveries can be read from the records. */
  readonly counted: () => Promise<void>;
  /** Removes old deliveries that this node keeps. */
  readonly runMaintenance: () => Promise<void>;
  /** Removes old deliveries, for all nodes. */
  readonly dropOld: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Starts nothing before the first delivery is added. */
export function composeDeliverer(
  { records, telemetry, now, newId }: Parts,
  { send }: OpenTargets,
  kept: DeliveryStore,
  counts: DeliveryCounts,
): Deliverer {
  const { db } = records;
  const deliverer = new Deliverer({
    ...kept,
    send,
    saveNotes: (notes) => saveFailureNotes(notes, { db, telemetry }),
    newId,
    failed: (error) => telemetry.backgroundFailed('delivering', error),
    givenUp(delivery) {
      telemetry.deliveryGivenUp(delivery.connectorId === mailConnectorId ? 'mail' : 'connector');
      counts.givenUp(delivery, now());
    },
    targetChanged: telemetry.targetChanged,
    now,
    clock: () => performance.now(),
    random: Math.random,
    setTimer,
  });
  telemetry.gauge(
    'deliveries_pending',
    'Pending and in-flight deliveries.',
    () => deliverer.waiting,
  );
  telemetry.gauge(
    'output_connectors_backing_off',
    'Output connectors that are backing off.',
    () => deliverer.brokenTargets,
  );
  return deliverer;
}

/** `journal` distinguishes the notes of several journals. */
export function outputStagesOf(
  { records, directory, telemetry, now }: Parts,
  enqueue: OutputStages['enqueue'],
  journal = '',
): OutputStages {
  const { db } = records;
  return {
    outputsOf: directory.cachedOutputs,
    findRoute: (id) => directory.byDevice(id),
    enqueue,
    unreadable: (notes) =>
      noteUnreadable(
        notes.map((note) => ({ ...note, id: note.id + journal })),
        db,
        telemetry,
      ),
    failed: (error) => telemetry.backgroundFailed('queueing outputs', error),
    pause,
    now,
  };
}
