// Fault senders: each device sends one uplink after the other to nodes in turns, and notes the outcome.
import { setTimeout as wait } from 'node:timers/promises';
import type { FaultDevice } from './fault-world.ts';

/** Between uplinks of a device, so that the machine has time for the cluster. */
const betweenMs = 25;
/** After a node that cannot be reached. */
const retryMs = 50;

const taken = '201';

export interface SentUplink {
  readonly n: number;
  /** When it was acknowledged, by a monotonic clock; undefined when the outcome is unknown. */
  acknowledgedAt?: number;
}

/** By what was answered instead of 201; `none` for no answer. */
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
  readonly urls: readonly string[];
  /** The number of the next uplink of any device. */
  readonly next: () => number;
  /** How long a client waits for an answer before it goes to the next node. */
  readonly answerMsMax: number;
}

export function startSenders({ devices, urls, next, answerMsMax }: SendersParts): Senders {
  const book = new Map(devices.map(({ deviceId }) => [deviceId, [] as SentUplink[]]));
  const refusals = new Map<string, number>();
  let isStopped = false;
  let failuresInARow = 0;

  /** Returns whether it was acknowledged. A lost answer is not repeated: it would be another uplink. */
  async function send(device: FaultDevice, url: string): Promise<boolean> {
    const uplink: SentUplink = { n: next() };
    book.get(device.deviceId)?.push(uplink);
    const outcome = await capture(url, device, uplink.n, AbortSignal.timeout(answerMsMax));
    if (outcome === taken) uplink.acknowledgedAt = performance.now();
    else refusals.set(outcome, (refusals.get(outcome) ?? 0) + 1);
    return outcome === taken;
  }

  async function keepSending(device: FaultDevice, first: number): Promise<void> {
    let failures = 0;
    for (let turn = first; !isStopped; turn++) {
      const isTaken = await send(device, urls[turn % urls.length] ?? '');
      failures = isTaken ? 0 : failures + 1;
      failuresInARow = Math.max(failuresInARow, failures);
      await wait(isTaken ? betweenMs : retryMs);
    }
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

/** `taken`, or the status and code of the answer. */
async function capture(
  url: string,
  device: FaultDevice,
  n: number,
  signal: AbortSignal,
): Promise<string> {
  const query = new URLSearchParams({ secret: device.secret, deviceId: device.deviceId });
  try {
    const answer = await fetch(`${url}/v3/capture?${query.toString()}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ n }),
      signal,
    });
    const { errorCode = '' } = (await answer.json()) as { readonly errorCode?: string };
    return answer.status === 201 ? taken : `${answer.status} ${errorCode}`;
  } catch {
    return 'none';
  }
}
