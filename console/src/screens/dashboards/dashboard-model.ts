// Dashboard model: its tiles on a grid of 12 columns, as the platform checks and stores them (contract 32).
import type { components } from '../../../generated/interface-types.ts';

export type Dashboard = components['schemas']['Dashboard'];
/** Of version 1, which the console draws. */
export type TileKind = (typeof tileKinds)[number];
export type Tile = components['schemas']['DashboardTile'] & { kind: TileKind };
export type TileSeries = components['schemas']['DashboardSeries'];
export type Threshold = components['schemas']['DashboardThreshold'];
export type Tone = Threshold['tone'];
export type Configuration = components['schemas']['DashboardConfiguration'] & { tiles: Tile[] };

export const tileKinds = ['value', 'line', 'bar', 'state', 'map', 'table', 'text'] as const;
const schema = 'heliograph-dashboard';
const version = 1;
const topicDefault = 'default';

/** Width and height of a new tile, in columns and rows. */
export const firstSizes: Readonly<Record<TileKind, readonly [width: number, height: number]>> = {
  value: [3, 2],
  line: [6, 5],
  bar: [6, 5],
  state: [3, 2],
  map: [6, 5],
  table: [6, 5],
  text: [6, 2],
};

/** Kinds that show one number or word of one series. */
export const hasOneSeries = (kind: TileKind): boolean => kind === 'value';
/** Kinds that show values; a map finds its positions itself. */
export const needsKeys = (kind: TileKind): boolean => kind !== 'text' && kind !== 'map';
/** Kinds that draw values over time, in buckets. */
export const isDrawn = (kind: TileKind): boolean => kind === 'line' || kind === 'bar';
export const hasThresholds = (kind: TileKind): boolean => kind === 'value' || kind === 'state';

export function configurationOf(
  tiles: readonly Tile[],
  timeZone?: string,
  last = 'PT24H',
): Configuration {
  return {
    schema,
    version,
    range: { last },
    tiles: [...tiles],
    ...(timeZone === undefined ? {} : { timeZone }),
  };
}

/** Undefined for the configuration of another client, which has its own form. */
export function readConfiguration(configuration: object): Configuration | undefined {
  if (Object.keys(configuration).length === 0) return configurationOf([]);
  const declared = configuration as Partial<Configuration>;
  // What declares this schema was checked when it was stored.
  if (declared.schema !== schema || declared.version !== version) return undefined;
  return declared as Configuration;
}

export function seriesOf({ series }: Tile): readonly TileSeries[] {
  return series ?? [];
}

/** Of the devices of a tag, each of which is a series; its tag is empty until it is chosen. */
export const isOfTag = ({ tagId }: TileSeries): boolean => tagId !== null && tagId !== undefined;

export const topicOf = ({ topic }: TileSeries): string => topic ?? topicDefault;

/** What a series is called where nothing better is known. */
export function labelOf(series: TileSeries): string {
  return series.label ?? valueOf(series);
}

/** The data key, or the text of the formula; empty until one is chosen. */
export const valueOf = ({ dataKey, expression }: TileSeries): string => dataKey ?? expression ?? '';

/** How values in the order of time are summed up, where the tile says it. */
export function orderOf({ interpolation, maxGap, per, state, resets }: TileSeries) {
  return {
    ...(interpolation && { interpolation }),
    ...(maxGap && { maxGap }),
    ...(per && { per }),
    ...(state !== null && state !== undefined && { state }),
    ...(resets && { resets }),
  };
}

/** The sensitivity of the expected range that is drawn; undefined for none. */
export function expectedOf({ expected }: TileSeries) {
  if (expected === true) return 'MEDIUM';
  return expected === false || expected === null ? undefined : expected;
}

/** The title, or the names of what the tile shows; empty for a list, which has them in its rows. */
export function titleOf(tile: Tile): string {
  const { title, kind } = tile;
  if (title !== null && title !== undefined && title !== '') return title;
  if (kind === 'table' || kind === 'map') return '';
  return [...new Set(seriesOf(tile).map(labelOf))].slice(0, 3).join(', ');
}

/** The threshold that a number has reached: the highest one that is not above it. */
export function thresholdOf(
  value: unknown,
  thresholds: readonly Threshold[] | null | undefined,
): Threshold | undefined {
  if (typeof value !== 'number') return undefined;
  const reached = (thresholds ?? []).filter(({ from }) => from <= value);
  return reached.toSorted((a, b) => b.from - a.from)[0];
}

/** An id that no tile has; short, because a person may read it in the configuration. */
export function freeId(tiles: readonly Tile[]): string {
  const taken = new Set(tiles.map(({ id }) => id));
  let number = tiles.length + 1;
  while (taken.has(`tile-${number}`)) number += 1;
  return `tile-${number}`;
}
