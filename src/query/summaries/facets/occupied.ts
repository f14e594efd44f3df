// Facet `occupied`: the five-minute slots with a value that is true or greater than zero.
import { type Facet, isNumeric, numberOf, type Tally } from '../facet.ts';
import { hourMs } from '../../../model/instant.ts';
import { markSlot, mergeSlots, type OccupiedSlots, slotBit } from '../occupied-slots.ts';

interface OccupiedTally extends Tally {
  /** Has an item for every hour with a number or a boolean. */
  readonly slots: OccupiedSlots;
}

export const occupied: Facet<OccupiedTally> = {
  start: () => ({ count: 0, slots: new Map() }),
  add: (tally, value, timestamp) => {
    const number = numberOf(value);
    if (!Number.isNaN(number)) markSlot(tally.slots, timestamp, number > 0);
  },
  merge: (into, from) => mergeSlots(into.slots, from.slots),
  reads: isNumeric,
  fromColumn: ({ slots }, { values, timestamps }, from, to) => {
    let i = from;
    while (i < to) {
      const hour = Math.floor(timestamps[i]! / hourMs);
      const nextHourAt = (hour + 1) * hourMs;
      let mask = 0;
      for (; i < to && timestamps[i]! < nextHourAt; i++)
        if (values[i]! > 0) mask |= slotBit(timestamps[i]!);
      addMask(slots, hour, mask);
    }
  },
  fromHours: (tally, { counts, hours, slots }, from, to) => {
    for (let i = from; i < to; i++) if (counts[i]! > 0) addMask(tally.slots, hours[i]!, slots[i]!);
  },
};

function addMask(slots: OccupiedSlots, hour: number, mask: number): void {
  slots.set(hour, (slots.get(hour) ?? 0) | mask);
}
