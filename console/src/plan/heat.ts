// Heat: values between devices on a plan by inverse distance weighting, on a small grid that ends where devices are far.

/** Cells along each side. */
export const heatSide = 64;

/** A measured value; `x` and `y` are fractions of the plan. */
export interface HeatPoint {
  readonly x: number;
  readonly y: number;
  readonly value: number;
}

export interface Heat {
  /** By row from the top; NaN where no device is near. */
  readonly cells: Float64Array;
  readonly min: number;
  readonly max: number;
}

/** Of the distance between neighbors: farther than this from every device nothing is estimated. */
const reach = 1.5;
const weightedRadii = 3;

/**
 * Returns undefined without points. `aspect` is the width of the plan divided by its height, so that
 * distances are those of the picture.
 */
export function heatOf(points: readonly HeatPoint[], aspect: number): Heat | undefined {
  const sources = sourcesOf(points, aspect);
  if (sources.length === 0) return undefined;
  const values = sources.map(({ value }) => value);
  const cell = { width: aspect / heatSide, height: 1 / heatSide };
  // At least a cell, or devices beside each other would reach the middle of none.
  const radius = Math.max(
    reach * neighborDistance(sources, aspect),
    Math.hypot(cell.width, cell.height),
  );
  // Devices that are farther still count a little, so that the colors have no edge where one begins to.
  const weighted = radius * weightedRadii;
  const sums = new Float64Array(heatSide * heatSide);
  const isNear = new Uint8Array(heatSide * heatSide);
  const weights = new Float64Array(heatSide * heatSide);
  for (const { x, y, value } of sources) {
    const columns = rangeOf(x, weighted, cell.width);
    const rows = rangeOf(y, weighted, cell.height);
    for (let row = rows.from; row <= rows.to; row++)
      for (let column = columns.from; column <= columns.to; column++) {
        const dx = (column + 0.5) * cell.width - x;
        const dy = (row + 0.5) * cell.height - y;
        const squared = dx * dx + dy * dy;
        if (squared > weighted * weighted) continue;
        const weight = 1 / Math.max(squared, 1e-9);
        const at = row * heatSide + column;
        if (squared <= radius * radius) isNear[at] = 1;
        sums[at] = (sums[at] ?? 0) + weight * value;
        weights[at] = (weights[at] ?? 0) + weight;
      }
  }
  const cells = sums.map((sum, at) => {
    return isNear[at] === 1 ? sum / (weights[at] ?? 1) : NaN;
  });
  return {
    cells,
    min: values.reduce((least, value) => Math.min(least, value), Infinity),
    max: values.reduce((most, value) => Math.max(most, value), -Infinity),
  };
}

function rangeOf(at: number, radius: number, size: number): { from: number; to: number } {
  return {
    from: Math.max(0, Math.floor((at - radius) / size)),
    to: Math.min(heatSide - 1, Math.floor((at + radius) / size)),
  };
}

/** Points in units of the height; those of one cell are one, so that thousands cost no more than the grid. */
function sourcesOf(points: readonly HeatPoint[], aspect: number): HeatPoint[] {
  const byCell = new Map<number, { x: number; y: number; value: number; count: number }>();
  for (const { x, y, value } of points) {
    if (!Number.isFinite(value)) continue;
    const column = Math.min(heatSide - 1, Math.floor(x * heatSide));
    const row = Math.min(heatSide - 1, Math.floor(y * heatSide));
    const at = row * heatSide + column;
    const sum = byCell.get(at) ?? { x: 0, y: 0, value: 0, count: 0 };
    byCell.set(at, {
      x: sum.x + x * aspect,
      y: sum.y + y,
      value: sum.value + value,
      count: sum.count + 1,
    });
  }
  return [...byCell.values()].map(({ x, y, value, count }) => ({
    x: x / count,
    y: y / count,
    value: value / count,
  }));
}

/** Sources whose neighbors are looked for; the mean of more is the same. */
const sampledMax = 200;

/** The mean distance of a source to its nearest one; the whole plan for a single one. */
function neighborDistance(sources: readonly HeatPoint[], aspect: number): number {
  if (sources.length < 2) return Math.hypot(aspect, 1);
  const step = Math.max(1, Math.floor(sources.length / sampledMax));
  const distances: number[] = [];
  for (let i = 0; i < sources.length; i += step) {
    const one = sources[i];
    if (one === undefined) continue;
    let nearest = Infinity;
    for (const [at, other] of sources.entries())
      if (at !== i) nearest = Math.min(nearest, Math.hypot(other.x - one.x, other.y - one.y));
    distances.push(nearest);
  }
  return distances.reduce((sum, distance) => sum + distance, 0) / distances.length;
}

// Colors of a scale from low to high, which differ in lightness too.

const stops: readonly (readonly [red: number, green: number, blue: number])[] = [
  [43, 76, 176],
  [88, 157, 146],
  [245, 184, 61],
  [185, 28, 28],
];

export type Color = readonly [red: number, green: number, blue: number];

/** `part` is from 0, the lowest value, to 1. */
export function heatColor(part: number): Color {
  const at = Math.min(1, Math.max(0, part)) * (stops.length - 1);
  const low = stops[Math.min(stops.length - 2, Math.floor(at))] ?? [0, 0, 0];
  const high = stops[Math.min(stops.length - 1, Math.floor(at) + 1)] ?? low;
  const between = at - Math.min(stops.length - 2, Math.floor(at));
  const mixed = (channel: 0 | 1 | 2) =>
    Math.round(low[channel] + (high[channel] - low[channel]) * between);
  return [mixed(0), mixed(1), mixed(2)];
}

/** Where the value is between the least and the greatest; the middle if these are equal. */
export function partOf(value: number, { min, max }: Pick<Heat, 'min' | 'max'>): number {
  return max > min ? (value - min) / (max - min) : 0.5;
}
