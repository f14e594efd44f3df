// Pacer: an open-loop schedule of payloads, so that a slow answer does not hide those that should follow.

/** Late payloads are sent immediately, up to this part of a second. */
const burstSeconds = 1;

export interface Pacer {
  /** The number of payloads to send now, with this number of free slots. */
  due(nowMs: number, free: number): number;
}

/** A rate of 0 fills every free place. */
export function createPacer(ratePerSecond: number, startMs: number): Pacer {
  let sent = 0;
  let since = startMs;
  return {
    due(nowMs, free) {
      if (ratePerSecond === 0) return Math.max(0, free);
      const wanted = Math.floor(((nowMs - since) / 1_000) * ratePerSecond) - sent;
      const behindMax = Math.max(1, Math.floor(ratePerSecond * burstSeconds));
      if (wanted > behindMax) {
        // What could not be sent in time is not made up for.
        since += ((wanted - behindMax) / ratePerSecond) * 1_000;
      }
      const count = Math.max(0, Math.min(wanted, behindMax, free));
      sent += count;
      return count;
    },
  };
}
