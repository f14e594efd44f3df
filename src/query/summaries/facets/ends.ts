// Facet `ends`: the earliest and the latest value as numbers.
import type { EpochMs } from '../../../model/instant.ts';
import { type Facet, isNumeric, numberOf, type Tally } from '../facet.ts';

export interface EndsTally extends Tally {
  /** NaN when the value is not a number or a boolean, or when there is none. */
  first: number;
  /** Infinity without a value. */
  firstAt: EpochMs;
  /** Place in the order of storing: decides between values of one instant. */
  firstOrder: number;
  last: number;
  /** -Infinity without a value. */
  lastAt: EpochMs;
  lastOrder: number;
}

export const ends: Facet<EndsTally> = {
  start: () => ({
    count: 0,
    first: Number.NaN,
    firstAt: Number.POSITIVE_INFINITY,
    firstOrder: 0,
    last: Number.NaN,
    lastAt: Number.NEGATIVE_INFINITY,
    lastOrder: 0,
  }),
  add: (tally, value, timestamp, order) => {
    const number = numberOf(value);
    takeFirst(tally, number, timestamp, order);
    takeLast(tally, number, timestamp, order);
  },
  merge: (into, from) => {
    if (from.firstAt !== Number.POSITIVE_INFINITY)
      takeFirst(into, from.first, from.firstAt, from.firstOrder);
    if (from.lastAt !== Number.NEGATIVE_INFINITY)
      takeLast(into, from.last, from.lastAt, from.lastOrder);
  },
  reads: () => true,
  fromColumn: (tally, { kind, values, timestamps, orders }, from, to) => {
    const numberAt = (i: number): number => (isNumeric(kind) ? values[i]! : Number.NaN);
    takeFirst(tally, numberAt(from), timestamps[from]!, orders[from]!);
    takeLast(tally, numberAt(to - 1), timestamps[to - 1]!, orders[to - 1]!);
  },
  isSettled: ({ firstAt, lastAt }, oldest, newest) => firstAt < oldest && lastAt > newest,
};

// Of two values with the same time and order, the first taken stays the first and the last taken
// becomes the last, so
// that adding or merging in the order of storing needs no order numbers.
function takeFirst(into: EndsTally, value: number, at: EpochMs, order: number): void {
  if (at > into.firstAt || (at === into.firstAt && order >= into.firstOrder)) return;
  into.first = value;
  into.firstAt = at;
  into.firstOrder = order;
}

function takeLast(into: EndsTally, value: number, at: EpochMs, order: number): void {
  if (at < into.lastAt || (at === into.lastAt && order < into.lastOrder)) return;
  into.last = value;
  into.lastAt = at;
  into.lastOrder = order;
}
