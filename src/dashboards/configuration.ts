// Dashboard configuration: the tiles of both versions of the schema, and what they show (contract 32, 39).
import type { Static } from 'typebox';
import type { dashboardConfiguration } from '../contract/dashboard-configuration.ts';

export type Configuration = Static<typeof dashboardConfiguration>;
export type Tile = Configuration['tiles'][number];
export type TileKind = Tile['kind'];
export type TileSeries = NonNullable<Tile['series']>[number];
export type TileCalculation = NonNullable<Tile['calculations']>[number];
export type Variable = NonNullable<Configuration['variables']>[number];
export type Threshold = NonNullable<Tile['thresholds']>[number];
export type Tone = Threshold['tone'];

const schema = 'heliograph-dashboard';
const versions: readonly unknown[] = [1, 2];
const topicDefault = 'default';

/** A new configuration, of the newest version. */
export function configurationOf(
  tiles: readonly Tile[],
  timeZone?: string,
  last = 'PT24H',
): Configuration {
  return {
    schema,
    version: 2,
    range: { last },
    tiles: [...tiles],
    ...(timeZone === undefined ? {} : { timeZone }),
  };
}

/** Undefined for the configuration of another client, which has its own form. */
export function readConfiguration(stored: object): Configuration | undefined {
  if (Object.keys(stored).length === 0) return configurationOf([]);
  const declared = stored as Partial<Configuration>;
  // What declares this schema was checked when it was stored.
  if (declared.schema !== schema || !versions.includes(declared.version)) return undefined;
  return declared as Configuration;
}

/**
 * The configuration with other variables. Series of a variable that is gone are gone too, and so are
 * the calculations that name them.
 */
export function withVariables(
  { variables: _, ...configuration }: Configuration,
  variables: readonly Variable[],
): Configuration {
  const names = new Set(variables.map(({ name }) => name));
  const isKnown = (name: string | null | undefined) => !name || names.has(name);
  const tiles = configuration.tiles.map(({ repeat, variable, ...tile }) => ({
    ...withoutSeries(tile, (one) => !isKnown(one.variable)),
    ...(repeat && isKnown(repeat) && { repeat }),
    ...(variable && isKnown(variable) && { variable }),
  }));
  return { ...configuration, tiles, variables: [...variables] };
}

/** The tile without some of its series, and without the calculations that name them. */
export function withoutSeries<T extends Pick<Tile, 'series' | 'calculations'>>(
  tile: T,
  isGone: (series: TileSeries) => boolean,
): T {
  const gone = (tile.series ?? []).filter(isGone);
  const goneRefs = gone.flatMap(({ ref }) => ref ?? []);
  return {
    ...tile,
    ...(tile.series && { series: tile.series.filter((one) => !gone.includes(one)) }),
    ...(tile.calculations && {
      calculations: tile.calculations.filter(
        ({ expression }) => refsNamed(expression, goneRefs).length === 0,
      ),
    }),
  };
}

export function seriesOf({ series }: Pick<Tile, 'series'>): readonly TileSeries[] {
  return series ?? [];
}

const named = /[A-Za-z_][A-Za-z0-9_]*/g;

/** The names among `refs` that a calculation reads. */
export function refsNamed(expression: string, refs: readonly string[]): readonly string[] {
  const words = new Set(expression.match(named));
  return refs.filter((ref) => words.has(ref));
}

/** Points that a calculation names besides the first ones of a series, such as `a.MAX`. */
interface NamedPoints {
  readonly ref: string;
  /** In capitals. */
  readonly accumulator: string;
  /** Characters before it. */
  readonly position: number;
}

export function pointsNamed(expression: string): readonly NamedPoints[] {
  const points = expression.matchAll(/(?<![\w.])([A-Za-z_]\w*)\s*\.\s*([A-Za-z_]\w*)/g);
  return [...points].map(({ 1: ref = '', 2: accumulator = '', index }) => {
    return { ref, accumulator: accumulator.toUpperCase(), position: index };
  });
}

type Value = Pick<TileSeries, 'dataKey' | 'expression' | 'topic' | 'label' | 'hidden'>;

export const topicOf = ({ topic }: Value): string => topic ?? topicDefault;

/** What a series is called where nothing better is known. */
export function labelOf(series: Value): string {
  return series.label ?? valueOf(series);
}

/** The data key, or the text of the formula; empty until one is chosen. */
export const valueOf = ({ dataKey, expression }: Value): string => dataKey ?? expression ?? '';

/** The sensitivity of the expected range that is drawn; undefined for none. */
export function expectedOf({ expected }: Pick<TileSeries, 'expected'>) {
  if (expected === true) return 'MEDIUM';
  return expected === false || expected === null ? undefined : expected;
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

/** The title, or the names of what the tile shows; empty for a list, which has them in its rows. */
export function titleOf(tile: Titled): string {
  const { title, kind } = tile;
  if (title !== null && title !== undefined && title !== '') return title;
  if (kind === 'table' || kind === 'map' || kind === 'devices') return '';
  const calculations = tile.calculations ?? [];
  const isOfCalculation = calculations.length > 0 && (kind === 'value' || kind === 'gauge');
  const shown = (tile.series ?? []).filter(({ hidden }) => hidden !== true && !isOfCalculation);
  const names = [...shown.map(labelOf), ...calculations.map(({ as }) => as)];
  return [...new Set(names)].slice(0, 3).join(', ');
}

/** A tile, with or without the values of variables. */
export interface Titled {
  readonly kind: TileKind;
  readonly title?: string | null | undefined;
  readonly series?: readonly Value[] | null | undefined;
  readonly calculations?: readonly Pick<TileCalculation, 'as'>[] | null | undefined;
}

/** An id that no tile has; short, because a person may read it in the configuration. */
export function freeId(tiles: readonly Pick<Tile, 'id'>[]): string {
  const taken = new Set(tiles.map(({ id }) => id));
  let number = tiles.length + 1;
  while (taken.has(`tile-${number}`)) number += 1;
  return `tile-${number}`;
}

// Kinds of tiles: one row for each, with what it shows and the size that a new one has.

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
