// Windows of expressions: averages, extremes, and changes of the values of the last minutes or hours (contract 38.1).
import type { EpochMs } from '../../model/instant.ts';
import type { Input, WindowFold } from './parse.ts';

export type WindowInput = Pick<Extract<Input, { kind: 'window' }>, 'fold' | 'windowMs' | 'perMs'>;

const hugeMin = 1e150;
/**
 * Largest ratio of two values whose sum, or whose squares' sum, is exact in two numbers for up to
 * 2,000 values, in whatever order they come and go.
 */
const exactRatioMax = 2 ** 40;
const exactSquaresRatioMax = 2 ** 20;
/** The squares of smaller values could lose digits. */
const exactSquaresMin = 1e-130;

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
  /** Of the values other than 0 that came since the sums were cleared, without their signs. */
  #smallest = Number.POSITIVE_INFINITY;
  #largest = 0;
  readonly #sum = new DoubleDouble();
  /** A value is the sum of two halves with 26 digits each, whose products are exact. */
  readonly #highSquares = new DoubleDouble();
  readonly #crossProducts = new DoubleDouble();
  readonly #lowSquares = new DoubleDouble();

  constructor(fold: WindowFold) {
    this.#fold = fold;
  }

  change(value: number, sign: 1 | -1): void {
    this.count += sign;
    const size = Math.abs(value);
    if (size > hugeMin) {
      this.#huge += sign;
      return;
    }
    if (size === 0) return;
    if (size < this.#smallest) this.#smallest = size;
    if (size > this.#largest) this.#largest = size;
    this.#sum.add(sign * value, 0);
    if (this.#fold !== 'stddev') return;
    const high = highHalf(value);
    const low = value - high;
    this.#highSquares.add(sign * high * high, 0);
    this.#crossProducts.add(sign * high * low, 0);
    this.#lowSquares.add(sign * low * low, 0);
  }

  /** Whether the sums are those of the values that are left, to the last digit. */
  get isExact(): boolean {
    if (this.#largest === 0) return true;
    if (this.#fold !== 'stddev') return this.#largest <= this.#smallest * exactRatioMax;
    return (
      this.#smallest >= exactSquaresMin && this.#largest <= this.#smallest * exactSquaresRatioMax
    );
  }

  clear(): void {
    this.count = 0;
    this.#huge = 0;
    this.#smallest = Number.POSITIVE_INFINITY;
    this.#largest = 0;
    this.#sum.clear();
    this.#highSquares.clear();
    this.#crossProducts.clear();
    this.#lowSquares.clear();
  }

  /** NaN for null. */
  result(): number {
    if (this.count === 0 || this.#huge > 0) return Number.NaN;
    if (this.#fold === 'sum') return this.#sum.high;
    if (this.#fold === 'avg') return this.#sum.high / this.count;
    if (this.count < 2) return Number.NaN;
    const squares = new DoubleDouble();
    squares.add(this.#highSquares.high, this.#highSquares.low);
    squares.add(2 * this.#crossProducts.high, 2 * this.#crossProducts.low);
    squares.add(this.#lowSquares.high, this.#lowSquares.low);
    // (squares * n - sum^2) / (n (n - 1)), with the digits that the difference takes away.
    const spread = new DoubleDouble();
    spread.add(...product(squares.high, this.count));
    spread.add(squares.low * this.count, 0);
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
  const [aHigh, bHigh] = [highHalf(a), highHalf(b)];
  const [aLow, bLow] = [a - aHigh, b - bHigh];
  return [value, aHigh * bHigh - value + aHigh * bLow + aLow * bHigh + aLow * bLow];
}

/** The first 26 digits of a number; what is left has 26 more (Veltkamp). */
function highHalf(value: number): number {
  const shifted = 134_217_729 * value;
  return shifted - (shifted - value);
}

/**
 * The values of a window in the order of time, as they come and go. A window ends with the moment it
 * is asked for, and does not contain the moment it begins with. A class of its own beside `GrowingWindow`, because
 * windows of queries have any number of values: to add values of very different size again at each step costs 160 us a row
 * for a deviation of 1,440 values, and reading values through a list makes a change take 60 ns in place of 20.
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

/** Numbers that are added at their end, by their place since the first that ever was. */
export interface GrowingNumbers {
  timeAt(place: number): EpochMs;
  /** NaN for what is no number. */
  numberAt(place: number): number;
}

/**
 * A window over the places of a growing list: a step of it costs what comes and what goes. It
 * answers what a new window with the same places does, to the last digit.
 */
export class GrowingWindow {
  readonly #input: WindowInput;
  readonly #sums: Sums;
  #from = 0;
  #to = 0;
  /** Places before which no number is more extreme, most extreme first, from `#extremesFrom` on. */
  #extremes: number[] = [];
  #extremesFrom = 0;

  constructor(input: WindowInput) {
    this.#input = input;
    this.#sums = new Sums(input.fold);
  }

  get from(): number {
    return this.#from;
  }

  get to(): number {
    return this.#to;
  }

  get bytes(): number {
    return 600 + 8 * this.#extremes.length;
  }

  folds({ fold, windowMs, perMs }: WindowInput): boolean {
    const own = this.#input;
    return own.fold === fold && own.windowMs === windowMs && own.perMs === perMs;
  }

  /** NaN for null. The places before the last `to` must be as they were then. */
  fold(list: GrowingNumbers, from: number, to: number): number {
    if (from < this.#from || from >= this.#to || to < this.#to) this.#begin(from);
    const { fold, perMs } = this.#input;
    for (let place = this.#to; place < to; place++) this.#add(list, place);
    for (let place = this.#from; place < from; place++) this.#remove(list, place);
    this.#from = from;
    this.#to = to;
    if (usesSums(fold)) return this.#summed(list);
    const { count } = this.#sums;
    if (fold === 'count') return count;
    if (count === 0) return Number.NaN;
    if (fold === 'min' || fold === 'max') return list.numberAt(this.#extremes[this.#extremesFrom]!);
    let [oldest, newest] = [from, to - 1];
    while (Number.isNaN(list.numberAt(oldest))) oldest++;
    while (Number.isNaN(list.numberAt(newest))) newest--;
    return changed(
      fold,
      perMs,
      [list.timeAt(oldest), list.numberAt(oldest)],
      [list.timeAt(newest), list.numberAt(newest)],
    );
  }

  #begin(from: number): void {
    this.#sums.clear();
    this.#extremes = [];
    this.#extremesFrom = 0;
    this.#from = from;
    this.#to = from;
  }

  #add(list: GrowingNumbers, place: number): void {
    const value = list.numberAt(place);
    if (Number.isNaN(value)) return;
    const { fold } = this.#input;
    if (usesSums(fold)) {
      this.#sums.change(value, 1);
      return;
    }
    this.#sums.count++;
    if (fold !== 'min' && fold !== 'max') return;
    while (this.#extremes.length > this.#extremesFrom) {
      const last = list.numberAt(this.#extremes.at(-1)!);
      if (fold === 'min' ? last < value : last > value) break;
      this.#extremes.pop();
    }
    this.#extremes.push(place);
  }

  #remove(list: GrowingNumbers, place: number): void {
    const value = list.numberAt(place);
    if (Number.isNaN(value)) return;
    if (usesSums(this.#input.fold)) {
      this.#sums.change(value, -1);
      return;
    }
    this.#sums.count--;
    if (this.#extremes[this.#extremesFrom] === place) this.#extremesFrom++;
    if (this.#extremesFrom < 64 || this.#extremesFrom * 2 < this.#extremes.length) return;
    this.#extremes = this.#extremes.slice(this.#extremesFrom);
    this.#extremesFrom = 0;
  }

  /** Values of very different size are added again, in their order. */
  #summed(list: GrowingNumbers): number {
    if (!this.#sums.isExact) {
      const [from, to] = [this.#from, this.#to];
      this.#begin(from);
      for (let place = from; place < to; place++) this.#add(list, place);
      this.#to = to;
    }
    return this.#sums.result();
  }
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
