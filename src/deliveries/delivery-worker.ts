// The deliverer: takes what waits in the delivery log, tries it when it is due, and writes down what became of it (contract 35).
// A delivery is over only once that is written, so a crash repeats a try and never loses one.
import type {
  Delivery,
  DeliveryOutcome,
  PendingDelivery,
  TriedDelivery,
} from '../model/delivery.ts';
import { type EpochMs, hourMs } from '../model/instant.ts';
import type { SendOutcome } from '../connectors/target.ts';
import { deliveryLanes, type Lane } from './delivery-queues.ts';
import { outcomeWriter } from './outcome-writer.ts';
import { planAfter } from './retry-plan.ts';

export const delivererLimits = {
  /** For one try, whatever the target does. */
  tryMsMax: 10_000,
  /** What tries under way are given when the platform stops. */
  closeGraceMs: 1_000,
  /** What waits of one connector; beyond it new deliveries are dead at once. */
  waitingPerConnectorMax: 200_000,
  answerCharactersMax: 16 * 1024,
  payloadCharactersMax: 64 * 1024,
  pageSize: 1_000,
} as const;

/** What a try gave, and what was sent when it was not the default payload. */
export type TryResult = SendOutcome & { readonly sent?: string | undefined };

export interface DelivererParts {
  /** What waits behind a sequence, oldest first. */
  readonly findPending: (after: number, max: number) => Promise<readonly PendingDelivery[]>;
  readonly load: (sequence: number) => Promise<Delivery | undefined>;
  /** One try; rejects only through a fault of our own. */
  readonly send: (delivery: Delivery, signal: AbortSignal) => Promise<TryResult>;
  /** Writes outcomes of tries, all or none. */
  readonly save: (tried: readonly TriedDelivery[]) => Promise<void>;
  readonly failed: (error: unknown) => void;
  /** Told when a target begins or ceases to count as broken. */
  readonly targetChanged?: (connectorId: string, isBroken: boolean, reason: string | null) => void;
  readonly now: () => EpochMs;
  readonly random: () => number;
  /** Calls back once, later; returns how to cancel. */
  readonly schedule: (task: () => void, delayMs: number) => () => void;
}

export interface Deliverer {
  /** To be called after deliveries were written to the log: looks for new ones. */
  wake(): void;
  /** Takes in deliveries that are to be sent again. */
  renew(pending: readonly PendingDelivery[]): void;
  readonly waitingOf: (connectorId: string) => number;
  readonly waiting: number;
  readonly brokenTargets: number;
  /** Resolves when nothing is due now and everything tried is written. */
  settled(): Promise<void>;
  /** Waits a moment for the tries under way and breaks off the rest; what waits goes on after the next start. */
  close(): Promise<void>;
}

export function createDeliverer(parts: DelivererParts): Deliverer {
  const { now, schedule } = parts;
  const lanes = deliveryLanes();
  const writer = outcomeWriter(parts);
  const underWay = new Set<Promise<void>>();
  const abandons = new Set<() => void>();
  let seen = 0;
  let looking: Promise<void> | undefined;
  let isStale = false;
  let timer: { readonly at: EpochMs; readonly cancel: () => void } | undefined;
  let closed = false;

  async function look(): Promise<void> {
    do {
      isStale = false;
      for (;;) {
        const page = await parts.findPending(seen, delivererLimits.pageSize);
        if (closed) return;
        for (const pending of page) lanes.add(pending, now());
        seen = page.at(-1)?.sequence ?? seen;
        pump();
        if (page.length < delivererLimits.pageSize) break;
      }
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- set by wake() while a page was read.
    } while (isStale);
  }

  function wake(): void {
    isStale = true;
    if (closed || looking !== undefined) return;
    looking = look()
      .catch((error: unknown) => {
        parts.failed(error);
        schedule(wake, 1_000);
      })
      .finally(() => {
        looking = undefined;
        if (isStale) wake();
      });
  }

  function pump(): void {
    if (closed || writer.isBehind) return;
    for (const lane of lanes.start(now())) {
      const done: Promise<void> = run(lane)
        .catch(parts.failed)
        .finally(() => underWay.delete(done));
      underWay.add(done);
    }
    setTimer();
  }

  function setTimer(): void {
    const at = lanes.earliest;
    if (timer !== undefined && at !== undefined && timer.at <= at) return;
    timer?.cancel();
    timer = undefined;
    if (closed || at === undefined) return;
    const fire = () => {
      timer = undefined;
      pump();
    };
    // Timers of more than 24 days fire at once; looking again after an hour costs nothing.
    timer = { at, cancel: schedule(fire, Math.min(Math.max(0, at - now()), hourMs)) };
  }

  async function run(lane: Lane): Promise<void> {
    const { sequence, tries } = lane.waiting[0]!;
    const startedAt = now();
    let delivery: Delivery | undefined;
    let result: TryResult | undefined;
    try {
      delivery = await parts.load(sequence);
      // Deleted with its connector or device, or sent meanwhile.
      if (delivery?.state === 'PENDING') {
        result = await limited(delivery);
        // It stays in the log as it was, and the next start tries it.
        if (result === undefined) return;
      }
    } catch (error) {
      parts.failed(error);
      result = { ok: false, retry: true, reason: 'an internal error' };
    }
    if (delivery === undefined || result === undefined) {
      lanes.end(lane, { isOver: true }, undefined, now());
      return pump();
    }
    const at = now();
    const plan = planAfter(result, tries + 1, at, parts.random());
    const outcome = outcomeOf(sequence, tries + 1, result, plan, at);
    // A refusal of this one delivery says nothing against the target; no answer at all does.
    const isTargetWell = result.ok || !result.retry;
    const { connectorId } = lane;
    const wasBroken = lanes.isBroken(connectorId);
    lanes.end(lane, { isOver: plan.state !== 'PENDING', nextAt: plan.nextAt }, isTargetWell, at);
    const isBroken = lanes.isBroken(connectorId);
    if (isBroken !== wasBroken) parts.targetChanged?.(connectorId, isBroken, outcome.reason);
    const written = writer.add({ delivery, outcome, tookMs: at - startedAt });
    void written.then(pump);
    pump();
  }

  /** A try that ends when its time is over, whether the connector heeds the signal or not; undefined when closing broke it off. */
  async function limited(delivery: Delivery): Promise<TryResult | undefined> {
    const stop = new AbortController();
    const late = Promise.withResolvers<TryResult | undefined>();
    const abandon = () => {
      stop.abort(new Error('the platform stops'));
      late.resolve(undefined);
    };
    abandons.add(abandon);
    const reason = `no answer within ${delivererLimits.tryMsMax / 1_000} s`;
    const cancel = schedule(() => {
      stop.abort(new Error(reason));
      late.resolve({ ok: false, retry: true, reason });
    }, delivererLimits.tryMsMax);
    try {
      return await Promise.race([parts.send(delivery, stop.signal), late.promise]);
    } finally {
      cancel();
      abandons.delete(abandon);
    }
  }

  wake();
  return {
    wake,
    renew(pending) {
      for (const one of pending) lanes.add(one, now());
      pump();
    },
    waitingOf: lanes.sizeOf,
    get waiting() {
      return lanes.size;
    },
    get brokenTargets() {
      return lanes.brokenTargets;
    },
    async settled() {
      for (;;) {
        if (looking !== undefined) await looking;
        else if (underWay.size > 0) await Promise.all(underWay);
        else if (writer.size > 0) await writer.settled();
        else return;
      }
    },
    async close() {
      closed = true;
      timer?.cancel();
      await looking;
      const abandonAll = () => {
        for (const abandon of abandons) abandon();
      };
      const cancel = schedule(abandonAll, delivererLimits.closeGraceMs);
      await Promise.all(underWay);
      cancel();
      await writer.close();
    },
  };
}

function outcomeOf(
  sequence: number,
  tries: number,
  result: TryResult,
  plan: ReturnType<typeof planAfter>,
  at: EpochMs,
): DeliveryOutcome {
  const { answerCharactersMax, payloadCharactersMax } = delivererLimits;
  return {
    sequence,
    ...plan,
    tries,
    updated: at,
    payload: result.sent?.slice(0, payloadCharactersMax) ?? null,
    answer: result.answer?.slice(0, answerCharactersMax) ?? null,
    reason: result.ok ? null : result.reason,
  };
}
