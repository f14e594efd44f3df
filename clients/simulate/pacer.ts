// How many payloads are due: an open-loop schedule, so that a slow answer does not hide the ones that should have followed.

/** Payloads that are late are sent at once, but no more than this part of a second's worth. */
const burstSeconds = 1;

export interface Pacer {
  /** How many to send now, when so many places are free. */
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
