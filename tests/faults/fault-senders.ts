// Fault senders: each device sends one uplink after the other, and notes the outcome.
import { setTimeout as wait } from 'node:timers/promises';
import { acknowledged, type NodeUrls, type Transport, transportOf } from './fault-transports.ts';
import type { FaultDevice } from './fault-world.ts';

/** Between uplinks of a device, so that the machine has time for the cluster. */
const betweenMs = 25;
/** After a node that cannot be reached. */
const retryMs = 50;

export interface SentUplink {
  readonly n: number;
  /** When it was acknowledged, by a monotonic clock; undefined when the outcome is unknown. */
  acknowledgedAt?: number;
}

/** By what was answered instead; `none` for no answer. */
export type Refusals = ReadonlyMap<string, number>;

export interface Senders {
  /** By device id, in the order of sending. */
  sent(deviceId: string): readonly SentUplink[];
  readonly refusals: Refusals;
  /** The most uplinks of a device in a row that were not acknowledged, each sent to another node. */
  readonly failuresInARow: number;
  /**
   * The longest time in which a device was not acknowledged, from an instant of the monotonic clock
   * on, in milliseconds.
   */
  longestGapSince(at: number): number;
  /** Whether each device was acknowledged after the instant. */
  areAllAcknowledgedSince(at: number): boolean;
  /** Resolves when nothing is in flight. */
  stop(): Promise<void>;
}

export interface SendersParts {
  readonly devices: readonly FaultDevice[];
  readonly nodes: readonly NodeUrls[];
  /** The number of the next uplink of any device. */
  readonly next: () => number;
  /** How long a client waits for an answer before it goes to the next node. */
  readonly answerMsMax: number;
}

export function startSenders({ devices, nodes, next, answerMsMax }: SendersParts): Senders {
  const book = new Map(devices.map(({ deviceId }) => [deviceId, [] as SentUplink[]]));
  const refusals = new Map<string, number>();
  let isStopped = false;
  let failuresInARow = 0;

  /** Returns whether it was acknowledged. A lost answer is not repeated: it would be another uplink. */
  async function send({ deviceId }: FaultDevice, over: Transport): Promise<boolean> {
    const uplink: SentUplink = { n: next() };
    book.get(deviceId)?.push(uplink);
    const outcome = await over.send(uplink.n);
    if (outcome === acknowledged) uplink.acknowledgedAt = performance.now();
    else refusals.set(outcome, (refusals.get(outcome) ?? 0) + 1);
    return outcome === acknowledged;
  }

  async function keepSending(device: FaultDevice, first: number): Promise<void> {
    let failures = 0;
    const transport = transportOf({ device, nodes, first, answerMsMax });
    while (!isStopped) {
      const isTaken = await send(device, transport);
      failures = isTaken ? 0 : failures + 1;
      failuresInARow = Math.max(failuresInARow, failures);
      await wait(isTaken ? betweenMs : retryMs);
    }
    await transport.close();
  }

  const ended = Promise.all(devices.map(keepSending));
  const acknowledgedTimes = (deviceId: string): readonly number[] =>
    (book.get(deviceId) ?? []).flatMap(({ acknowledgedAt = [] }) => acknowledgedAt);
  return {
    sent: (deviceId) => book.get(deviceId) ?? [],
    refusals,
    get failuresInARow() {
      return failuresInARow;
    },
    longestGapSince: (at) =>
      Math.max(...devices.map(({ deviceId }) => longestGap(acknowledgedTimes(deviceId), at))),
    areAllAcknowledgedSince: (at) =>
      devices.every(({ deviceId }) => (acknowledgedTimes(deviceId).at(-1) ?? 0) > at),
    async stop() {
      isStopped = true;
      await ended;
    },
  };
}

function longestGap(times: readonly number[], from: number): number {
  let last = from;
  let longest = 0;
  for (const time of times) {
    if (time <= from) continue;
    longest = Math.max(longest, time - last);
    last = time;
  }
  return Math.max(longest, performance.now() - last);
}
