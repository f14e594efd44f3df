// Delivery queues: select the deliveries that can start. One connector does not delay another.
import type { PendingDelivery } from '../model/delivery.ts';
import type { EpochMs } from '../model/instant.ts';
import {
  type ConnectorQueue,
  createConnectorQueue,
  type DeviceQueue,
  firstOf,
  insertDelivery,
  isBroken,
  nextReady,
} from './connector-queue.ts';
import { createDueQueue, type DueQueue } from './due-queue.ts';

/** The result of an attempt: the delivery is over, or due again at `nextAt`. */
export type AttemptResult =
  | { readonly isOver: true }
  | { readonly isOver: false; readonly nextAt: EpochMs };

export interface DeliveryQueues {
  /** Deliveries that wait or are in progress, of all connectors. */
  readonly size: number;
  /** Number of connectors whose target counts as broken. */
  readonly brokenTargets: number;
  /** The next time at which a queue becomes ready. */
  readonly earliest: EpochMs | undefined;
  isBroken(connectorId: string): boolean;
  sizeOf(connectorId: string): number;
  /** Adds a delivery, in any order. Ignores a known one. */
  add(pending: PendingDelivery, now: EpochMs): void;
  /** Yields the queues whose first delivery starts now. Each is in progress until `end`. */
  start(now: EpochMs): Generator<DeviceQueue>;
  /**
   * Ends the attempt of the first delivery. `isTargetWell` is undefined when nothing was sent to
   * the target.
   */
  end(
    queue: DeviceQueue,
    result: AttemptResult,
    isTargetWell: boolean | undefined,
    now: EpochMs,
  ): void;
}

interface State {
  readonly connectors: Map<string, ConnectorQueue>;
  readonly later: DueQueue<DeviceQueue>;
  /** Connectors that may have a queue to start. */
  readonly changed: Set<string>;
  size: number;
}

export function createDeliveryQueues(): DeliveryQueues {
  const state: State = {
    connectors: new Map(),
    later: createDueQueue(),
    changed: new Set(),
    size: 0,
  };
  const { connectors } = state;
  return {
    get size() {
      return state.size;
    },
    get brokenTargets() {
      return [...connectors.values()].filter(isBroken).length;
    },
    get earliest() {
      return state.later.earliest;
    },
    isBroken(connectorId) {
      const connector = connectors.get(connectorId);
      return connector !== undefined && isBroken(connector);
    },
    sizeOf: (connectorId) => connectors.get(connectorId)?.size ?? 0,
    add: (pending, now) => add(state, pending, now),
    start: (now) => start(state, now),
    end: (queue, result, isTargetWell, now) => end(state, queue, { result, isTargetWell, now }),
  };
}

function connectorOf({ connectors }: State, connectorId: string): ConnectorQueue {
  const known = connectors.get(connectorId) ?? createConnectorQueue();
  connectors.set(connectorId, known);
  return known;
}

/** Makes a queue ready, or lets it wait until its first delivery is due. */
function place(state: State, queue: DeviceQueue, now: EpochMs): void {
  const connector = connectorOf(state, queue.connectorId);
  const { nextAt, tries } = firstOf(queue);
  if (tries > 0) connector.failing.add(queue);
  else connector.failing.delete(queue);
  if (nextAt > now) {
    queue.state = 'later';
    state.later.add(nextAt, queue);
    return;
  }
  queue.state = 'ready';
  const ready = tries > 0 ? connector.retried : connector.fresh;
  ready.add(queue);
  state.changed.add(queue.connectorId);
}

function add(state: State, pending: PendingDelivery, now: EpochMs): void {
  const { connectorId, deviceId, sequence, tries, nextAt } = pending;
  const connector = connectorOf(state, connectorId);
  const known = connector.devices.get(deviceId);
  const delivery = { sequence, tries, nextAt };
  if (known !== undefined && !insertDelivery(known, delivery)) return;
  connector.size += 1;
  state.size += 1;
  if (known !== undefined) return;
  const queue: DeviceQueue = { connectorId, deviceId, waiting: [delivery], state: 'later' };
  connector.devices.set(deviceId, queue);
  place(state, queue, now);
}

function* start(state: State, now: EpochMs): Generator<DeviceQueue> {
  for (const queue of state.later.takeDue(now)) {
    if (queue.state === 'later') place(state, queue, now);
  }
  for (const connectorId of [...state.changed]) {
    const connector = state.connectors.get(connectorId) ?? createConnectorQueue();
    for (let queue = nextReady(connector); queue !== undefined; queue = nextReady(connector)) {
      connector.retried.delete(queue);
      connector.fresh.delete(queue);
      queue.state = 'inProgress';
      connector.inProgress += 1;
      yield queue;
    }
    state.changed.delete(connectorId);
  }
}

interface Ending {
  readonly result: AttemptResult;
  readonly isTargetWell: boolean | undefined;
  readonly now: EpochMs;
}

function end(state: State, queue: DeviceQueue, { result, isTargetWell, now }: Ending): void {
  const connector = connectorOf(state, queue.connectorId);
  connector.inProgress -= 1;
  if (isTargetWell === true) connector.consecutiveFailures = 0;
  if (isTargetWell === false) connector.consecutiveFailures += 1;
  state.changed.add(queue.connectorId);
  if (result.isOver) {
    queue.waiting.shift();
    connector.size -= 1;
    state.size -= 1;
  } else {
    const delivery = firstOf(queue);
    delivery.tries += 1;
    delivery.nextAt = result.nextAt;
  }
  if (queue.waiting.length > 0) place(state, queue, now);
  else removeQueue(state, connector, queue);
}

function removeQueue(state: State, connector: ConnectorQueue, queue: DeviceQueue): void {
  connector.devices.delete(queue.deviceId);
  connector.failing.delete(queue);
  // The failures of a connector without deliveries are kept, so that a broken target stays broken.
  if (connector.devices.size === 0 && connector.consecutiveFailures === 0)
    state.connectors.delete(queue.connectorId);
}
