// Quiet wait: before its port closes, a node waits until the others send it no more requests.
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

const quietLimits = {
  /** Other nodes learn within this time that the node gave its leases away. */
  quietMs: 400,
  /** How long the node waits at most. */
  waitMsMax: 2_000,
} as const;

interface QuietWait {
  /** Call for every request. While the node waits, each connection ends with its answer. */
  requested(response: ServerResponse): void;
  /**
   * Resolves after a time without a request, or after a limit. A request in flight when the port
   * closes would be lost, and no client knows whether it was handled.
   */
  whenQuiet(): Promise<void>;
}

export function createQuietWait(now: () => number = () => performance.now()): QuietWait {
  let isWaiting = false;
  let requestedAt = -Infinity;
  return {
    requested(response) {
      requestedAt = now();
      if (isWaiting) response.setHeader('connection', 'close');
    },
    async whenQuiet() {
      isWaiting = true;
      const until = now() + quietLimits.waitMsMax;
      for (let left = restMs(); left > 0 && now() < until; left = restMs()) await wait(left);
    },
  };

  function restMs(): number {
    return requestedAt + quietLimits.quietMs - now();
  }
}
