// States over time: the values of a data key as stretches of one value each (contract 39).
import type { Interval } from './buckets.ts';
import { type Threshold, thresholdOf } from './configuration.ts';
import type { PlotColor } from './plot.ts';

export interface Stretch {
  /** Epoch milliseconds, within the interval. */
  readonly fromMs: number;
  readonly toMs: number;
  /** As samples have it; never null. */
  readonly value: unknown;
}

/** The states of one series. */
export interface StateRow {
  readonly label: string;
  readonly stretches: readonly Stretch[];
}

/** More cannot be told apart in a row. */
const stretchesMax = 500;

/**
 * Stretches of equal values, oldest first. A value holds until the next one, the last until the end.
 * Of more than 500 stretches, those that hold at 500 instants are taken. Samples are in any order;
 * the newest of those before the interval says what its start has.
 */
export function stretchesOf(
  samples: readonly { readonly timestamp: string; readonly value: unknown }[],
  { fromMs, toMs }: Interval,
): readonly Stretch[] {
  const known = samples
    .map(({ timestamp, value }) => ({ at: Date.parse(timestamp), value }))
    .filter(({ at, value }) => value !== null && value !== undefined && at < toMs)
    .toSorted((a, b) => a.at - b.at);
  const first = known.findLastIndex(({ at }) => at <= fromMs);
  const shown = first < 0 ? known : known.slice(first);
  const held: { at: number; value: unknown }[] = [];
  for (const { at, value } of shown)
    if (held.length === 0 || !isSame(held.at(-1)?.value, value))
      held.push({ at: Math.max(at, fromMs), value });
  const stretches = held.map(({ at, value }, place) => ({
    fromMs: at,
    toMs: held[place + 1]?.at ?? toMs,
    value,
  }));
  return stretches.length > stretchesMax ? sampled(stretches, { fromMs, toMs }) : stretches;
}

function sampled(stretches: readonly Stretch[], { fromMs, toMs }: Interval): readonly Stretch[] {
  const step = (toMs - fromMs) / stretchesMax;
  const taken: Stretch[] = [];
  let place = 0;
  for (let slot = 0; slot < stretchesMax; slot++) {
    const at = fromMs + slot * step;
    while (place + 1 < stretches.length && (stretches[place]?.toMs ?? toMs) <= at) place += 1;
    const found = stretches[place];
    if (found === undefined || found.fromMs > at) continue;
    const last = taken.at(-1);
    if (last !== undefined && last.toMs === at && isSame(last.value, found.value))
      taken[taken.length - 1] = { ...last, toMs: at + step };
    else taken.push({ fromMs: at, toMs: at + step, value: found.value });
  }
  return taken;
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

// Colors of states.

const toneColors = { OK: '--ok', WARNING: '--warn', BAD: '--bad' } as const;
const paletteSize = 6;

/**
 * The color of each of the values: that of its threshold, else one of the palette, in an order that
 * stays where others arrive. False is pale.
 */
export function stateColors(
  thresholds: readonly Threshold[] | null | undefined,
  values: readonly unknown[],
): (value: unknown) => PlotColor {
  const names = [...new Set(values.map((value) => JSON.stringify(value)))].toSorted();
  return (value) => {
    const threshold = thresholdOf(value, thresholds);
    if (threshold !== undefined) return toneColors[threshold.tone];
    if (value === false) return '--line-strong';
    return `--c${(names.indexOf(JSON.stringify(value)) % paletteSize) + 1}`;
  };
}
