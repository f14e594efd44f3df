// Growing counters: kilowatt-hours, liters, people. A total is a pure function of the instant.
import type { EpochMs } from '../../../src/model/instant.ts';
import { hourMs, instantOf, localTime, minuteMs } from './local-time.ts';

/** The sum from the start of counting to an instant; zero before the start. */
export type TotalAt = (at: EpochMs) => number;

const slotMs = 15 * minuteMs;
const daysKeptMax = 40;

/** The day from which all counters of the campus count: 2025-01-01. */
export const countingFromDay = Date.UTC(2025, 0, 1) / 86_400_000;

/**
 * A total that grows from slot to slot by `amountOf(slotStart)`, evenly within a slot. Sums are
 * kept as they are computed, so ask for spans of at most some thousand slots.
 */
export function slotTotal(
  startedAt: EpochMs,
  slotLengthMs: number,
  amountOf: (slotStart: EpochMs) => number,
): TotalAt {
  const sums: number[] = [0];
  return (at) => {
    if (at <= startedAt) return 0;
    const slot = Math.floor((at - startedAt) / slotLengthMs);
    for (let i = sums.length; i <= slot + 1; i++)
      sums.push(sums[i - 1]! + amountOf(startedAt + (i - 1) * slotLengthMs));
    const share = (at - startedAt) / slotLengthMs - slot;
    return sums[slot]! + share * (sums[slot + 1]! - sums[slot]!);
  };
}

export interface DailyMeter {
  readonly totalAt: TotalAt;
  /** How fast it counts at the instant, per hour. */
  rateAt(at: EpochMs): number;
}

/**
 * A meter with an amount per local day, spread over the day by weights (any unit, 15-minute slots).
 * Years of past days cost one `amountOf` each, so a total far from the start is still cheap.
 */
export function dailyMeter(
  amountOf: (day: number) => number,
  weightOf: (slotStart: EpochMs) => number,
): DailyMeter {
  const daySums: number[] = [0];
  const shapes = new Map<number, DayShape>();

  function sumBefore(day: number): number {
    const index = day - countingFromDay;
    for (let i = daySums.length; i <= index; i++)
      daySums.push(daySums[i - 1]! + amountOf(countingFromDay + i - 1));
    return daySums[index]!;
  }

  function shapeOf(day: number): DayShape {
    const known = shapes.get(day);
    if (known !== undefined) return known;
    if (shapes.size >= daysKeptMax) shapes.clear();
    const shape = dayShape(day, amountOf(day), weightOf);
    shapes.set(day, shape);
    return shape;
  }

  return {
    totalAt(at) {
      const { day } = localTime(at);
      return day < countingFromDay ? 0 : sumBefore(day) + shapeOf(day).soFar(at);
    },
    rateAt(at) {
      const { day } = localTime(at);
      return day < countingFromDay ? 0 : shapeOf(day).rateAt(at);
    },
  };
}

interface DayShape {
  readonly soFar: TotalAt;
  rateAt(at: EpochMs): number;
}

function dayShape(day: number, amount: number, weightOf: (slotStart: EpochMs) => number): DayShape {
  const start = instantOf(day, 0);
  const slots = Math.round((instantOf(day + 1, 0) - start) / slotMs);
  const weights = Array.from({ length: slots }, (_, i) =>
    Math.max(0, weightOf(start + i * slotMs)),
  );
  const sum = weights.reduce((a, b) => a + b, 0);
  // A day without any weight (the sun never came through) still has to add up to its amount.
  const amounts = weights.map((weight) => (sum > 0 ? (amount * weight) / sum : amount / slots));
  const slotOf = (at: EpochMs) => Math.min(slots - 1, Math.floor((at - start) / slotMs));
  return {
    soFar: slotTotal(start, slotMs, (slotStart) => amounts[slotOf(slotStart)]!),
    rateAt: (at) => (amounts[slotOf(at)]! * hourMs) / slotMs,
  };
}
