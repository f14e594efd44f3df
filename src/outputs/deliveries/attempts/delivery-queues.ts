// Delivery queues: select the deliveries that can start, so that neither a connector nor an organization delays another.
import type { PendingDelivery } from '../../../model/delivery.ts';
import { isSharedConnector } from '../../../model/ids.ts';
import type { EpochMs } from '../../../model/instant.ts';

// Connector queue: the deliveries of one connector, with one queue per device to keep the order. The mail
// of the installation has one for each organization.

export const queueLimits = {
  /** Deliveries of one connector that are in progress at the same time. */
  inProgressMax: 16,
  /** Consecutive failures after which a target counts as broken, until a delivery arrives. */
  failuresMax: 5,
} as const;

/** The connector queue that a delivery belongs to. */
export function queueKeyOf({
  connectorId,
  organizationId,
}: {
  readonly connectorId: string;
  readonly organizationId: string;
}): string {
  return isSharedConnector(connectorId) ? `${connectorId} ${organizationId}` : connectorId;
}

function isOfConnector(key: string, connectorId: string): boolean {
  return key === connectorId || key.startsWith(`${connectorId} `);
}

export interface DeviceQueue<D extends PendingDelivery = PendingDelivery> {
  readonly connectorId: string;
  /** Of its connector queue. */
  readonly key: string;
  readonly deviceId: string;
  /** By sequence; the first is in progress or next. Not empty while the queue exists. */
  readonly waiting: D[];
  /** `later` waits for a time, `ready` for its connector. */
  state: 'inProgress' | 'later' | 'ready';
}

class ConnectorQueue<D extends PendingDelivery = PendingDelivery> {
  readonly devices: Map<string, DeviceQueue<D>> = new Map();
  /** Ready queues, oldest first, whose first delivery was not attempted yet. */
  readonly fresh: Set<DeviceQueue<D>> = new Set();
  /** Ready queues, oldest first, whose first delivery has failed before. */
  readonly retried: Set<DeviceQueue<D>> = new Set();
  /** All queues whose first delivery has failed before. */
  readonly failing: Set<DeviceQueue<D>> = new Set();
  inProgress: number = 0;
  consecutiveFailures: number = 0;
  size: number = 0;
}

function isBroken({ consecutiveFailures }: ConnectorQueue): boolean {
  return consecutiveFailures >= queueLimits.failuresMax;
}

/**
 * Returns the queue that can start now. A broken target receives one delivery at a time: a retry
 * that is due, or a new delivery if there is nothing to retry.
 */
function nextReady<D extends PendingDelivery>(
  connector: ConnectorQueue<D>,
): DeviceQueue<D> | undefined {
  const [retried] = connector.retried;
  const [fresh] = connector.fresh;
  const inProgressMax = isBroken(connector) ? 1 : queueLimits.inProgressMax;
  if (connector.inProgress >= inProgressMax) return undefined;
  if (isBroken(connector) && connector.failing.size > 0) return retried;
  return retried ?? fresh;
}

/** The delivery of a queue that is in progress or next. */
export function firstOf<D extends PendingDelivery>({ waiting: [first] }: DeviceQueue<D>): D {
  if (first === undefined) throw new Error('A device queue exists without a delivery');
  return first;
}

/** Inserts by sequence, but never before the first. Returns false for a known delivery. */
function insertDelivery<D extends PendingDelivery>(
  { waiting }: DeviceQueue<D>,
  delivery: D,
): boolean {
  const { id, sequence } = delivery;
  const isKnown = (other: D | undefined) => other?.sequence === sequence && other.id === id;
  // New deliveries have the highest sequence, except after a restart.
  const before = waiting.findLastIndex((other, i) => i === 0 || other.sequence <= sequence);
  if (isKnown(waiting[before]) || isKnown(waiting[0])) return false;
  waiting.splice(before + 1, 0, delivery);
  return true;
}

/** The result of an attempt: the delivery is over, or due again at `nextAt`. */
type AttemptResult =
  | { readonly isOver: true }
  | { readonly isOver: false; readonly nextAt: EpochMs };

/** Bounds the work for a connector with a retry for each of many devices. */
const retriesRead = 1_000;

export class DeliveryQueues<D extends PendingDelivery = PendingDelivery> {
  readonly #connectors = new Map<string, ConnectorQueue<D>>();
  readonly #later = new DueQueue<DeviceQueue<D>>();
  /** Connectors that may have a queue to start. */
  readonly #changed = new Set<string>();
  #size = 0;

  /** Deliveries of one connector queue that wait or are in progress. */
  sizeOf(key: string): number {
    return this.#connectors.get(key)?.size ?? 0;
  }

  /** The connector queues of the connector: one, or one for each organization. */
  *#of(connectorId: string): Generator<ConnectorQueue<D>> {
    if (isSharedConnector(connectorId)) {
      for (const [key, queue] of this.#connectors) if (isOfConnector(key, connectorId)) yield queue;
      return;
    }
    const queue = this.#connectors.get(connectorId);
    if (queue !== undefined) yield queue;
  }

  /** Deliveries of the connector that wait or are in progress. */
  waitingOf(connectorId: string): number {
    return this.#of(connectorId).reduce((sum, { size }) => sum + size, 0);
  }

  /** Deliveries that wait or are in progress, of all connectors. */
  get size(): number {
    return this.#size;
  }

  /** Number of connectors whose target counts as broken. */
  get brokenTargets(): number {
    return [...this.#connectors.values()].filter(isBroken).length;
  }

  /** The next time at which a queue becomes ready. */
  get earliest(): EpochMs | undefined {
    return this.#later.earliest;
  }

  isBroken(key: string): boolean {
    const connector = this.#connectors.get(key);
    return connector !== undefined && isBroken(connector);
  }

  /**
   * When the connector attempts a delivery again that has failed, which can be past while it waits
   * for its turn; undefined when none has. Of many that failed, the first thousand count.
   */
  nextRetryOf(connectorId: string): EpochMs | undefined {
    const times = [...this.#of(connectorId)].flatMap((queue) => nextRetryIn(queue) ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Adds a delivery, in any order. Ignores a known one. */
  add(delivery: D, now: EpochMs): void {
    const { connectorId, deviceId } = delivery;
    const key = queueKeyOf(delivery);
    const connector = this.#connectorOf(key);
    const known = connector.devices.get(deviceId);
    if (known !== undefined && !insertDelivery(known, delivery)) return;
    connector.size += 1;
    this.#size += 1;
    if (known !== undefined) return;
    const queue: DeviceQueue<D> = {
      connectorId,
      key,
      deviceId,
      waiting: [delivery],
      state: 'later',
    };
    connector.devices.set(deviceId, queue);
    this.#place(queue, now);
  }

  /** Yields the queues whose first delivery starts now. Each is in progress until `end`. */
  *start(now: EpochMs): Generator<DeviceQueue<D>> {
    for (const queue of this.#later.takeDue(now)) {
      if (queue.state === 'later') this.#place(queue, now);
    }
    for (const key of [...this.#changed]) {
      const connector = this.#connectors.get(key) ?? new ConnectorQueue<D>();
      for (let queue = nextReady(connector); queue !== undefined; queue = nextReady(connector)) {
        connector.retried.delete(queue);
        connector.fresh.delete(queue);
        queue.state = 'inProgress';
        connector.inProgress += 1;
        yield queue;
      }
      this.#changed.delete(key);
    }
  }

  /** Removes deliveries that are not in progress. */
  remove(isRemoved: (pending: D) => boolean): void {
    for (const connector of [...this.#connectors.values()])
      for (const queue of [...connector.devices.values()]) {
        const first = queue.state === 'inProgress' ? queue.waiting.slice(0, 1) : [];
        const others = queue.waiting.slice(first.length);
        const left = others.filter((pending) => !isRemoved(pending));
        if (left.length === others.length) continue;
        connector.size -= others.length - left.length;
        this.#size -= others.length - left.length;
        queue.waiting.splice(0, queue.waiting.length, ...first, ...left);
        if (queue.waiting.length === 0) this.#endQueue(connector, queue);
      }
  }

  /** The deliveries of the connector that wait or are in progress; of all without one. */
  *waiting(connectorId: string | undefined): Generator<D> {
    for (const [id, { devices }] of this.#connectors) {
      if (connectorId !== undefined && !isOfConnector(id, connectorId)) continue;
      for (const { waiting } of devices.values()) yield* waiting;
    }
  }

  /**
   * Ends the attempt of the first delivery. `isTargetWell` is undefined when nothing was sent to
   * the target.
   */
  end(
    queue: DeviceQueue<D>,
    result: AttemptResult,
    isTargetWell: boolean | undefined,
    now: EpochMs,
  ): void {
    const connector = this.#connectorOf(queue.key);
    connector.inProgress -= 1;
    if (isTargetWell === true) connector.consecutiveFailures = 0;
    if (isTargetWell === false) connector.consecutiveFailures += 1;
    this.#changed.add(queue.key);
    if (result.isOver) {
      queue.waiting.shift();
      connector.size -= 1;
      this.#size -= 1;
    } else {
      const delivery = firstOf(queue);
      delivery.tries += 1;
      delivery.nextAt = result.nextAt;
    }
    if (queue.waiting.length > 0) this.#place(queue, now);
    else this.#removeQueue(connector, queue);
  }

  #connectorOf(key: string): ConnectorQueue<D> {
    const known = this.#connectors.get(key) ?? new ConnectorQueue<D>();
    this.#connectors.set(key, known);
    return known;
  }

  /** Makes a queue ready, or lets it wait until its first delivery is due. */
  #place(queue: DeviceQueue<D>, now: EpochMs): void {
    const connector = this.#connectorOf(queue.key);
    const { nextAt, tries } = firstOf(queue);
    if (tries > 0) connector.failing.add(queue);
    else connector.failing.delete(queue);
    if (nextAt > now) {
      queue.state = 'later';
      this.#later.add(nextAt, queue);
      return;
    }
    queue.state = 'ready';
    const ready = tries > 0 ? connector.retried : connector.fresh;
    ready.add(queue);
    this.#changed.add(queue.key);
  }

  /** The time that it waited for passes without effect. */
  #endQueue(connector: ConnectorQueue<D>, queue: DeviceQueue<D>): void {
    queue.state = 'ready';
    connector.fresh.delete(queue);
    connector.retried.delete(queue);
    this.#removeQueue(connector, queue);
  }

  #removeQueue(connector: ConnectorQueue<D>, queue: DeviceQueue<D>): void {
    connector.devices.delete(queue.deviceId);
    connector.failing.delete(queue);
    // The failures of a connector without deliveries are kept, so that a broken target stays broken.
    if (connector.devices.size === 0 && connector.consecutiveFailures === 0)
      this.#connectors.delete(queue.key);
  }
}

function nextRetryIn(connector: ConnectorQueue | undefined): EpochMs | undefined {
  let next: EpochMs | undefined;
  for (const queue of connector?.failing.values().take(retriesRead) ?? []) {
    const { nextAt } = firstOf(queue);
    if (next === undefined || nextAt < next) next = nextAt;
  }
  return next;
}

// Due queue: items that are due at a time, the earliest first, in a binary heap.

interface Entry<T> {
  readonly at: number;
  readonly item: T;
}

export class DueQueue<T> {
  readonly #heap: Entry<T>[] = [];

  /** The earliest time; undefined when the queue is empty. */
  get earliest(): number | undefined {
    return this.#heap[0]?.at;
  }

  add(at: number, item: T): void {
    this.#heap.push({ at, item });
    rise(this.#heap);
  }

  /** Removes and yields the items that are due, the earliest first. Items can be added meanwhile. */
  *takeDue(now: number): Generator<T> {
    for (let [first] = this.#heap; first !== undefined && first.at <= now; [first] = this.#heap) {
      removeFirst(this.#heap);
      yield first.item;
    }
  }
}

/** Moves the last entry up to its place. */
function rise<T>(heap: Entry<T>[]): void {
  for (let i = heap.length - 1; i > 0; ) {
    const parent = (i - 1) >> 1;
    if (!swapIfEarlier(heap, i, parent)) return;
    i = parent;
  }
}

function removeFirst<T>(heap: Entry<T>[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  heap[0] = last;
  for (let i = 0; ; ) {
    const child = earlierChild(heap, i);
    if (!swapIfEarlier(heap, child, i)) return;
    i = child;
  }
}

function earlierChild<T>(heap: readonly Entry<T>[], parent: number): number {
  const left = 2 * parent + 1;
  const right = left + 1;
  return timeAt(heap, right) < timeAt(heap, left) ? right : left;
}

function timeAt<T>(heap: readonly Entry<T>[], i: number): number {
  return heap[i]?.at ?? Number.POSITIVE_INFINITY;
}

/** Exchanges two entries if the one at `i` is due before the one at `above`. */
function swapIfEarlier<T>(heap: Entry<T>[], i: number, above: number): boolean {
  const [entry, other] = [heap[i], heap[above]];
  if (entry === undefined || other === undefined || entry.at >= other.at) return false;
  heap[i] = other;
  heap[above] = entry;
  return true;
}
