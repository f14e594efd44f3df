// Histogram: how often values occur, in bins of equal width (contract 39).

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
