// Heatmap: values as one cell for each hour of each day of the zone (contract 39).

interface HeatmapCell {
  /** Days since the first one. */
  readonly day: number;
  /** 0 to 23, of the clock. */
  readonly hour: number;
  readonly value: number;
  readonly timestamp: string;
}

export interface Heatmap {
  readonly cells: readonly HeatmapCell[];
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
