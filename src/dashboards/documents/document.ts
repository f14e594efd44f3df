// Document of a dashboard: its tiles with their data, as pages and mails show them (contract 39).
import type { Interval } from '../buckets.ts';
import type { Tile } from '../configuration.ts';
import type { Heatmap, Histogram } from '../distribution.ts';
import type { Plot, PlotColor } from '../plot.ts';
import type { StateRow } from '../states.ts';
import { csvLine, withoutFormula } from '../../structures/csv.ts';

export interface DashboardDocument {
  /** Also `/Title` of a PDF. */
  readonly title: string;
  /** The range with its zone. */
  readonly lead: string;
  readonly variables: readonly { readonly label: string; readonly value: string }[];
  /** Who made it, and when. */
  readonly footer: string;
  /** IANA name of the zone of all times. */
  readonly zone: string;
  readonly tiles: readonly DocumentTile[];
}

/** Place and size are columns and rows of the grid of the dashboard. */
export type DocumentTile = {
  readonly title: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
} & TileContent;

export type TileContent =
  | { readonly kind: 'chart'; readonly plot: Plot }
  | {
      readonly kind: 'histogram';
      readonly histogram: Histogram;
      readonly unit: string;
      readonly color: PlotColor;
    }
  | {
      readonly kind: 'heatmap';
      readonly heatmap: Heatmap;
      readonly unit: string;
      readonly color: PlotColor;
    }
  | {
      readonly kind: 'timeline';
      readonly interval: Interval;
      readonly rows: readonly StateRow[];
      readonly thresholds: Tile['thresholds'];
    }
  | { readonly kind: 'figures'; readonly figures: readonly Figure[] }
  | {
      readonly kind: 'table';
      readonly head: readonly string[];
      readonly rows: readonly (readonly string[])[];
      /** How many rows are omitted. */
      readonly rest: number;
    }
  /** Markdown, of which headings and paragraphs are shown. */
  | { readonly kind: 'text'; readonly text: string };

export interface Figure {
  readonly label: string;
  readonly value: string;
  readonly unit: string;
  readonly tone?: 'OK' | 'WARNING' | 'BAD' | undefined;
}

/** Rows of a table; what is beyond is counted. */
export const tableRowsMax = 200;

/** Tiles that are drawn as shapes, in a page or a picture. */
export type DrawnTile = Extract<
  DocumentTile,
  { readonly kind: 'chart' | 'histogram' | 'heatmap' | 'timeline' }
>;

const drawnKinds: ReadonlySet<DocumentTile['kind']> = new Set([
  'chart',
  'histogram',
  'heatmap',
  'timeline',
]);

export function isDrawn(tile: DocumentTile): tile is DrawnTile {
  return drawnKinds.has(tile.kind);
}

// Texts of documents: numbers and times as pages, pictures and mails show them.

const formats = new Map<string, Intl.DateTimeFormat>();
/** Zones and forms that are kept; others are made again. */
const formatsMax = 200;

function timeFormat(zone: string, name: string, options: Intl.DateTimeFormatOptions) {
  const key = `${name} ${zone}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone, hourCycle: 'h23' });
  if (formats.size >= formatsMax) formats.clear();
  formats.set(key, made);
  return made;
}

/** Fewer decimals the larger it is; thousands are grouped by a space that never breaks. */
export function numberText(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e15 || size < 1e-6)) return value.toExponential(3);
  const digits = size >= 1_000 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4;
  const [whole = '', fraction = ''] = value.toFixed(digits).split('.');
  const kept = fraction.replace(/0+$/, '');
  const grouped = whole.replaceAll(/\B(?=(\d{3})+(?!\d))/g, '\u00a0');
  return kept === '' ? grouped : `${grouped}.${kept}`;
}

/** `14:00`, and the day at midnight or where ticks are days. */
export function timeLabel(ms: number, zone: string, isDay: boolean): string {
  const clock = timeFormat(zone, 'clock', { hour: '2-digit', minute: '2-digit' }).format(ms);
  if (!isDay && clock !== '00:00') return clock;
  return timeFormat(zone, 'day', { day: 'numeric', month: 'short' }).format(ms);
}

/** `16 Nov 2026, 14:00`. */
export function momentText(ms: number, zone: string): string {
  return timeFormat(zone, 'moment', { dateStyle: 'medium', timeStyle: 'short' }).format(ms);
}

/** What a cell, a figure or a line of text shows for any value. */
export function valueText(value: unknown): string {
  if (typeof value === 'number') return numberText(value);
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

// CSV of a tile: a row for each time, and a column for each series (contract 39).

/** One series, or the newest value of one. */
export interface CsvColumn {
  readonly label: string;
  readonly unit: string;
  /** ISO-8601 date-times; a column has a value for each. */
  readonly timestamps: readonly string[];
  readonly values: readonly unknown[];
}

const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** Lines in the order of time, with times in the zone. Columns have the same times, or single ones. */
export function* tileCsv(columns: readonly CsvColumn[], zone: string): Generator<string> {
  yield csvLine([
    'time',
    ...columns.map(({ label, unit }) => guarded(unit === '' ? label : `${label} (${unit})`)),
  ]);
  const rows = new Map<number, unknown[]>();
  for (const [place, { timestamps, values }] of columns.entries())
    for (const [at, timestamp] of timestamps.entries()) {
      const ms = Date.parse(timestamp);
      const row = rows.get(ms) ?? [];
      row[place] = values[at];
      rows.set(ms, row);
    }
  for (const ms of [...rows.keys()].toSorted((a, b) => a - b)) {
    const row = rows.get(ms) ?? [];
    yield csvLine([timeOf(ms, zone), ...columns.map((_, place) => cellOf(row[place]))]);
  }
}

/** With the offset that the zone has at that time. */
function timeOf(ms: number, zone: string): string {
  const smallestUnit = ms % 1_000 === 0 ? 'second' : 'millisecond';
  return Temporal.Instant.fromEpochMilliseconds(ms).toString({ timeZone: zone, smallestUnit });
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return guarded(typeof value === 'string' ? value : JSON.stringify(value));
}

function guarded(text: string): string {
  return number.test(text) ? text : withoutFormula(text);
}
