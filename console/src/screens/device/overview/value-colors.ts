// Colors of values: the palette in its order, the same for a value in its tile and its chart.

const paletteSize = 6;

/** Token of the n-th value that is a number; a value that is not one has the first. */
export function colorOf(at: number): `--${string}` {
  return `--c${(Math.max(0, at) % paletteSize) + 1}`;
}
