// When a delivery is tried again, and when it is given up (contract 35).
import type { DeliveryState } from '../model/delivery.ts';
import { dayMs, type EpochMs, hourMs, minuteMs } from '../model/instant.ts';
import type { SendOutcome } from '../connectors/target.ts';

/** From one try to the next; after the last the delivery is dead. */
export const retryDelaysMs = [
  1_000,
  5_000,
  30_000,
  2 * minuteMs,
  10 * minuteMs,
  hourMs,
  4 * hourMs,
  12 * hourMs,
] as const;

/** A delay differs by at most this share from its length, so that what failed together does not come back together. */
const jitterShare = 0.2;
/** A target may ask for a longer pause, up to this. */
const retryAfterMsMax = dayMs;

export interface Planned {
  readonly state: DeliveryState;
  /** When it is due again; `now` of one that needs no further try. */
  readonly nextAt: EpochMs;
}

/** What follows from the outcome of a try. `tries` counts it; `random` is from 0 to 1. */
export function planAfter(
  outcome: SendOutcome,
  tries: number,
  now: EpochMs,
  random: number,
): Planned {
  if (outcome.ok) return { state: 'DELIVERED', nextAt: now };
  const delayMs = retryDelaysMs[tries - 1];
  if (!outcome.retry || delayMs === undefined) return { state: 'DEAD', nextAt: now };
  const jittered = delayMs * (1 - jitterShare + 2 * jitterShare * random);
  const asked = Math.min(outcome.retryAfterMs ?? 0, retryAfterMsMax);
  return { state: 'PENDING', nextAt: now + Math.round(Math.max(jittered, asked)) };
}
