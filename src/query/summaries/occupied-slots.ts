// Five-minute slots: each hour has twelve, and OCCUPANCY is the share of those marked occupied (interface 4.6).
import { type EpochMs, hourMs } from '../../model/instant.ts';

export const slotMs = 300_000;
const slotsAnHour = 12;

/**
 * Hour (`floor(timestamp / hourMs)`) to twelve bits, bit 0 for its first five minutes; 0 when seen
 * but never occupied.
 */
export type OccupiedSlots = Map<number, number>;

/** The slots that an interval counts. */
export interface CountedSlots {
  readonly total: number;
  /** Which slots of the hour are counted, as twelve bits. */
  readonly maskOf: (hour: number) => number;
}

/** For finishing everything but OCCUPANCY. */
export const noSlots: CountedSlots = { total: 0, maskOf: () => 0 };

/** The bit of the slot in its hour. */
export function slotBit(timestamp: EpochMs): number {
  return 1 << (Math.floor(timestamp / slotMs) - Math.floor(timestamp / hourMs) * slotsAnHour);
}

/** Notes that a value was seen at the time, and whether it means occupied. */
export function markSlot(slots: OccupiedSlots, timestamp: EpochMs, occupied: boolean): void {
  const hour = Math.floor(timestamp / hourMs);
  slots.set(hour, (slots.get(hour) ?? 0) | (occupied ? slotBit(timestamp) : 0));
}

/** Joins two sets of slots. */
export function mergeSlots(into: OccupiedSlots, from: OccupiedSlots): void {
  for (const [hour, mask] of from) into.set(hour, (into.get(hour) ?? 0) | mask);
}

/** How many slots are both occupied and counted. */
export function occupiedCount(slots: OccupiedSlots, counted: CountedSlots): number {
  let occupied = 0;
  for (const [hour, mask] of slots) occupied += bitCount(mask & counted.maskOf(hour));
  return occupied;
}

/** The number of ones among twelve bits. */
export function bitCount(mask: number): number {
  let ones = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) ones++;
  return ones;
}
