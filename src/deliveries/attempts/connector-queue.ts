// Connector queue: the deliveries of one connector, with one queue per device to keep the order.
import type { PendingDelivery } from '../../model/delivery.ts';

export const queueLimits = {
  /** Deliveries of one connector that are in progress at the same time. */
  inProgressMax: 16,
  /** Consecutive failures after which a target counts as broken, until a delivery arrives. */
  failuresMax: 5,
} as const;

export interface DeviceQueue<D extends PendingDelivery = PendingDelivery> {
  readonly connectorId: string;
  readonly deviceId: string;
  /** By sequence; the first is in progress or next. Not empty while the queue exists. */
  readonly waiting: D[];
  /** `later` waits for a time, `ready` for its connector. */
  state: 'inProgress' | 'later' | 'ready';
}

export interface ConnectorQueue<D extends PendingDelivery = PendingDelivery> {
  readonly devices: Map<string, DeviceQueue<D>>;
  /** Ready queues, oldest first, whose first delivery was not attempted yet. */
  readonly fresh: Set<DeviceQueue<D>>;
  /** Ready queues, oldest first, whose first delivery has failed before. */
  readonly retried: Set<DeviceQueue<D>>;
  /** All queues whose first delivery has failed before. */
  readonly failing: Set<DeviceQueue<D>>;
  inProgress: number;
  consecutiveFailures: number;
  size: number;
}

export function createConnectorQueue<D extends PendingDelivery>(): ConnectorQueue<D> {
  return {
    devices: new Map(),
    fresh: new Set(),
    retried: new Set(),
    failing: new Set(),
    inProgress: 0,
    consecutiveFailures: 0,
    size: 0,
  };
}

export function isBroken({ consecutiveFailures }: ConnectorQueue): boolean {
  return consecutiveFailures >= queueLimits.failuresMax;
}

/**
 * Returns the queue that can start now. A broken target receives one delivery at a time: a retry
 * that is due, or a new delivery if there is nothing to retry.
 */
export function nextReady<D extends PendingDelivery>(
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
export function insertDelivery<D extends PendingDelivery>(
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
