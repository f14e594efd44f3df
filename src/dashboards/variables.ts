// Variables of dashboards: their values, and the tiles with these values in place of names (contract 39).
import {
  type Configuration,
  kinds,
  refsNamed,
  seriesOf,
  type Tile,
  type TileCalculation,
  type TileSeries,
  type Variable,
} from './configuration.ts';

/** Values by the name of a variable; several of one that is `multiple`. */
export type VariableValues = ReadonlyMap<string, readonly string[]>;

const parameterPrefix = 'var.';

/** Values of the parameters `var.NAME` of an address or a request, which can be repeated. */
export function valuesIn(parameters: Iterable<readonly [string, string]>): VariableValues {
  const values = new Map<string, string[]>();
  for (const [parameter, value] of parameters) {
    if (!parameter.startsWith(parameterPrefix)) continue;
    const name = parameter.slice(parameterPrefix.length);
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  return values;
}

export function variablesOf({ variables }: Pick<Configuration, 'variables'>): readonly Variable[] {
  return variables ?? [];
}

/** The default of a variable; none without one. */
function defaultOf({ default: value }: Variable): readonly string[] {
  return value === null || value === undefined ? [] : [value].flat();
}

interface VariableFault {
  readonly name: string;
  /** Not declared, without a value, or with several values where there can be one. */
  readonly reason: 'UNKNOWN' | 'OPEN' | 'SEVERAL';
}

/** What keeps a dashboard from being read with the values; undefined for nothing. */
export function variableFault(
  configuration: Configuration,
  given: VariableValues,
): VariableFault | undefined {
  const variables = variablesOf(configuration);
  const known = new Set(variables.map(({ name }) => name));
  for (const name of given.keys()) if (!known.has(name)) return { name, reason: 'UNKNOWN' };
  for (const { name, multiple } of variables)
    if (multiple !== true && (given.get(name)?.length ?? 0) > 1) return { name, reason: 'SEVERAL' };
  const values = chosenValues(variables, [given]);
  const open = variables.find(({ name }) => !values.has(name));
  return open && { name: open.name, reason: 'OPEN' };
}

/**
 * Of each variable the first values that are named, else its default. Variables without a value and
 * values of variables that are not declared are left out.
 */
export function chosenValues(
  variables: readonly Variable[],
  named: readonly VariableValues[],
): VariableValues {
  const chosen = new Map<string, readonly string[]>();
  for (const variable of variables) {
    const lists = [...named.map((values) => values.get(variable.name)), defaultOf(variable)];
    const values = lists.find((list) => list !== undefined && list.length > 0);
    if (values === undefined) continue;
    chosen.set(variable.name, variable.multiple === true ? values : values.slice(0, 1));
  }
  return chosen;
}

// Sources: which devices a series is of, without the names of variables.

/**
 * One device, or all that belong to a tag, to a place and below it, to the workspace, or that have a
 * value in a custom field.
 */
export type Source =
  | { readonly kind: 'DEVICE' | 'TAG' | 'PLACE' | 'WORKSPACE'; readonly id: string }
  | { readonly kind: 'CUSTOM_FIELD'; readonly id: string; readonly value: string };

export const sourceKey = (source: Source): string =>
  JSON.stringify([source.kind, source.id, 'value' in source ? source.value : '']);

export interface BoundSeries
  extends Omit<TileSeries, 'deviceId' | 'tagId' | 'placeId' | 'variable'> {
  readonly source: Source;
  /** Of several devices, which the label does not tell apart; combined devices are one. */
  readonly isOfMany: boolean;
  /** Of a column of a list that shows the course of its values too. */
  readonly isSpark?: boolean;
}

export interface BoundCalculation extends TileCalculation {
  /** Names of the series that it reads. */
  readonly refs: readonly string[];
}

/** A tile whose series, texts, and links name no variable. */
export interface BoundTile extends Omit<Tile, 'series' | 'calculations'> {
  readonly series: readonly BoundSeries[];
  readonly calculations: readonly BoundCalculation[];
  /** Devices that the tile itself names, in place of `deviceId`, `placeId`, and `variable`. */
  readonly sources: readonly Source[];
}

/** Copies of a repeated tile. */
const copiesMax = 50;
const columns = 12;

interface Binding {
  readonly variables: ReadonlyMap<string, Variable>;
  readonly values: VariableValues;
  /** What a text shows for a value, such as the name of a device. */
  readonly nameOf: (variable: Variable, value: string) => string;
}

/**
 * The tiles with the values in place of variables, in their order. A series of a variable is one
 * series for each value, and none without a value. A tile that repeats is one tile for each value,
 * with the id `ID:value`; its copies fill the space beside it, then rows of their own.
 */
export function boundTiles(
  configuration: Pick<Configuration, 'tiles' | 'variables'>,
  values: VariableValues,
  nameOf: Binding['nameOf'],
): readonly BoundTile[] {
  const variables = new Map(variablesOf(configuration).map((one) => [one.name, one]));
  const binding = { variables, values, nameOf };
  const { tiles } = configuration;
  // Rows that copies add below a row, by that row: what begins there or further down moves by them.
  const added = new Map<number, number>();
  const copies = tiles.map((tile) => {
    const made = copiesOf(tile, tiles, values);
    const bottom = bottomOf(tile);
    const rows = Math.max(bottom, ...made.map(({ tile: copy }) => bottomOf(copy))) - bottom;
    added.set(bottom, Math.max(rows, added.get(bottom) ?? 0));
    return made;
  });
  const rowsAbove = (y: number) =>
    [...added].reduce((sum, [row, rows]) => (row <= y ? sum + rows : sum), 0);
  return copies.flatMap((made, at) => {
    const down = rowsAbove(tiles[at]?.y ?? 0);
    return made.map(({ tile, own }) =>
      boundTile({ ...tile, y: tile.y + down }, { ...binding, values: own }),
    );
  });
}

function copiesOf(
  tile: Tile,
  tiles: readonly Tile[],
  values: VariableValues,
): readonly {
  readonly tile: Tile;
  readonly own: VariableValues;
}[] {
  const { repeat, id, x, y, width, height } = tile;
  if (repeat === null || repeat === undefined) return [{ tile, own: values }];
  const beside = tiles.filter(
    (other) => other.x >= x + width && other.y < bottomOf(tile) && bottomOf(other) > y,
  );
  const right = Math.min(columns, ...beside.map((other) => other.x));
  const across = Math.max(1, Math.floor((right - x) / width));
  return (values.get(repeat) ?? []).slice(0, copiesMax).map((value, at) => {
    const place = { x: x + (at % across) * width, y: y + Math.floor(at / across) * height };
    return {
      tile: { ...tile, ...place, id: `${id}:${value}` },
      own: new Map(values).set(repeat, [value]),
    };
  });
}

function bottomOf({ y, height }: Tile): number {
  return y + height;
}

function boundTile(tile: Tile, binding: Binding): BoundTile {
  const { title, text, label } = tile;
  const texts = {
    ...(title && { title: withValues(title, binding) }),
    ...(text && { text: withValues(text, binding) }),
    ...(label && { label: withValues(label, binding) }),
  };
  const series = seriesOf(tile).flatMap((one) => boundSeries(one, binding));
  const marks = tile.marks?.flatMap(({ deviceId, variable, ...mark }) =>
    sourcesOf({ deviceId, variable }, binding).flatMap((source) =>
      source.kind === 'DEVICE' ? [{ ...mark, deviceId: source.id }] : [],
    ),
  );
  const link = tile.link && { link: boundLink(tile.link, binding) };
  const sources = sourcesOf(tile, binding);
  const refs = seriesOf(tile).flatMap(({ ref }) => ref ?? []);
  const calculations = shownCalculations(tile).map((one) => ({
    ...one,
    as: withValues(one.as, binding),
    refs: refsNamed(one.expression, refs),
  }));
  const bound = { ...tile, ...texts, ...(marks && { marks }), ...link, sources, calculations };
  if (tile.kind === 'devices') return { ...bound, ...devicesOf(tile, bound.sources) };
  // Hours of days are made of hours.
  const hourly = tile.kind === 'heatmap' && !tile.bucketInterval ? { bucketInterval: 'PT1H' } : {};
  return { ...bound, ...hourly, series };
}

/** A series of each value of a variable; combined devices are named by the value. */
function boundSeries(
  { deviceId, tagId, placeId, variable, label, ...one }: TileSeries,
  binding: Binding,
): BoundSeries[] {
  const sources = sourcesOf({ deviceId, tagId, placeId, variable }, binding);
  if (!one.across) {
    const isOfMany = sources.length > 1 || sources.some(({ kind }) => kind !== 'DEVICE');
    const named = label ? { label: withValues(label, binding) } : {};
    return sources.map((source) => ({ ...one, ...named, source, isOfMany }));
  }
  const declared = binding.variables.get(variable ?? '');
  return sources.map((source) => {
    if (declared === undefined)
      return { ...one, label: withValues(label ?? '', binding) || null, source, isOfMany: false };
    const values = new Map(binding.values).set(declared.name, [source.id]);
    const named = withValues(label ?? '', { ...binding, values });
    const name = named || binding.nameOf(declared, source.id);
    return { ...one, label: name, source, isOfMany: false };
  });
}

/** None of kinds that show none. */
function shownCalculations({ kind, calculations }: Tile): readonly TileCalculation[] {
  return kinds[kind].isCalculated === true ? (calculations ?? []) : [];
}

/** A series for each column of each device; the devices of the workspace, where the tile names none. */
function devicesOf({ columns }: Tile, named: readonly Source[]) {
  const sources: readonly Source[] = named.length === 0 ? [{ kind: 'WORKSPACE', id: '' }] : named;
  const series = (columns ?? []).flatMap(({ spark, ...column }) =>
    sources.map((source) => ({ ...column, source, isOfMany: true, isSpark: spark === true })),
  );
  return { sources, series };
}

/** A value of a link that is the name of a variable is the values of this one. */
function boundLink(
  { variables, ...link }: NonNullable<Tile['link']>,
  { values }: Binding,
): NonNullable<Tile['link']> {
  const given = Object.entries(variables ?? {}).flatMap(([name, written]) => {
    const found = [written].flat().flatMap((value) => {
      const [, variable] = wholePlaceholder.exec(value) ?? [];
      return variable === undefined ? [value] : (values.get(variable) ?? []);
    });
    return found.length === 0 ? [] : [[name, found] as const];
  });
  return { ...link, variables: Object.fromEntries(given) };
}

type Sent = string | null | undefined;

function sourcesOf(
  {
    deviceId,
    tagId,
    placeId,
    variable,
  }: {
    readonly deviceId?: Sent;
    readonly tagId?: Sent;
    readonly placeId?: Sent;
    readonly variable?: Sent;
  },
  binding: Binding,
): Source[] {
  if (deviceId) return [{ kind: 'DEVICE', id: deviceId }];
  if (tagId) return [{ kind: 'TAG', id: tagId }];
  if (placeId) return [{ kind: 'PLACE', id: placeId }];
  const declared = binding.variables.get(variable ?? '');
  if (declared === undefined) return [];
  return (binding.values.get(declared.name) ?? []).flatMap(
    (value) => sourceOf(declared, value) ?? [],
  );
}

function sourceOf({ kind, fieldMetaId }: Variable, value: string): Source | undefined {
  if (kind === 'TEXT') return undefined;
  return kind === 'CUSTOM_FIELD' ? { kind, id: fieldMetaId ?? '', value } : { kind, id: value };
}

// Texts: the names of variables in them.

const placeholder = /\{\{\s*([a-z][A-Za-z0-9]{0,39})\s*\}\}/g;

const wholePlaceholder = new RegExp(`^${placeholder.source}$`);

/** What names no declared variable stays as it is; a variable without a value leaves nothing. */
function withValues(text: string, { variables, values, nameOf }: Binding): string {
  return text.replaceAll(placeholder, (written, name: string) => {
    const variable = variables.get(name);
    if (variable === undefined) return written;
    return (values.get(name) ?? []).map((value) => nameOf(variable, value)).join(', ');
  });
}
