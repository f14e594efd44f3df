// A battery that drains over months, sags in the cold, and is changed when it is nearly empty.
import type { EpochMs } from '../../../src/model/instant.ts';
import { dayMs } from './local-time.ts';
import { uniform } from './seeded.ts';

/**
 * Level in percent of a battery that lasts `lifeDays`; every device is somewhere else in its
 * battery's life.
 */
export function batteryLevel(seed: number, at: EpochMs, lifeDays: number): number {
  const used = (at / (lifeDays * dayMs) + uniform(seed, 0)) % 1;
  return 100 - 88 * used;
}

/** Open-circuit voltage of two alkaline cells at a level: flat in the middle, steep at the end. */
export function alkalineVoltage(level: number): number {
  const points = alkalineCurve;
  for (let i = 1; i < points.length; i++) {
    const [low, lowVolt] = points[i - 1]!;
    const [high, highVolt] = points[i]!;
    if (level <= high) return lowVolt + ((level - low) / (high - low)) * (highVolt - lowVolt);
  }
  return points.at(-1)![1];
}

const alkalineCurve: readonly (readonly [percent: number, volt: number])[] = [
  [0, 2.1],
  [10, 2.35],
  [40, 2.6],
  [75, 2.85],
  [100, 3.2],
];
