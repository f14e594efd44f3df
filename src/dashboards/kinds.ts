// Kinds of tiles: one row for each, with what it shows and the size that a new one has.
import type { TileKind } from './configuration.ts';

interface KindOfTile {
  /** Width and height of a new tile, in columns and rows. */
  readonly size: readonly [width: number, height: number];
  /** How many series it shows: none, one, or several. */
  readonly series: 'NONE' | 'ONE' | 'MANY';
  /** Draws values over time, in buckets. */
  readonly isDrawn?: true;
  /** Shows formulas, and calculations with its series: over time, or of newest values. */
  readonly isCalculated?: true;
  /** Reads the newest values of its devices. */
  readonly isNewest?: true;
  /** Says what numbers mean. */
  readonly hasThresholds?: true;
}

export const kinds: Readonly<Record<TileKind, KindOfTile>> = {
  value: {
    size: [3, 2],
    series: 'ONE',
    isCalculated: true,
    isNewest: true,
    hasThresholds: true,
  },
  line: { size: [6, 5], series: 'MANY', isDrawn: true, isCalculated: true, hasThresholds: true },
  bar: { size: [6, 5], series: 'MANY', isDrawn: true, isCalculated: true, hasThresholds: true },
  state: { size: [3, 2], series: 'MANY', isCalculated: true, isNewest: true, hasThresholds: true },
  map: { size: [6, 5], series: 'MANY', isNewest: true },
  table: { size: [6, 5], series: 'MANY', isCalculated: true, isNewest: true },
  text: { size: [6, 2], series: 'NONE' },
  gauge: { size: [3, 3], series: 'ONE', isCalculated: true, isNewest: true, hasThresholds: true },
  heatmap: { size: [12, 5], series: 'ONE' },
  timeline: { size: [12, 3], series: 'MANY' },
  histogram: { size: [6, 5], series: 'MANY' },
  devices: { size: [12, 5], series: 'NONE', isNewest: true },
  alarms: { size: [6, 5], series: 'NONE' },
  plan: { size: [6, 6], series: 'NONE', isNewest: true },
  control: { size: [3, 4], series: 'NONE' },
  links: { size: [3, 2], series: 'NONE' },
};
