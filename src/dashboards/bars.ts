// Bars: fine buckets added up to hours or days of the zone, exactly, also where clocks change.

type Points = Readonly<Record<string, readonly (number | null)[]>>;

const daySeconds = 86_400;
const lengths = [60, 300, 900, 1_800, 3_600, 10_800, 21_600, 43_200, daySeconds, 7 * daySeconds];
const barsMax = 32;
/** Of many series next to each other. */
const barsLeast = 8;

/** The shortest length of a bar that gives few enough of them, and no shorter than a bucket. */
export function barSeconds(rangeSeconds: number, bucketSeconds: number, seriesCount = 1): number {
  const most = Math.max(barsLeast, barsMax / Math.max(1, seriesCount));
  const fits = (one: number) => one >= bucketSeconds && rangeSeconds / one <= most;
  return lengths.find(fits) ?? Math.ceil(rangeSeconds / most / daySeconds) * daySeconds;
}

export function barsOf(
  timestamps: readonly string[],
  points: Points,
  {
    accumulator,
    seconds,
    clock,
  }: {
    readonly accumulator: string;
    readonly seconds: number;
    /** Epoch seconds to seconds that clocks of the zone show. */
    readonly clock: (seconds: number) => number;
  },
): {
  /** Epoch seconds at which each bar begins. */
  readonly starts: readonly number[];
  readonly values: readonly (number | null)[];
  readonly seconds: number;
} {
  const groups: { readonly key: number; readonly start: number; readonly at: number[] }[] = [];
  for (const [at, timestamp] of timestamps.entries()) {
    const start = Date.parse(timestamp) / 1_000;
    const key = Math.floor(clock(start) / seconds);
    const last = groups.at(-1);
    if (last?.key === key) last.at.push(at);
    else groups.push({ key, start, at: [at] });
  }
  const value = ({ at }: { readonly at: readonly number[] }) => folded(points, at, accumulator);
  return { starts: groups.map(({ start }) => start), values: groups.map(value), seconds };
}

function folded(points: Points, at: readonly number[], accumulator: string): number | null {
  const [only] = at;
  // A bar of one bucket has its value, also one that cannot be added up.
  if (at.length === 1 && only !== undefined) return points[accumulator]?.[only] ?? null;
  if (accumulator === 'AVG') return mean(points, at);
  const step = folds[accumulator];
  return step === undefined ? null : fold(points[accumulator], at, step);
}

function mean(points: Points, at: readonly number[]): number | null {
  let [sum, count] = [0, 0];
  for (const place of at) {
    const [average, weight] = [points['AVG']?.[place] ?? null, points['COUNT']?.[place] ?? 0];
    if (average === null) continue;
    sum += average * weight;
    count += weight;
  }
  return count === 0 ? null : sum / count;
}

type Fold = (before: number, next: number) => number;
const add: Fold = (before, next) => before + next;
const folds: Readonly<Record<string, Fold>> = {
  MIN: (before, next) => Math.min(before, next),
  MAX: (before, next) => Math.max(before, next),
  FIRST: (before) => before,
  LAST: (_, next) => next,
  SUM: add,
  COUNT: add,
  MATCHED_COUNT: add,
  UNMATCHED_COUNT: add,
  INCREASE: add,
  DELTA: add,
  INTEGRAL: add,
  DURATION_TRUE: add,
  TIME_IN_STATE: add,
};

/** Whether bars can be added up from finer buckets: not those of quantiles, rates and the like. */
export function hasBars(accumulator: string): boolean {
  return accumulator === 'AVG' || folds[accumulator] !== undefined;
}

function fold(
  values: readonly (number | null)[] | undefined,
  at: readonly number[],
  step: Fold,
): number | null {
  let result: number | null = null;
  for (const place of at) {
    const value = values?.[place] ?? null;
    if (value !== null) result = result === null ? value : step(result, value);
  }
  return result;
}
