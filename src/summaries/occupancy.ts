// OCCUPANCY: the share of the counted five-minute slots in which any value was true or greater than zero, in percent.
import type { Accumulator } from './accumulator.ts';
import { occupiedCount } from './occupied-slots.ts';

export const occupancy: Accumulator = {
  facet: 'occupied',
  finish: (partial, counted) =>
    partial.occupied === undefined || counted.total === 0
      ? null
      : (occupiedCount(partial.occupied, counted) / counted.total) * 100,
};
