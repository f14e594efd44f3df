// Delivery worker: attempts the deliveries of the log when they are due, and saves the outcomes (contract 35).
// A delivery is over only when its outcome is saved, so a crash repeats an attempt and loses no
// delivery.
import type { SendOutcome } from '../connectors/target.ts';
import type {
  Delivery,
  DeliveryOutcome,
  PendingDelivery,
  TriedDelivery,
} from '../model/delivery.ts';
import type { EpochMs } from '../model/instant.ts';
import type { SetTimer } from '../structures/timers.ts';
import { type DeviceQueue, firstOf } from './connector-queue.ts';
import { createDeliveryQueues, type DeliveryQueues } from './delivery-queues.ts';
import { createLimitedAttempts, type LimitedAttempts } from './limited-attempts.ts';
import { createOutcomeWriter, type OutcomeWriter } from './outcome-writer.ts';
import { createPendingReader, type PendingReader } from './pending-reader.ts';
import { planAfter } from './retry-plan.ts';
import { createWakeTimer, type WakeTimer } from './wake-timer.ts';

export const delivererLimits = {
  /** For one attempt, whatever the target does. */
  tryMsMax: 10_000,
  /** The time that attempts in progress have when the platform stops. */
  closeGraceMs: 1_000,
  /** Deliveries of one connector that wait; further ones are dead immediately. */
  waitingPerConnectorMax: 200_000,
  answerCharactersMax: 16 * 1024,
  payloadCharactersMax: 64 * 1024,
} as const;

export interface DelivererParts {
  /** Pending deliveries after a sequence, oldest first. */
  readonly findPending: (after: number, max: number) => Promise<readonly PendingDelivery[]>;
  readonly load: (sequence: number) => Promise<Delivery | undefined>;
  /** One attempt; rejects only with an internal error. */
  readonly send: (delivery: Delivery, signal: AbortSignal) => Promise<SendOutcome>;
  /** Saves the outcomes of attempts, all or none. */
  readonly save: (tried: readonly TriedDelivery[]) => Promise<void>;
  readonly failed: (error: unknown) => void;
  /** Notified when a target begins or ceases to count as broken. */
  readonly targetChanged?: (connectorId: string, isBroken: boolean, reason: string | null) => void;
  readonly now: () => EpochMs;
  readonly random: () => number;
  readonly setTimer: SetTimer;
}

export interface Deliverer {
  /** Call after deliveries were written to the log. */
  wake(): void;
  /** Adds deliveries that are to be sent again. */
  renew(pending: readonly PendingDelivery[]): void;
  readonly waitingOf: (connectorId: string) => number;
  readonly waiting: number;
  readonly brokenTargets: number;
  /** Resolves when nothing is due now and all outcomes are saved. */
  settled(): Promise<void>;
  /**
   * Waits a moment for the attempts in progress and aborts the rest. Pending deliveries continue
   * after the next start.
   */
  close(): Promise<void>;
}

interface Worker {
  readonly parts: DelivererParts;
  readonly queues: DeliveryQueues;
  readonly reader: PendingReader;
  readonly writer: OutcomeWriter;
  readonly attempts: LimitedAttempts;
  readonly timer: WakeTimer;
  /** Deliveries in progress. */
  readonly running: Set<Promise<void>>;
  isClosed: boolean;
}

export function createDeliverer(parts: DelivererParts): Deliverer {
  const worker = createWorker(parts);
  const { queues, reader } = worker;
  reader.wake();
  return {
    wake() {
      if (!worker.isClosed) reader.wake();
    },
    renew: (pending) => addAll(worker, pending),
    waitingOf: queues.sizeOf,
    get waiting() {
      return queues.size;
    },
    get brokenTargets() {
      return queues.brokenTargets;
    },
    settled: () => settled(worker),
    close: () => close(worker),
  };
}

function createWorker(parts: DelivererParts): Worker {
  const { findPending, send, failed, now, setTimer } = parts;
  const found = (page: readonly PendingDelivery[]) => addAll(worker, page);
  const wake = () => startDue(worker);
  const attemptMsMax = delivererLimits.tryMsMax;
  const worker: Worker = {
    parts,
    queues: createDeliveryQueues(),
    reader: createPendingReader({ findPending, found, failed, setTimer }),
    writer: createOutcomeWriter(parts),
    attempts: createLimitedAttempts({ send, setTimer, attemptMsMax }),
    timer: createWakeTimer({ wake, now, setTimer }),
    running: new Set(),
    isClosed: false,
  };
  return worker;
}

function addAll(worker: Worker, pending: readonly PendingDelivery[]): void {
  for (const delivery of pending) worker.queues.add(delivery, worker.parts.now());
  startDue(worker);
}

function startDue(worker: Worker): void {
  const { parts, queues, writer, timer, running } = worker;
  if (worker.isClosed || writer.isBehind) return;
  for (const queue of queues.start(parts.now())) {
    const done: Promise<void> = deliverFirst(worker, queue)
      .catch(parts.failed)
      .finally(() => running.delete(done));
    running.add(done);
  }
  timer.set(queues.earliest);
}

/** Attempts the first delivery of a queue. */
async function deliverFirst(worker: Worker, queue: DeviceQueue): Promise<void> {
  const { now } = worker.parts;
  const startedAt = now();
  const delivery = await loadPending(worker, firstOf(queue).sequence);
  if (delivery === undefined) {
    worker.queues.end(queue, { isOver: true }, undefined, now());
    return startDue(worker);
  }
  const result = await attempt(worker, delivery);
  // An aborted delivery stays in the log as it was. The next start attempts it.
  if (result === undefined) return;
  const outcome = endAttempt(worker, queue, result);
  const written = worker.writer.add({ delivery, outcome, tookMs: outcome.updated - startedAt });
  void written.then(() => startDue(worker));
  startDue(worker);
}

/** Undefined for a delivery that cannot be read, or that was deleted or sent meanwhile. */
async function loadPending({ parts }: Worker, sequence: number): Promise<Delivery | undefined> {
  try {
    const delivery = await parts.load(sequence);
    if (delivery?.state === 'PENDING') return delivery;
  } catch (error) {
    parts.failed(error);
  }
  return undefined;
}

/** Undefined when closing aborted the attempt. */
async function attempt(
  { parts, attempts }: Worker,
  delivery: Delivery,
): Promise<SendOutcome | undefined> {
  try {
    return await attempts.run(delivery);
  } catch (error) {
    parts.failed(error);
    return { ok: false, retry: true, reason: 'an internal error' };
  }
}

/** Ends the attempt in the queues and reports a target that became broken or well. */
function endAttempt(
  { parts, queues }: Worker,
  queue: DeviceQueue,
  result: SendOutcome,
): DeliveryOutcome {
  const { connectorId } = queue;
  const { sequence, tries: triesBefore } = firstOf(queue);
  const updated = parts.now();
  const tries = triesBefore + 1;
  const plan = planAfter(result, { tries, now: updated, random: parts.random() });
  // A target that rejects one delivery is not broken; one that does not answer is.
  const isTargetWell = result.ok || !result.retry;
  const wasBroken = queues.isBroken(connectorId);
  const isOver = plan.state !== 'PENDING';
  queues.end(queue, { isOver, nextAt: plan.nextAt }, isTargetWell, updated);
  const isBroken = queues.isBroken(connectorId);
  const reason = reasonOf(result);
  if (isBroken !== wasBroken) parts.targetChanged?.(connectorId, isBroken, reason);
  return { sequence, ...plan, tries, updated, reason, ...exchanged(result) };
}

function reasonOf(result: SendOutcome): string | null {
  if (result.ok) return null;
  return result.reason;
}

/** What was sent and answered, limited to what the log keeps. */
function exchanged({ sent, answer }: SendOutcome) {
  const { answerCharactersMax, payloadCharactersMax } = delivererLimits;
  return {
    payload: sent?.slice(0, payloadCharactersMax) ?? null,
    answer: answer?.slice(0, answerCharactersMax) ?? null,
  };
}

async function settled({ reader, running, writer }: Worker): Promise<void> {
  for (;;) {
    if (reader.isReading) await reader.idle();
    else if (running.size > 0) await Promise.all(running);
    else if (writer.size > 0) await writer.settled();
    else return;
  }
}

async function close(worker: Worker): Promise<void> {
  const { parts, reader, running, attempts, writer, timer } = worker;
  worker.isClosed = true;
  timer.cancel();
  await reader.close();
  const cancelAbort = parts.setTimer(attempts.abortAll, delivererLimits.closeGraceMs);
  await Promise.all(running);
  cancelAbort();
  await writer.close();
}
