// When people are there: offices on working days, shops and canteens at their opening hours.
import type { EpochMs } from '../../../src/model/instant.ts';
import { isFreeDay, localTime, weekdayOf } from './local-time.ts';
import { gaussian } from './seeded.ts';

/**
 * Share of an office's people that are in, 0 to 1: from seven to half past six with a dip at lunch,
 * fewer on Fridays.
 */
export function officePresence(seed: number, at: EpochMs): number {
  const { day, hour } = localTime(at);
  if (isFreeDay(day)) return 0;
  const shift = 0.3 * gaussian(seed, day);
  const arrived = rising(hour, 7.6 + shift, 1.1);
  const left = rising(hour, 17 + shift, 1.4);
  const lunch = 0.55 * Math.exp(-(((hour - 12.4) / 0.55) ** 2));
  return Math.max(0, arrived - left) * (1 - lunch) * (weekdayOf(day) === 4 ? 0.7 : 0.95);
}

/** Opening hours of a place by the local clock. */
export interface OpeningHours {
  readonly from: number;
  readonly to: number;
  /** On Saturdays and Sundays too. */
  readonly weekend: boolean;
  /** The busiest hours of the day. */
  readonly peaks: readonly number[];
}

/** How busy a place is, 0 (closed) to 1 (its busiest hour). */
export function busyness(hours: OpeningHours, seed: number, at: EpochMs): number {
  const { day, hour } = localTime(at);
  if (hour < hours.from || hour >= hours.to) return 0;
  if (isFreeDay(day) && !hours.weekend) return 0;
  const crowd = hours.peaks.reduce(
    (sum, peak) => sum + Math.exp(-(((hour - peak) / 0.9) ** 2)),
    0.15,
  );
  return Math.min(1, crowd * Math.max(0.4, 1 + 0.15 * gaussian(seed, day)));
}

/** A soft step from 0 to 1 around `middle`, some `width` hours wide. */
function rising(hour: number, middle: number, width: number): number {
  return 1 / (1 + Math.exp((-4 * (hour - middle)) / width));
}
