// Document of a dashboard: its tiles with their data, as pages and mails show them (contract 39).
import type { Interval } from '../dashboards/buckets.ts';
import type { Tile } from '../dashboards/configuration.ts';
import type { Heatmap } from '../dashboards/heatmap.ts';
import type { Histogram } from '../dashboards/histogram.ts';
import type { Plot, PlotColor } from '../dashboards/plot.ts';
import type { StateRow } from '../dashboards/states.ts';

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
