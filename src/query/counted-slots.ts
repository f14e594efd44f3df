// Which five-minute slots OCCUPANCY counts: those of the interval that have begun, within working hours if there are any.
import { bitCount, type CountedSlots, slotMs } from './summaries/occupied-slots.ts';
import { type EpochMs, hourMs } from '../model/instant.ts';

const slotsAnHour = hourMs / slotMs;
const allSlots = 0xfff;

/** Hour to the slots that are working time, as twelve bits; hours without any are absent. */
export type WorkingMasks = ReadonlyMap<number, number>;

/** The slots that overlap `from` to `to` and have begun at `now`; with `working`, only those. */
export function countedSlots(
  from: EpochMs,
  to: EpochMs,
  now: EpochMs,
  working?: WorkingMasks,
): CountedSlots {
  const first = Math.floor(from / slotMs);
  const end = Math.max(first, Math.ceil(Math.min(to, now) / slotMs));
  const inside = (hour: number) => {
    const skipped = Math.min(Math.max(first - hour * slotsAnHour, 0), slotsAnHour);
    const kept = Math.min(Math.max(end - hour * slotsAnHour, 0), slotsAnHour);
    return allSlots & (allSlots << skipped) & ((1 << kept) - 1);
  };
  if (working === undefined) return { total: end - first, maskOf: inside };
  const maskOf = (hour: number) => inside(hour) & (working.get(hour) ?? 0);
  let total = 0;
  for (let hour = Math.floor(first / slotsAnHour); hour * slotsAnHour < end; hour++)
    total += bitCount(maskOf(hour));
  return { total, maskOf };
}
