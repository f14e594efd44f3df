// Distributions of values: histogram and heatmap (contract 39).

export interface Histogram {
  /** Where the first bin begins. */
  readonly from: number;
  readonly width: number;
  readonly counts: readonly number[];
}

const binsMax = 60;

/**
 * Bins by the rule of Freedman and Diaconis: twice the distance of the quartiles divided by the
 * cube root of the count; of values without such a distance, a tenth of the range. Undefined without values.
 */
export function histogramOf(values: readonly number[]): Histogram | undefined {
  const sorted = values.filter((value) => Number.isFinite(value)).toSorted((a, b) => a - b);
  const [least] = sorted;
  const greatest = sorted.at(-1);
  if (least === undefined || greatest === undefined) return undefined;
  const alike = { from: least - 0.5, width: 1, counts: [sorted.length] };
  if (least === greatest) return alike;
  const quartile = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? least;
  const distance = quartile(0.75) - quartile(0.25);
  const wanted = (2 * distance) / Math.cbrt(sorted.length) || (greatest - least) / 10;
  const bins = Math.min(binsMax, Math.max(1, Math.ceil((greatest - least) / wanted)));
  const width = (greatest - least) / bins;
  // Numbers so close to each other have no bins between them.
  if (width === 0) return alike;
  const counts = Array.from({ length: bins }, () => 0);
  for (const value of sorted) {
    const bin = Math.min(bins - 1, Math.floor((value - least) / width));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return { from: least, width, counts };
}

// Heatmap: values as one cell for each hour of each day of the zone (contract 39).

export interface Heatmap {
  readonly cells: readonly {
    /** Days since the first one. */
    readonly day: number;
    /** 0 to 23, of the clock. */
    readonly hour: number;
    readonly value: number;
    readonly timestamp: string;
  }[];
  readonly days: number;
  readonly least: number;
  readonly greatest: number;
}

const daySeconds = 86_400;
const hourSeconds = 3_600;

/** Undefined without values; `clock` turns epoch seconds into seconds that clocks of the zone show. */
export function heatmapOf(
  timestamps: readonly string[],
  values: readonly (number | null)[],
  clock: (seconds: number) => number,
): Heatmap | undefined {
  let [first, last, least, greatest] = [Infinity, -Infinity, Infinity, -Infinity];
  const found = timestamps.flatMap((timestamp, at) => {
    const value = values[at] ?? null;
    if (value === null) return [];
    const local = clock(Math.round(Date.parse(timestamp) / 1_000));
    const day = Math.floor(local / daySeconds);
    [first, last] = [Math.min(first, day), Math.max(last, day)];
    [least, greatest] = [Math.min(least, value), Math.max(greatest, value)];
    return [{ day, hour: Math.floor((local % daySeconds) / hourSeconds), value, timestamp }];
  });
  if (found.length === 0) return undefined;
  const cells = found.map((cell) => ({ ...cell, day: cell.day - first }));
  return { cells, days: last - first + 1, least, greatest };
}

/** From 0 for the least value to 1 for the greatest. */
export function shareOf({ least, greatest }: Heatmap, value: number): number {
  return greatest === least ? 1 : (value - least) / (greatest - least);
}
