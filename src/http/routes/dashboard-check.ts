// Check of dashboard configurations that declare the schema of the platform (contract 32, 39).
import Type, { type Static } from 'typebox';
import {
  dashboardConfiguration,
  dashboardSchemaName,
  dashboardSchemaVersions,
  firstTileKinds,
} from '../../contract/dashboard-configuration.ts';
import { dashboards } from '../../contract/dashboards.ts';
import { ExpressionError, parseExpression } from '../../query/expressions/parse.ts';
import { fixedDurationMs, parseIsoDuration } from '../../model/iso-duration.ts';
import type { JsonObject } from '../../model/json.ts';
import { problem, Problem } from '../../model/problem.ts';
import { kinds, pointsNamed } from '../../dashboards/configuration.ts';
import { readDuration } from '../../query/accumulation.ts';
import { calculationFault, pointsName } from '../../query/many-series.ts';
import { requestChecks } from '../edge/request-validation.ts';

type Configuration = Static<typeof dashboardConfiguration>;
type Tile = Configuration['tiles'][number];
type Series = NonNullable<Tile['series']>[number];
type Variable = NonNullable<Configuration['variables']>[number];
type Variables = ReadonlyMap<string, Variable>;

const { body: checkBody } = requestChecks({
  ...dashboards.create,
  body: Type.Object({ configuration: dashboardConfiguration }),
});

const gridColumns = 12;
const refreshLimits = { min: 'PT5S', max: 'P1D' } as const;

/**
 * Throws 400 for what does not fit the declared schema. A configuration without a declaration is
 * that of another client, and never refused.
 */
export function checkDashboardConfiguration(sent: JsonObject | null | undefined): void {
  if (sent?.['schema'] !== dashboardSchemaName) return;
  if (!dashboardSchemaVersions.some((version) => version === sent['version']))
    refuse(`version: must be 1 or 2 of ${dashboardSchemaName}`);
  const { configuration } = checkBody({ configuration: sent }) as {
    readonly configuration: Configuration;
  };
  const fault = configuration.version === 1 ? undefined : faultOfConfiguration(configuration);
  if (fault !== undefined) refuse(fault);
  const variables = new Map((configuration.variables ?? []).map((one) => [one.name, one]));
  const ids = new Set<string>();
  for (const [place, tile] of configuration.tiles.entries()) {
    const { id, x, width } = tile;
    let tileFault: string | undefined;
    if (ids.has(id)) tileFault = '.id: must be unique';
    else if (x + width > gridColumns) tileFault = '.width: the tile exceeds the 12-column grid';
    else tileFault = configuration.version === 1 ? firstFault(tile) : faultOf(tile, variables);
    tileFault ??= faultOfEverySeries(tile, variables) ?? faultOfCalculations(tile, variables);
    if (tileFault !== undefined) refuse(`tiles.${place}${tileFault}`);
    ids.add(id);
  }
}

function refuse(reason: string): never {
  throw problem('invalidRequest', { reason: `body configuration.${reason}` });
}

/** The member and what it needs; undefined for none. */
function faultOfConfiguration({ refresh, compare, variables }: Configuration): string | undefined {
  const pause = isSet(refresh) ? fixedDurationMs(refresh, refreshLimits) : undefined;
  if (typeof pause === 'string') return `refresh: ${pause}`;
  const period = isSet(compare) && compare !== 'PREVIOUS' ? parseIsoDuration(compare) : undefined;
  if (period !== undefined && 'reason' in period)
    return `compare: must be PREVIOUS or a duration: ${period.reason}`;
  const names = new Set<string>();
  for (const [place, variable] of (variables ?? []).entries()) {
    const fault = names.has(variable.name) ? '.name: must be unique' : faultOfVariable(variable);
    if (fault !== undefined) return `variables.${place}${fault}`;
    names.add(variable.name);
  }
  return undefined;
}

function faultOfVariable(variable: Variable): string | undefined {
  const { kind, fieldMetaId, multiple } = variable;
  if (kind === 'CUSTOM_FIELD' && !isSet(fieldMetaId))
    return '.fieldMetaId: is required for kind CUSTOM_FIELD';
  for (const member of ['deviceTypeId', 'tagId', 'placeId'] as const)
    if (isSet(variable[member]) && kind !== 'DEVICE')
      return `.${member}: only narrows a variable of kind DEVICE`;
  if (Array.isArray(variable.default) && multiple !== true)
    return '.default: must be one value, because multiple is not true';
  return undefined;
}

// Tiles: what each kind needs.

const firstKinds: ReadonlySet<Tile['kind']> = new Set(firstTileKinds);
const needSeries: ReadonlySet<Tile['kind']> = new Set(['value', 'line', 'bar', 'state']);

/** The member and what it needs, behind the place of the tile; undefined for none. */
function firstFault(tile: Tile): string | undefined {
  const { kind, series, text } = tile;
  if (!firstKinds.has(kind)) return `.kind: ${kind} requires version 2 of the configuration`;
  if (needSeries.has(kind) && (series ?? []).length === 0)
    return `.series: is required for kind ${kind}`;
  return kind === 'text' && !text ? `.${kind}: is required for this kind` : undefined;
}

function faultOf(tile: Tile, variables: Variables): string | undefined {
  const { kind, min, max, repeat } = tile;
  if (isSet(min) && isSet(max) && min >= max) return '.max: must be greater than min';
  if (isSet(repeat)) {
    const fault = variableFault(repeat, variables);
    if (fault !== undefined) return `.repeat: ${fault}`;
    if (variables.get(repeat)?.multiple !== true)
      return `.repeat: variable ${repeat} must have multiple: true`;
  }
  for (const side of ['left', 'right'] as const) {
    const axis = tile.axes?.[side];
    if (isSet(axis?.min) && isSet(axis.max) && axis.min >= axis.max)
      return `.axes.${side}.max: must be greater than min`;
  }
  return needsOfKind[kind]?.(tile, variables);
}

const needsOfKind: {
  readonly [Kind in Tile['kind']]?: (tile: Tile, variables: Variables) => string | undefined;
} = {
  text: ({ text }) => (text ? undefined : '.text: is required for this kind'),
  devices: ({ columns }) =>
    (columns ?? []).length > 0 ? undefined : '.columns: is required for kind devices',
  plan(tile, variables) {
    const fault = oneOfFault(tile, ['placeId', 'variable', 'blobId'], variables);
    if (fault !== undefined) return fault;
    for (const [place, mark] of (tile.marks ?? []).entries()) {
      const markFault = oneOfFault(mark, ['deviceId', 'variable'], variables);
      if (markFault !== undefined) return `.marks.${place}${markFault}`;
    }
    return undefined;
  },
  control(tile, variables) {
    const fault = oneOfFault(tile, ['deviceId', 'variable'], variables);
    if (fault !== undefined) return fault;
    if (!tile.label) return '.label: is required for kind control';
    if (!isSet(tile.downlink)) return '.downlink: is required for kind control';
    const { kind, options, min, max } = tile.input ?? {};
    if (kind === 'CHOICE' && (options ?? []).length === 0)
      return '.input.options: is required for kind CHOICE';
    return isSet(min) && isSet(max) && min >= max
      ? '.input.max: must be greater than min'
      : undefined;
  },
  links({ links }) {
    if ((links ?? []).length === 0) return '.links: is required for kind links';
    for (const [place, { dashboardId, url }] of (links ?? []).entries()) {
      if (isSet(dashboardId) === isSet(url))
        return `.links.${place}: set either dashboardId or url`;
      if (isSet(url) && !isHttps(url)) return `.links.${place}.url: must be an https URL`;
    }
    return undefined;
  },
};

function isHttps(url: string): boolean {
  return URL.parse(url)?.protocol === 'https:';
}

// Series: one source and one value.

function faultOfEverySeries(tile: Tile, variables: Variables): string | undefined {
  for (const [place, series] of (tile.series ?? []).entries()) {
    const fault =
      faultOfSeries(series, variables) ??
      combiningFault(series, tile.kind, variables) ??
      drawingFault(series, tile.kind);
    if (fault !== undefined) return `.series.${place}${fault}`;
  }
  return undefined;
}

function faultOfSeries(series: Series, variables: Variables): string | undefined {
  const { dataKey, expression } = series;
  const source = oneOfFault(series, ['deviceId', 'tagId', 'placeId', 'variable'], variables);
  if (source !== undefined) return source;
  const isFormula = isSet(expression);
  if (isFormula === (dataKey !== undefined)) return ': set either dataKey or expression';
  if (!isFormula) return undefined;
  try {
    parseExpression(expression);
    return undefined;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return `.expression: ${error.message} (character ${error.position + 1})`;
  }
}

function combiningFault(series: Series, kind: Tile['kind'], variables: Variables) {
  if (!isSet(series.across)) return undefined;
  if (kinds[kind].isCalculated !== true)
    return `.across: only ${calculatedKinds} tiles combine devices`;
  if (!isGroup(series, variables))
    return '.across: requires tagId, placeId, or a variable of kind TAG or PLACE';
  const { expected } = series;
  return isSet(expected) && expected !== false ? '.expected: cannot be set with across' : undefined;
}

/** Whether the source has devices that can be combined. */
function isGroup({ tagId, placeId, variable }: Series, variables: Variables): boolean {
  const { kind } = variables.get(variable ?? '') ?? {};
  return Boolean(tagId) || Boolean(placeId) || kind === 'TAG' || kind === 'PLACE';
}

/** What the query of the series would refuse. */
function drawingFault(series: Series, kind: Tile['kind']): string | undefined {
  const { dataKey, accumulator, state, expected } = series;
  const hasRange = isSet(expected) && expected !== false;
  if (hasRange && kind !== 'line') return '.expected: only line tiles draw an expected range';
  if (hasRange && dataKey === undefined) return '.expected: requires dataKey, not expression';
  if (accumulator === 'TIME_IN_STATE' && !isSet(state))
    return '.state: is required for TIME_IN_STATE';
  for (const member of ['maxGap', 'per'] as const) {
    const text = series[member];
    const fault = isSet(text) ? durationFault(text) : undefined;
    if (fault !== undefined) return `.${member}: ${fault}`;
  }
  return undefined;
}

/** As the query refuses it. */
function durationFault(text: string): string | undefined {
  try {
    readDuration('', text);
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.message.replace(/^.*?: /, '');
  }
}

// Calculations: formulas over the series of a tile that have a name.

const calculatedKinds = new Intl.ListFormat('en').format(
  Object.entries(kinds).flatMap(([kind, { isCalculated }]) => (isCalculated === true ? kind : [])),
);
/** Accumulators of one series that calculations name besides its own. */
const pointsMax = 8;

function faultOfCalculations(tile: Tile, variables: Variables): string | undefined {
  const { kind, repeat } = tile;
  const calculations = tile.calculations ?? [];
  const isCalculated = kinds[kind].isCalculated === true;
  if (calculations.length > 0 && !isCalculated)
    return `.calculations: only ${calculatedKinds} tiles show calculations`;
  if (calculations.length > 1 && kinds[kind].series === 'ONE')
    return `.calculations.1: ${kind} tiles show one calculation`;
  const byRef = new Map<string, Series>();
  for (const [place, series] of (tile.series ?? []).entries()) {
    const { ref, hidden } = series;
    const fault = isSet(ref)
      ? refFault(ref, series, { isCalculated, isTaken: byRef.has(ref), repeat, variables })
      : hidden === true
        ? '.hidden: requires ref, because only calculations read a hidden series'
        : undefined;
    if (fault !== undefined) return `.series.${place}${fault}`;
    if (isSet(ref)) byRef.set(ref, series);
  }
  const labels = new Set<string>();
  const points = new Map<string, Set<string>>();
  for (const [place, { as, expression }] of calculations.entries()) {
    const fault = labels.has(as)
      ? '.as: must be unique in the tile'
      : calculationFaultOf(expression, byRef, points);
    if (fault !== undefined) return `.calculations.${place}${fault}`;
    labels.add(as);
  }
  return undefined;
}

function refFault(
  ref: string,
  series: Series,
  {
    isCalculated,
    isTaken,
    repeat,
    variables,
  }: {
    readonly isCalculated: boolean;
    readonly isTaken: boolean;
    readonly repeat: string | null | undefined;
    readonly variables: Variables;
  },
): string | undefined {
  if (!isCalculated) return `.ref: only series of ${calculatedKinds} tiles are named`;
  if (isTaken) return '.ref: must be unique in the tile';
  if (!isName(ref)) return `.ref: ${ref} has a meaning of its own in formulas`;
  const { deviceId, variable, across } = series;
  const { kind, multiple } = variables.get(variable ?? '') ?? {};
  const isOne = isSet(across) || Boolean(deviceId) || kind === 'DEVICE';
  const isOnce = !isSet(variable) || multiple !== true || repeat === variable;
  return isOne && isOnce
    ? undefined
    : '.ref: requires a series of a single device, or of combined devices';
}

/** Whether a formula reads the word as a name. */
function isName(word: string): boolean {
  try {
    return parseExpression(word).inputs[0]?.kind === 'key';
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return false;
  }
}

/** Adds the accumulators that the formula names to `points`. */
function calculationFaultOf(
  text: string,
  byRef: ReadonlyMap<string, Series>,
  points: Map<string, Set<string>>,
): string | undefined {
  const at = (reason: string, position: number) =>
    `.expression: ${reason} (character ${position + 1})`;
  try {
    const fault = calculationFault(parseExpression(text), (ref, accumulator) =>
      accumulator === undefined ? byRef.has(ref) : pointsName(accumulator) !== undefined,
    );
    if (fault !== undefined) return at(fault.reason, fault.position);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return at(error.message, error.position);
  }
  for (const { ref, accumulator, position } of pointsNamed(text)) {
    const series = byRef.get(ref);
    if (series === undefined) continue;
    // In a text too, because the points are requested by what is written.
    if (pointsName(accumulator) === undefined)
      return at(`the series ${ref} has no accumulator ${accumulator}`, position);
    if (accumulator === 'TIME_IN_STATE' && !isSet(series.state))
      return at(`TIME_IN_STATE requires state in the series ${ref}`, position);
    const named = points.get(ref) ?? new Set();
    points.set(ref, named.add(accumulator));
    if (named.size > pointsMax)
      return at(`calculations name at most ${pointsMax} accumulators of a series`, position);
  }
  return undefined;
}

type Sources = {
  readonly [Name in 'deviceId' | 'tagId' | 'placeId' | 'blobId' | 'variable']?:
    | string
    | null
    | undefined;
};

/** Exactly one of the members is set, and a variable among them is declared. */
function oneOfFault(
  holder: Sources,
  members: readonly (keyof Sources)[],
  variables: Variables,
): string | undefined {
  const set = members.filter((member) => isSet(holder[member]) && holder[member] !== '');
  if (set.length !== 1) {
    const last = members.at(-1) ?? '';
    return `: set exactly one of ${members.slice(0, -1).join(', ')} and ${last}`;
  }
  if (!isSet(holder.variable)) return undefined;
  const fault = variableFault(holder.variable, variables);
  return fault === undefined ? undefined : `.variable: ${fault}`;
}

function variableFault(name: string, variables: Variables): string | undefined {
  const variable = variables.get(name);
  if (variable === undefined) return `no variable ${name} is declared`;
  return variable.kind === 'TEXT' ? `variable ${name} of kind TEXT names no device` : undefined;
}

function isSet<T>(value: T): value is NonNullable<T> {
  return value !== undefined && value !== null;
}
