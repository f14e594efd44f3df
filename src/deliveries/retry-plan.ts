// Retry plan: when a failed delivery is retried, and when it is dead (contract 35).
import type { DeliveryState } from '../model/delivery.ts';
import { dayMs, type EpochMs, hourMs, minuteMs } from '../model/instant.ts';
import type { SendOutcome } from '../connectors/target.ts';

/** From one attempt to the next; after the last one the delivery is dead. */
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

/** The same for 6 hours in all, for what a target refuses and people can mend (contract 42). */
const hoursDelaysMs: readonly number[] = [
  ...retryDelaysMs.slice(0, 7),
  6 * hourMs - retryDelaysMs.slice(0, 7).reduce((sum, delayMs) => sum + delayMs, 0),
];

/**
 * A delay differs from its length by at most this share, so that deliveries that failed together
 * are not retried together.
 */
const jitterShare = 0.2;
/** The longest pause that a target can request, and the longest of all. */
export const retryMsMax = dayMs;

export interface Planned {
  readonly state: DeliveryState;
  /** When it is due again; `now` if it needs no other attempt. */
  readonly nextAt: EpochMs;
}

/** The attempt that ended: `tries` includes it, `random` is from 0 to 1. */
export interface EndedAttempt {
  readonly tries: number;
  readonly now: EpochMs;
  readonly random: number;
}

/** Returns the next state of a delivery after the outcome of an attempt. */
export function planAfter(outcome: SendOutcome, { tries, now, random }: EndedAttempt): Planned {
  if (outcome.ok) return { state: 'DELIVERED', nextAt: now };
  const delaysMs = outcome.retry === 'HOURS' ? hoursDelaysMs : retryDelaysMs;
  const delayMs = delaysMs[tries - 1];
  if (outcome.retry === false || delayMs === undefined) return { state: 'DEAD', nextAt: now };
  const jittered = delayMs * (1 - jitterShare + 2 * jitterShare * random);
  const asked = Math.min(outcome.retryAfterMs ?? 0, retryMsMax);
  return { state: 'PENDING', nextAt: now + Math.round(Math.max(jittered, asked)) };
}
