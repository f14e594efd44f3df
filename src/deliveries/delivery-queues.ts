// Who is next: deliveries wait in lanes, one for each connector and device, so that their order holds.
// Lanes wait for their connector, so that one stuck target delays no other; a target that keeps failing is asked by one at a time.
import type { PendingDelivery } from '../model/delivery.ts';
import type { EpochMs } from '../model/instant.ts';
import { dueTimes } from './due-queue.ts';

export const laneLimits = {
  /** Deliveries of one connector under way at once. */
  underWayMax: 16,
  /** Failures in a row after which a target counts as broken until a delivery arrives. */
  failuresMax: 5,
} as const;

interface Waiting {
  readonly sequence: number;
  tries: number;
  nextAt: EpochMs;
}

export interface Lane {
  readonly connectorId: string;
  readonly deviceId: string;
  /** By sequence; the first is the one under way or next. Never empty while the lane exists. */
  readonly waiting: Waiting[];
  /** Why it is not being tried: something under way, not yet due, or in line for the connector. */
  state: 'underWay' | 'later' | 'inLine';
}

interface Queue {
  readonly lanes: Map<string, Lane>;
  /** Lanes in line, oldest first; those whose delivery was tried before stand in a line of their own. */
  readonly fresh: Set<Lane>;
  readonly tried: Set<Lane>;
  /** Lanes whose first delivery was tried before, wherever they are. */
  readonly retrying: Set<Lane>;
  underWay: number;
  failuresInRow: number;
  size: number;
}

/** Whether it was new. What is under way or was tried keeps the first place; new ones nearly always come last. */
function insert({ waiting }: Lane, one: Waiting): boolean {
  if (one.sequence > waiting.at(-1)!.sequence) return waiting.push(one) > 0;
  if (waiting.some(({ sequence }) => sequence === one.sequence)) return false;
  let at = waiting.length;
  while (at > 1 && waiting[at - 1]!.sequence > one.sequence) at -= 1;
  waiting.splice(at, 0, one);
  return true;
}

/** What became of the first delivery of a lane: over, or to be tried again. */
export type LaneResult =
  | { readonly isOver: true }
  | { readonly isOver: false; readonly nextAt: EpochMs };

export function deliveryLanes() {
  const queues = new Map<string, Queue>();
  const later = dueTimes<Lane>();
  /** Connectors that may have something to start. */
  const stirred = new Set<string>();
  let size = 0;

  function queueOf(connectorId: string): Queue {
    const known = queues.get(connectorId);
    if (known !== undefined) return known;
    const queue: Queue = {
      lanes: new Map(),
      fresh: new Set(),
      tried: new Set(),
      retrying: new Set(),
      underWay: 0,
      failuresInRow: 0,
      size: 0,
    };
    queues.set(connectorId, queue);
    return queue;
  }

  function place(lane: Lane, queue: Queue, now: EpochMs): void {
    const { nextAt, tries } = lane.waiting[0]!;
    if (tries > 0) queue.retrying.add(lane);
    else queue.retrying.delete(lane);
    if (nextAt > now) {
      lane.state = 'later';
      later.add(nextAt, lane);
      return;
    }
    lane.state = 'inLine';
    (tries > 0 ? queue.tried : queue.fresh).add(lane);
    stirred.add(lane.connectorId);
  }

  function nextLane(queue: Queue): Lane | undefined {
    const isBroken = queue.failuresInRow >= laneLimits.failuresMax;
    if (queue.underWay >= (isBroken ? 1 : laneLimits.underWayMax)) return undefined;
    const [tried] = queue.tried;
    const [fresh] = queue.fresh;
    // A broken target is asked again when a failed delivery is due again; what has not been tried waits for that.
    if (isBroken) return tried ?? (queue.retrying.size === 0 ? fresh : undefined);
    return tried ?? fresh;
  }

  return {
    /** Deliveries that wait or are under way, of all connectors. */
    get size() {
      return size;
    },
    /** Connectors that count as broken. */
    get brokenTargets() {
      return [...queues.values()].filter((queue) => queue.failuresInRow >= laneLimits.failuresMax)
        .length;
    },
    isBroken: (connectorId: string): boolean =>
      (queues.get(connectorId)?.failuresInRow ?? 0) >= laneLimits.failuresMax,
    sizeOf: (connectorId: string): number => queues.get(connectorId)?.size ?? 0,
    /** When a lane is due next that is not in line already. */
    get earliest() {
      return later.earliest;
    },

    /** Takes in what waits, in any order; what is known already is passed over. */
    add({ connectorId, deviceId, sequence, tries, nextAt }: PendingDelivery, now: EpochMs): void {
      const queue = queueOf(connectorId);
      const lane = queue.lanes.get(deviceId);
      const waiting = { sequence, tries, nextAt };
      if (lane === undefined) {
        const made: Lane = { connectorId, deviceId, waiting: [waiting], state: 'later' };
        queue.lanes.set(deviceId, made);
        place(made, queue, now);
      } else {
        if (!insert(lane, waiting)) return;
      }
      queue.size += 1;
      size += 1;
    },

    /** The lanes to be tried now; each is under way until `end` is called. */
    *start(now: EpochMs): Generator<Lane> {
      for (let lane = later.takeDue(now); lane !== undefined; lane = later.takeDue(now)) {
        if (lane.state === 'later') place(lane, queueOf(lane.connectorId), now);
      }
      for (const connectorId of [...stirred]) {
        const queue = queueOf(connectorId);
        for (let lane = nextLane(queue); lane !== undefined; lane = nextLane(queue)) {
          queue.tried.delete(lane);
          queue.fresh.delete(lane);
          lane.state = 'underWay';
          queue.underWay += 1;
          yield lane;
        }
        stirred.delete(connectorId);
      }
    },

    /** Ends the try of a lane's first delivery. `isTargetWell` is undefined when the target was not asked. */
    end(lane: Lane, result: LaneResult, isTargetWell: boolean | undefined, now: EpochMs): void {
      const queue = queueOf(lane.connectorId);
      queue.underWay -= 1;
      if (isTargetWell !== undefined)
        queue.failuresInRow = isTargetWell ? 0 : queue.failuresInRow + 1;
      stirred.add(lane.connectorId);
      if (result.isOver) {
        lane.waiting.shift();
        queue.size -= 1;
        size -= 1;
      } else {
        lane.waiting[0]!.tries += 1;
        lane.waiting[0]!.nextAt = result.nextAt;
      }
      if (lane.waiting.length > 0) return place(lane, queue, now);
      queue.lanes.delete(lane.deviceId);
      queue.retrying.delete(lane);
      if (queue.lanes.size === 0 && queue.failuresInRow === 0) queues.delete(lane.connectorId);
    },
  };
}
