// Delivery worker: attempts waiting deliveries when they are due, and records the outcomes (contract 35).
// A delivery is over only when its outcome is recorded, so a crash repeats an attempt and loses no
// delivery.
import type { Delivery, DeliveryOutcome, DeliveryState } from '../../../model/delivery.ts';
import type { ProcessingLogEntry } from '../../../model/entry-trace.ts';
import { isSharedConnector } from '../../../model/ids.ts';
import { dayMs, type EpochMs, hourMs, minuteMs } from '../../../model/instant.ts';
import type { SendOutcome } from '../../connectors/target.ts';
import type { SetTimer } from '../../../structures/timers.ts';
import { DeliveryQueues, type DeviceQueue, firstOf, queueKeyOf } from './delivery-queues.ts';
import type { WaitingDelivery, TriedDelivery } from './waiting-delivery.ts';
import { RetryingWorker } from '../../../structures/retrying-worker.ts';

// Note writer: saves the notes of failed attempts, many per transaction, and retries failed writes.

const notesRetriedAfterMs = [1_000] as const;

interface Unsaved {
  readonly notes: readonly ProcessingLogEntry[];
  readonly ended: (isSaved: boolean) => void;
}

class NoteWriter {
  readonly #saveNotes: (notes: readonly ProcessingLogEntry[]) => Promise<void>;
  #waiting: Unsaved[] = [];
  readonly #worker: RetryingWorker;
  readonly #write = async (): Promise<void> => {
    while (this.#waiting.length > 0) {
      // Notes of the same turn share a transaction.
      await new Promise((resolve) => void setImmediate(resolve));
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#saveNotes(batch.flatMap(({ notes }) => notes));
      } catch (error) {
        this.#waiting = [...batch, ...this.#waiting];
        throw error;
      }
      for (const { ended } of batch) ended(true);
    }
  };
  readonly #hasWork = (): boolean => this.#waiting.length > 0;

  /** `saveNotes` saves all or none. */
  constructor(
    saveNotes: (notes: readonly ProcessingLogEntry[]) => Promise<void>,
    failed: (error: unknown) => void,
    setTimer: SetTimer,
  ) {
    this.#saveNotes = saveNotes;
    this.#worker = new RetryingWorker({
      hasWork: this.#hasWork,
      work: this.#write,
      failed,
      retryDelaysMs: notesRetriedAfterMs,
      setTimer,
    });
  }

  /** Resolves to whether the notes are saved; false when the writer was closed before. */
  add(notes: readonly ProcessingLogEntry[]): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiting.push({ notes, ended: resolve });
    this.#worker.wake();
    return promise;
  }

  /** Makes one last attempt. */
  async close(): Promise<void> {
    this.#worker.retryNow();
    await this.#worker.close();
    for (const { ended } of this.#waiting) ended(false);
  }
}

// Limited attempts: each ends when its time is over, also if the connector ignores the signal.

/** What ends some attempts that started in one moment, and so end late in one. */
interface SharedEnd {
  readonly endsAt: number;
  readonly stop: AbortController;
  attempts: number;
}

interface Attempt {
  readonly end: SharedEnd;
  readonly resolve: (outcome: SendOutcome | undefined) => void;
}

/** Each ended attempt looks for its listener among those of the others. */
const attemptsPerEndMax = 16;

class LimitedAttempts {
  readonly #send: (delivery: Delivery, signal: AbortSignal) => Promise<SendOutcome>;
  readonly #clock: () => number;
  readonly #setTimer: SetTimer;
  readonly #failed: (error: unknown) => void;
  /** All have the same time, so that the first one ends first. */
  readonly #running = new Set<Attempt>();
  #isTimed = false;
  /** Of the newest attempt. */
  #end: SharedEnd | undefined;
  readonly #endLate = (): void => {
    this.#isTimed = false;
    const reason = `timed out after ${delivererLimits.tryMsMax / 1_000} s`;
    for (const attempt of this.#running) {
      if (attempt.end.endsAt > this.#clock()) break;
      this.#running.delete(attempt);
      attempt.end.stop.abort(new Error(reason));
      attempt.resolve({ ok: false, retry: true, reason });
    }
    this.#setOneTimer();
  };

  /**
   * `send` rejects only with an internal error. `clock` gives milliseconds since any fixed moment:
   * an attempt has its time whatever the wall clock does. `failed` is called for an internal error,
   * after which the attempt has failed for the time being.
   */
  constructor(
    send: (delivery: Delivery, signal: AbortSignal) => Promise<SendOutcome>,
    clock: () => number,
    setTimer: SetTimer,
    failed: (error: unknown) => void,
  ) {
    this.#send = send;
    this.#clock = clock;
    this.#setTimer = setTimer;
    this.#failed = failed;
  }

  /** Never rejects. Undefined when `abortAll` ended the attempt. */
  run(delivery: Delivery): Promise<SendOutcome | undefined> {
    return new Promise((resolve) => {
      const end = this.#endOfNext();
      const attempt = { end, resolve };
      this.#running.add(attempt);
      this.#setOneTimer();
      // What comes after an attempt has ended late has no effect.
      const ended = (): void => void this.#running.delete(attempt);
      this.#send(delivery, end.stop.signal).then(
        (outcome) => {
          ended();
          resolve(outcome);
        },
        (error: unknown) => {
          ended();
          this.#failed(error);
          resolve({ ok: false, retry: true, reason: 'an internal error' });
        },
      );
    });
  }

  abortAll(): void {
    for (const { end, resolve } of this.#running) {
      end.stop.abort(new Error('the platform is shutting down'));
      resolve(undefined);
    }
    this.#running.clear();
  }

  /**
   * A signal of its own for each attempt, with its event target, is a tenth of what the main thread
   * does for a delivery.
   */
  #endOfNext(): SharedEnd {
    const endsAt = Math.ceil(this.#clock()) + delivererLimits.tryMsMax;
    const isShared = this.#end?.endsAt === endsAt && this.#end.attempts < attemptsPerEndMax;
    if (!isShared || this.#end === undefined)
      this.#end = { endsAt, stop: new AbortController(), attempts: 0 };
    this.#end.attempts += 1;
    return this.#end;
  }

  /** One timer for all: most attempts end long before their time. */
  #setOneTimer(): void {
    const [first] = this.#running;
    if (this.#isTimed || first === undefined) return;
    this.#isTimed = true;
    this.#setTimer(this.#endLate, Math.max(0, first.end.endsAt - this.#clock()));
  }
}

export const delivererLimits = {
  /** For one attempt, whatever the target does. */
  tryMsMax: 10_000,
  /** The time that attempts in progress have when the platform stops. */
  closeGraceMs: 1_000,
  /** Deliveries of one connector that wait; further ones are dead immediately. */
  waitingPerConnectorMax: 200_000,
  /** Of one organization, for a connector that all share. */
  waitingPerOrganizationMax: 20_000,
  answerCharactersMax: 16 * 1024,
  payloadCharactersMax: 64 * 1024,
} as const;

/** What decides whether a delivery has a place in its queue, and where it counts. */
export interface QueuedDelivery {
  readonly connectorId: string;
  readonly organizationId: string;
  readonly workspaceId: string;
}

/** Where deliveries are kept: the delivery log, or rows that several nodes share. */
export interface DeliveryStore {
  /** Undefined for a delivery that is gone or cannot be read. */
  readonly load: (waiting: WaitingDelivery) => Delivery | undefined | Promise<Delivery | undefined>;
  /** Keeps the outcome of an attempt. */
  readonly record: (tried: TriedDelivery) => void;
  /** Whether no delivery may start, because the log is too far behind. */
  readonly isBlocked?: () => boolean;
}

export class Deliverer {
  readonly #parts;
  readonly #queues = new DeliveryQueues<WaitingDelivery>();
  readonly #noteWriter: NoteWriter;
  readonly #attempts: LimitedAttempts;
  readonly #timer: WakeTimer;
  /** Queues with a delivery in progress. */
  readonly #running = new Set<DeviceQueue<WaitingDelivery>>();
  /** Called when an attempt has ended. */
  readonly #attemptEnded: (() => void)[] = [];
  /** Called when no delivery is in progress. */
  readonly #idle: (() => void)[] = [];
  #isClosed = false;
  /** Whether due deliveries are started at the end of this turn. */
  #isStarting = false;

  constructor(
    parts: DeliveryStore & {
      /** One attempt; rejects only with an internal error. */
      readonly send: (delivery: Delivery, signal: AbortSignal) => Promise<SendOutcome>;
      /** Saves notes for owners of devices, all or none, before the outcomes that they are of. */
      readonly saveNotes: (notes: readonly ProcessingLogEntry[]) => Promise<void>;
      readonly failed: (error: unknown) => void;
      /** Called for each delivery that found its queue full. */
      readonly givenUp?: (delivery: QueuedDelivery) => void;
      /** Notified when a target begins or ceases to count as broken. */
      readonly targetChanged?: (
        connectorId: string,
        isBroken: boolean,
        reason: string | null,
      ) => void;
      readonly newId: () => string;
      readonly now: () => EpochMs;
      /** Milliseconds since any fixed moment. Attempts and pauses are measured by it: clocks step. */
      readonly clock: () => number;
      readonly random: () => number;
      readonly setTimer: SetTimer;
    },
  ) {
    this.#parts = parts;
    const { saveNotes, send, clock, failed, setTimer } = parts;
    this.#noteWriter = new NoteWriter(saveNotes, failed, setTimer);
    this.#attempts = new LimitedAttempts(send, clock, setTimer, failed);
    this.#timer = new WakeTimer(() => this.#startDue(), clock, setTimer);
  }

  /** Resolves when nothing is due now and all outcomes are saved. */
  readonly settled = async (): Promise<void> => {
    for (;;) {
      // Deliveries that were added in this turn start at its end.
      await Promise.resolve();
      if (this.#running.size === 0) return;
      await this.#whenIdle();
    }
  };

  /**
   * Waits a moment for the attempts in progress and aborts the rest. Pending deliveries continue
   * after the next start.
   */
  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    this.#timer.cancel();
    const cancelAbort = this.#parts.setTimer(() => {
      this.#attempts.abortAll();
      // What is left waits for its notes, which cannot be saved at present.
      void this.#noteWriter.close();
    }, delivererLimits.closeGraceMs);
    await this.#whenIdle();
    cancelAbort();
    await this.#noteWriter.close();
  };

  /** Adds deliveries. Those that are due start immediately. */
  add(waiting: readonly WaitingDelivery[]): void {
    for (const delivery of waiting) {
      delivery.nextAt = this.#dueOf(delivery);
      this.#queues.add(delivery, this.#parts.clock());
    }
    this.#startSoon();
  }

  /** Starts deliveries again that `isBlocked` held back. */
  wake(): void {
    this.#startDue();
  }

  /** The deliveries of the connector that wait or are in progress; of all without one. */
  waitingDeliveries(connectorId?: string): Iterable<WaitingDelivery> {
    return this.#queues.waiting(connectorId);
  }

  waitingOf(connectorId: string): number {
    return this.#queues.waitingOf(connectorId);
  }

  /** Why the queue has no place for the delivery, which is given up then; undefined when it has. */
  refuse(delivery: QueuedDelivery): string | undefined {
    const { waitingPerConnectorMax, waitingPerOrganizationMax } = delivererLimits;
    const isShared = isSharedConnector(delivery.connectorId);
    const max = isShared ? waitingPerOrganizationMax : waitingPerConnectorMax;
    if (this.#queues.sizeOf(queueKeyOf(delivery)) < max) return undefined;
    this.#parts.givenUp?.(delivery);
    return isShared
      ? `the organization has no place left in the delivery queue of this connector (${max})`
      : `the delivery queue of this connector is full (${max})`;
  }

  nextRetryOf(connectorId: string): EpochMs | undefined {
    const at = this.#queues.nextRetryOf(connectorId);
    return at === undefined ? undefined : Math.round(this.#parts.now() + at - this.#parts.clock());
  }

  get waiting(): number {
    return this.#queues.size;
  }

  get brokenTargets(): number {
    return this.#queues.brokenTargets;
  }

  /**
   * Gives up deliveries that another node continues. Resolves when none of them is in progress;
   * what was attempted meanwhile is recorded.
   */
  async release(isReleased: (waiting: WaitingDelivery) => boolean): Promise<void> {
    for (;;) {
      this.#queues.remove(isReleased);
      const isUnderWay = [...this.#running].some((queue) => isReleased(firstOf(queue)));
      if (!isUnderWay || this.#isClosed) return;
      await new Promise<void>((resolve) => void this.#attemptEnded.push(resolve));
    }
  }

  /**
   * When it is due by the clock that does not step. Its times are of the clock of another node, or of
   * this one before it stepped: it waits no longer than the pause that was planned then.
   */
  #dueOf({ nextAt, updated }: WaitingDelivery): number {
    const { now, clock } = this.#parts;

    return clock() + Math.max(0, Math.min(nextAt - now(), nextAt - updated));
  }

  /** Starts at the end of this turn, so that many calls look for due deliveries once. */
  #startSoon(): void {
    if (this.#isStarting) return;
    this.#isStarting = true;
    queueMicrotask(() => {
      this.#isStarting = false;
      this.#startDue();
    });
  }

  #startDue(): void {
    if (this.#isClosed || this.#parts.isBlocked?.() === true) return;
    for (const queue of this.#queues.start(this.#parts.clock())) {
      this.#running.add(queue);
      void this.#deliver(queue);
    }
    this.#timer.set(this.#queues.earliest);
  }

  /**
   * Attempts the first delivery of a queue. Whatever throws, the queue goes on: the delivery is tried
   * again later.
   */
  async #deliver(queue: DeviceQueue<WaitingDelivery>): Promise<void> {
    try {
      const startedMs = this.#parts.clock();
      const waiting = firstOf(queue);
      const loaded = this.#load(waiting);
      const delivery = loaded instanceof Promise ? await loaded : loaded;
      if (delivery === undefined) {
        this.#queues.end(queue, { isOver: true }, undefined, this.#parts.clock());
        return this.#startSoon();
      }
      const result = await this.#attempts.run(delivery);
      // An aborted delivery stays as it was. The next start attempts it.
      if (result === undefined) return;
      const outcome = this.#outcomeOf(waiting, result);
      const notes = outcomeNotes(delivery, outcome, this.#parts.newId);
      if (notes.length > 0 && !(await this.#noteWriter.add(notes))) return;
      this.#parts.record({ waiting, delivery, outcome, tookMs: this.#parts.clock() - startedMs });
      this.#endAttempt(queue, result, outcome);
      this.#startSoon();
    } catch (error) {
      this.#releaseFailed(queue);
      this.#parts.failed(error);
    } finally {
      this.#ended(queue);
    }
  }

  /** An internal error came before the outcome was recorded: the plan decides when it is tried again. */
  #releaseFailed(queue: DeviceQueue<WaitingDelivery>): void {
    if (queue.state !== 'inProgress') return;
    const { tries } = firstOf(queue);
    const delayMs = retryDelaysMs[tries] ?? retryMsMax;
    const nextAt = this.#parts.clock() + delayMs;
    this.#queues.end(queue, { isOver: false, nextAt }, undefined, this.#parts.clock());
    this.#startSoon();
  }

  #ended(queue: DeviceQueue<WaitingDelivery>): void {
    this.#running.delete(queue);
    for (const resolve of this.#attemptEnded.splice(0)) resolve();
    if (this.#running.size > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Undefined for a delivery that cannot be read or was deleted meanwhile. */
  #load(waiting: WaitingDelivery): Delivery | undefined | Promise<Delivery | undefined> {
    const failed = (error: unknown): undefined => {
      this.#parts.failed(error);
      return undefined;
    };
    try {
      const loaded = this.#parts.load(waiting);
      return loaded instanceof Promise ? loaded.catch(failed) : loaded;
    } catch (error) {
      return failed(error);
    }
  }

  #outcomeOf({ tries: triesBefore }: WaitingDelivery, result: SendOutcome): DeliveryOutcome {
    const updated = this.#parts.now();
    const tries = triesBefore + 1;
    const plan = planAfter(result, { tries, now: updated, random: this.#parts.random() });
    return { ...plan, tries, updated, reason: reasonOf(result), ...exchanged(result) };
  }

  /** Ends the attempt in the queues and reports a target that became broken or well. */
  #endAttempt(
    queue: DeviceQueue<WaitingDelivery>,
    result: SendOutcome,
    { state, nextAt, updated, reason }: DeliveryOutcome,
  ): void {
    const { connectorId, key } = queue;
    // A target that rejects one delivery is not broken; one that does not answer is.
    const isTargetWell = result.ok || !result.retry;
    const wasBroken = this.#queues.isBroken(key);
    const due = this.#parts.clock() + nextAt - updated;
    this.#queues.end(
      queue,
      { isOver: state !== 'PENDING', nextAt: due },
      isTargetWell,
      this.#parts.clock(),
    );
    const isBroken = this.#queues.isBroken(key);
    if (isBroken !== wasBroken) this.#parts.targetChanged?.(connectorId, isBroken, reason);
  }

  /** Resolves when no delivery is in progress. */
  #whenIdle(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => void this.#idle.push(resolve));
  }
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

// Failure notes: notes about the first and the last failure of a delivery, for the device log (contract 27).

/** The failures in between are in the delivery log. */
export function outcomeNotes(
  delivery: Delivery,
  outcome: DeliveryOutcome,
  newId: () => string,
): ProcessingLogEntry[] {
  if (outcome.state === 'DELIVERED' || (outcome.state === 'PENDING' && outcome.tries > 1))
    return [];
  const isDead = outcome.state === 'DEAD';
  const tries = outcome.tries === 1 ? '1 attempt' : `${outcome.tries} tries`;
  const reason = outcome.reason ?? 'no reason given';
  return [
    {
      id: newId(),
      deviceId: delivery.deviceId,
      timestamp: outcome.updated,
      correlationId: delivery.correlationId,
      level: isDead ? 'ERROR' : 'WARN',
      source: 'OUTPUT',
      message: isDead
        ? `Delivery failed permanently after ${tries}: ${reason}`
        : `Delivery failed and will be retried: ${reason}`,
      details: {
        deliveryId: delivery.id,
        outputConnectorId: delivery.connectorId,
        tries: outcome.tries,
      },
    },
  ];
}

// Wake timer: one timer for the earliest time at which there is work.

class WakeTimer {
  readonly #wake: () => void;
  readonly #now: () => EpochMs;
  readonly #setTimer: SetTimer;
  #current: { readonly at: EpochMs; readonly cancel: () => void } | undefined;
  readonly #fire = (): void => {
    this.#current = undefined;
    this.#wake();
  };

  constructor(wake: () => void, now: () => EpochMs, setTimer: SetTimer) {
    this.#wake = wake;
    this.#now = now;
    this.#setTimer = setTimer;
  }

  cancel(): void {
    this.#current?.cancel();
    this.#current = undefined;
  }

  /** Runs at this time, or earlier; undefined for no time. */
  set(at: EpochMs | undefined): void {
    if (this.#current !== undefined && at !== undefined && this.#current.at <= at) return;
    this.cancel();
    if (at === undefined) return;
    // Timers of more than 24 days fire immediately. An extra look every hour costs nothing.
    const delayMs = Math.min(Math.max(0, at - this.#now()), hourMs);
    this.#current = { at, cancel: this.#setTimer(this.#fire, delayMs) };
  }
}

// Retry plan: when a failed delivery is retried, and when it is dead (contract 35).

/** From one attempt to the next; after the last one the delivery is dead. */
export const retryDelaysMs = [
  1_000,
  5_000,
  30_000,
  2 * minuteMs,
  10 * minuteMs,
  hourMs,
  4 * hourMs,
  12 * hourMs,
] as const;

/** The same for 6 hours in all, for what a target refuses and people can mend (contract 42). */
const hoursDelaysMs: readonly number[] = [
  ...retryDelaysMs.slice(0, 7),
  6 * hourMs - retryDelaysMs.slice(0, 7).reduce((sum, delayMs) => sum + delayMs, 0),
];

/**
 * A delay differs from its length by at most this share, so that deliveries that failed together
 * are not retried together.
 */
const jitterShare = 0.2;
/** The longest pause that a target can request, and the longest of all. */
const retryMsMax = dayMs;

/** Returns the next state of a delivery after the outcome of an attempt. */
export function planAfter(
  outcome: SendOutcome,
  {
    tries,
    now,
    random,
  }: {
    readonly tries: number;
    readonly now: EpochMs;
    readonly random: number;
  },
): {
  readonly state: DeliveryState;
  /** When it is due again; `now` if it needs no other attempt. */
  readonly nextAt: EpochMs;
} {
  if (outcome.ok) return { state: 'DELIVERED', nextAt: now };
  const delaysMs = outcome.retry === 'HOURS' ? hoursDelaysMs : retryDelaysMs;
  const delayMs = delaysMs[tries - 1];
  if (outcome.retry === false || delayMs === undefined) return { state: 'DEAD', nextAt: now };
  const jittered = delayMs * (1 - jitterShare + 2 * jitterShare * random);
  const asked = Math.min(outcome.retryAfterMs ?? 0, retryMsMax);
  return { state: 'PENDING', nextAt: now + Math.round(Math.max(jittered, asked)) };
}
