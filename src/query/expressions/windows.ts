// Windows of expressions: averages, extremes, and changes of the values of the last minutes or hours (contract 38.1).
import type { EpochMs } from '../../model/instant.ts';
import type { Input, WindowFold } from './parse.ts';

export type WindowInput = Pick<Extract<Input, { kind: 'window' }>, 'fold' | 'windowMs' | 'perMs'>;

const hugeMin = 1e150;

/**
 * Sum of numbers, and for a deviation of their squares, with twice the digits of a number, so that a
 * value that leaves the window leaves nothing behind, and answers do not depend on where a query
 * begins.
 */
class Sums {
  count = 0;
  readonly #fold: WindowFold;
  /** Values whose squares could exceed any number; a window with one has no answer. */
  #huge = 0;
  readonly #sum = new DoubleDouble();
  readonly #squares = new DoubleDouble();

  constructor(fold: WindowFold) {
    this.#fold = fold;
  }

  change(value: number, sign: 1 | -1): void {
    this.count += sign;
    if (Math.abs(value) > hugeMin) {
      this.#huge += sign;
      return;
    }
    this.#sum.add(sign * value, 0);
    // They take ten times as long as the sum.
    if (this.#fold !== 'stddev') return;
    const [square, error] = product(value, value);
    this.#squares.add(sign * square, sign * error);
  }

  clear(): void {
    this.count = 0;
    this.#huge = 0;
    this.#sum.clear();
    this.#squares.clear();
  }

  /** NaN for null. */
  result(): number {
    if (this.count === 0 || this.#huge > 0) return Number.NaN;
    if (this.#fold === 'sum') return this.#sum.high;
    if (this.#fold === 'avg') return this.#sum.high / this.count;
    if (this.count < 2) return Number.NaN;
    // (squares * n - sum^2) / (n (n - 1)), with the digits that the difference takes away.
    const spread = new DoubleDouble();
    spread.add(...product(this.#squares.high, this.count));
    spread.add(this.#squares.low * this.count, 0);
    const [square, error] = product(this.#sum.high, this.#sum.high);
    spread.add(-square, -error);
    spread.add(-2 * this.#sum.high * this.#sum.low, 0);
    return Math.sqrt(Math.max(0, spread.high) / (this.count * (this.count - 1)));
  }
}

class DoubleDouble {
  high = 0;
  low = 0;

  add(high: number, low: number): void {
    const sum = this.high + high;
    const part = sum - this.high;
    const error = this.high - (sum - part) + (high - part) + this.low + low;
    this.high = sum + error;
    this.low = error - (this.high - sum);
  }

  clear(): void {
    this.high = 0;
    this.low = 0;
  }
}

/** The product and its rounding error (Dekker). */
function product(a: number, b: number): [number, number] {
  const value = a * b;
  const [aHigh, aLow] = split(a);
  const [bHigh, bLow] = split(b);
  return [value, aHigh * bHigh - value + aHigh * bLow + aLow * bHigh + aLow * bLow];
}

function split(value: number): [number, number] {
  const shifted = 134_217_729 * value;
  const high = shifted - (shifted - value);
  return [high, value - high];
}

/**
 * The values of a window in the order of time, as they come and go. A window ends with the moment it
 * is asked for, and does not contain the moment it begins with.
 */
export class ValueWindow {
  readonly #input: WindowInput;
  #times = new Float64Array(16);
  #values = new Float64Array(16);
  #from = 0;
  #to = 0;
  readonly #sums: Sums;
  /** Values that left since the sums were made. */
  #left = 0;
  /** Places of values before which no value is more extreme, most extreme first. */
  #extremes: number[] = [];
  #extremesFrom = 0;

  constructor(input: WindowInput) {
    this.#input = input;
    this.#sums = new Sums(input.fold);
  }

  add(at: EpochMs, value: number): void {
    if (this.#to === this.#times.length) this.#makeRoom();
    const place = this.#to++;
    this.#times[place] = at;
    this.#values[place] = value;
    const { fold } = this.#input;
    if (usesSums(fold)) this.#sums.change(value, 1);
    else if (fold === 'min' || fold === 'max') this.#addExtreme(place, value, fold);
  }

  /** NaN for null. Moments must not go back. */
  at(moment: EpochMs): number {
    const { fold, windowMs, perMs } = this.#input;
    const after = moment - windowMs;
    while (this.#from < this.#to && this.#times[this.#from]! <= after) {
      if (usesSums(fold)) this.#sums.change(this.#values[this.#from]!, -1);
      this.#from++;
      this.#left++;
    }
    const count = this.#to - this.#from;
    if (fold === 'count') return count;
    if (count === 0) {
      this.#sums.clear();
      return Number.NaN;
    }
    if (fold === 'min' || fold === 'max') {
      while (this.#extremes[this.#extremesFrom]! < this.#from) this.#extremesFrom++;
      return this.#values[this.#extremes[this.#extremesFrom]!]!;
    }
    if (usesSums(fold)) {
      // Values of very different size could leave a rest; it lasts for as many values at most.
      if (this.#left > count) this.#sumAgain();
      return this.#sums.result();
    }
    const newest = this.#to - 1;
    return changed(
      fold,
      perMs,
      [this.#times[this.#from]!, this.#values[this.#from]!],
      [this.#times[newest]!, this.#values[newest]!],
    );
  }

  #sumAgain(): void {
    this.#left = 0;
    this.#sums.clear();
    for (let i = this.#from; i < this.#to; i++) this.#sums.change(this.#values[i]!, 1);
  }

  #addExtreme(place: number, value: number, fold: 'min' | 'max'): void {
    const isBehind = (last: number) => (fold === 'min' ? last >= value : last <= value);
    while (
      this.#extremes.length > this.#extremesFrom &&
      isBehind(this.#values[this.#extremes.at(-1) ?? 0]!)
    )
      this.#extremes.pop();
    this.#extremes.push(place);
  }

  /** Drops what left, or doubles. */
  #makeRoom(): void {
    const count = this.#to - this.#from;
    const size = Math.max(16, count * 2);
    const [times, values] = [new Float64Array(size), new Float64Array(size)];
    times.set(this.#times.subarray(this.#from, this.#to));
    values.set(this.#values.subarray(this.#from, this.#to));
    this.#extremes = this.#extremes
      .slice(this.#extremesFrom)
      .filter((place) => place >= this.#from)
      .map((place) => place - this.#from);
    this.#extremesFrom = 0;
    [this.#times, this.#values, this.#from, this.#to] = [times, values, 0, count];
  }
}

/** The answer of a window with these values, in the order of time; NaN for null. */
export function foldValues(
  { fold, perMs }: WindowInput,
  times: ArrayLike<number>,
  values: ArrayLike<number>,
  from: number,
  to: number,
): number {
  if (fold === 'count') return to - from;
  if (to <= from) return Number.NaN;
  if (usesSums(fold)) {
    const sums = new Sums(fold);
    for (let i = from; i < to; i++) sums.change(values[i]!, 1);
    return sums.result();
  }
  if (fold === 'change' || fold === 'rate')
    return changed(fold, perMs, [times[from]!, values[from]!], [times[to - 1]!, values[to - 1]!]);
  let extreme = values[from]!;
  for (let i = from + 1; i < to; i++)
    extreme = fold === 'min' ? Math.min(extreme, values[i]!) : Math.max(extreme, values[i]!);
  return extreme;
}

function usesSums(fold: WindowFold): fold is 'avg' | 'sum' | 'stddev' {
  return fold === 'avg' || fold === 'sum' || fold === 'stddev';
}

function changed(
  fold: 'change' | 'rate',
  perMs: number,
  [oldestAt, oldest]: readonly [number, number],
  [newestAt, newest]: readonly [number, number],
): number {
  if (fold === 'change') return newest - oldest;
  return newestAt === oldestAt ? Number.NaN : ((newest - oldest) / (newestAt - oldestAt)) * perMs;
}
