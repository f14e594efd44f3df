// API schema of the configuration of a dashboard: variables, and tiles on a grid of 12 columns (contract 32, 37, 39).
import Type, { type Static } from 'typebox';
import { id, namedObject, object, oneOf, optional, text } from './schema-parts.ts';
import { accumulatorOf, across, orderMembers } from './sample-queries.ts';
import { seriesRefPattern } from './series-queries.ts';

/** A configuration that names this schema is checked; any other is stored as it was sent. */
export const dashboardSchemaName = 'heliograph-dashboard';
/** Version 2 adds variables, kinds of tiles and settings of drawn tiles; version 1 stays valid. */
export const dashboardSchemaVersions = [1, 2] as const;

/** The kinds of version 1. */
export const firstTileKinds = ['value', 'line', 'bar', 'state', 'map', 'table', 'text'] as const;
const tileKinds = [
  ...firstTileKinds,
  'gauge',
  'heatmap',
  'timeline',
  'histogram',
  'devices',
  'alarms',
  'plan',
  'control',
  'links',
] as const;
const variableKinds = ['DEVICE', 'TAG', 'PLACE', 'CUSTOM_FIELD', 'TEXT'] as const;
const columns = 12;
const rowsMax = 1_000;
const tilesMax = 200;
const seriesMax = 50;
const thresholdsMax = 20;
const variablesMax = 20;
const calculationsMax = 20;
const listMax = 200;
const label = Type.String({ maxLength: 500 });
const variableName = Type.String({
  pattern: '^[a-z][A-Za-z0-9]{0,39}$',
  description: 'Name of a variable of the dashboard.',
});
const duration = Type.String({ maxLength: 100, description: 'ISO-8601 duration.' });
const values = Type.Union([
  Type.String({ maxLength: 500 }),
  Type.Array(Type.String({ maxLength: 500 }), { maxItems: listMax }),
]);

const variable = namedObject('DashboardVariable', {
  name: variableName,
  label: optional(label),
  kind: oneOf(variableKinds),
  deviceTypeId: optional(id),
  tagId: optional(id),
  placeId: optional(id),
  fieldMetaId: optional(id),
  options: optional(Type.Array(Type.String({ maxLength: 500 }), { maxItems: listMax })),
  multiple: optional(Type.Boolean()),
  default: optional(values),
});

/** How a line or a bar is drawn. */
const look = {
  unit: optional(text),
  color: optional(Type.String({ maxLength: 100 })),
  axis: optional(oneOf(['LEFT', 'RIGHT'])),
  style: optional(oneOf(['LINE', 'STEP', 'BAR', 'POINTS'])),
};

const series = namedObject('DashboardSeries', {
  deviceId: optional(id),
  tagId: optional(id),
  placeId: optional(id),
  variable: optional(variableName),
  topic: optional(text),
  dataKey: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'Data key. Set exactly one of `dataKey` and `expression`.',
    }),
  ),
  expression: optional(
    Type.String({
      minLength: 1,
      maxLength: 2_000,
      description:
        'Formula in place of the data key. For value, gauge, state, table, line, and bar tiles.',
    }),
  ),
  accumulator: optional(
    accumulatorOf('Accumulator per bucket. Defaults to the choice of the console.'),
  ),
  across: optional(
    Type.Unsafe<Static<typeof across>>({
      ...across,
      description:
        'Combines the devices of the tag or place, at most 1,000, to one series: how the values of a bucket, or their last values, are combined. For value, gauge, state, table, line, and bar tiles.',
    }),
  ),
  ...orderMembers,
  expected: optional(
    Type.Unsafe<boolean | 'LOW' | 'MEDIUM' | 'HIGH'>({
      enum: [true, false, 'LOW', 'MEDIUM', 'HIGH'],
      description:
        'Sensitivity of the expected range that a line tile draws around the series. `true` is `MEDIUM`. Requires a data key.',
    }),
  ),
  label: optional(text),
  ...look,
  ref: optional(
    Type.String({
      pattern: seriesRefPattern,
      description:
        'Name of the series in the calculations of its tile. Requires a single device, or `across`.',
    }),
  ),
  hidden: optional(
    Type.Boolean({
      description: 'Reads the series for calculations without drawing it. Requires `ref`.',
    }),
  ),
});

const calculation = namedObject('DashboardCalculation', {
  as: Type.String({ minLength: 1, maxLength: 100, description: 'Label, unique in the tile.' }),
  expression: Type.String({
    minLength: 1,
    maxLength: 2_000,
    description:
      'Formula over the values of a bucket, such as `a - b` or `a.MAX / 2`. A `ref` alone is the aggregation of its series.',
  }),
  ...look,
});

const axis = namedObject('DashboardAxis', {
  min: optional(Type.Number()),
  max: optional(Type.Number()),
  label: optional(label),
  scale: optional(oneOf(['LINEAR', 'LOG'])),
});

const column = namedObject('DashboardColumn', {
  dataKey: Type.String({ minLength: 1, maxLength: 500 }),
  topic: optional(text),
  label: optional(label),
  spark: optional(Type.Boolean()),
});

const mark = namedObject('DashboardMark', {
  deviceId: optional(id),
  variable: optional(variableName),
  topic: optional(text),
  dataKey: Type.String({ minLength: 1, maxLength: 500 }),
  x: Type.Number({ minimum: 0, maximum: 1 }),
  y: Type.Number({ minimum: 0, maximum: 1 }),
});

const planColor = namedObject('DashboardPlanColor', {
  topic: optional(text),
  dataKey: Type.String({ minLength: 1, maxLength: 500 }),
});

const controlInput = namedObject('DashboardControlInput', {
  key: Type.String({ minLength: 1, maxLength: 500 }),
  kind: oneOf(['NUMBER', 'SWITCH', 'CHOICE', 'TEXT']),
  min: optional(Type.Number()),
  max: optional(Type.Number()),
  options: optional(Type.Array(Type.String({ maxLength: 500 }), { maxItems: listMax })),
});

const link = namedObject('DashboardLink', {
  label: Type.String({ minLength: 1, maxLength: 500 }),
  dashboardId: optional(id),
  url: optional(Type.String({ maxLength: 2_000 })),
});

const threshold = namedObject('DashboardThreshold', {
  from: Type.Number({ description: 'Lower bound of the threshold, inclusive.' }),
  tone: oneOf(['OK', 'WARNING', 'BAD']),
  label: optional(Type.String({ maxLength: 100 })),
});

const tile = namedObject('DashboardTile', {
  id: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'Tile ID, unique in the dashboard.',
  }),
  kind: oneOf(tileKinds),
  title: optional(text),
  x: Type.Integer({
    minimum: 0,
    maximum: columns - 1,
    description: 'First column, starting at 0.',
  }),
  y: Type.Integer({ minimum: 0, maximum: rowsMax, description: 'First row, starting at 0.' }),
  width: Type.Integer({ minimum: 1, maximum: columns }),
  height: Type.Integer({ minimum: 1, maximum: rowsMax }),
  series: optional(
    Type.Array(series, {
      maxItems: seriesMax,
      description:
        'Series of one device or of the devices of a tag. Required for value, line, bar, and state tiles.',
    }),
  ),
  calculations: optional(
    Type.Array(calculation, {
      maxItems: calculationsMax,
      description:
        'Formulas over the series with a `ref`. For value, gauge, state, table, line, and bar tiles. Value and gauge tiles have one. Lists and figures calculate with the last values of the range.',
    }),
  ),
  text: optional(
    Type.String({ maxLength: 100_000, description: 'Markdown text. Required for text tiles.' }),
  ),
  bucketInterval: optional(Type.String({ maxLength: 100, description: 'ISO-8601 duration.' })),
  thresholds: optional(
    Type.Array(threshold, {
      maxItems: thresholdsMax,
      description: 'Ranges of values with their meaning, from the lowest.',
    }),
  ),
  thresholdStyle: optional(oneOf(['LINE', 'BAND', 'NONE'])),
  axes: optional(Type.Object({ left: optional(axis), right: optional(axis) })),
  legend: optional(
    Type.Object({
      place: optional(oneOf(['BOTTOM', 'RIGHT', 'NONE'])),
      figures: optional(Type.Array(oneOf(['LAST', 'MIN', 'AVG', 'MAX', 'SUM']), { maxItems: 5 })),
    }),
  ),
  repeat: optional(variableName),
  link: optional(
    Type.Object({
      dashboardId: id,
      variables: optional(Type.Record(variableName, values)),
    }),
  ),
  track: optional(Type.Boolean()),
  min: optional(Type.Number()),
  max: optional(Type.Number()),
  columns: optional(Type.Array(column, { maxItems: seriesMax })),
  filter: optional(object),
  placeId: optional(id),
  blobId: optional(id),
  deviceId: optional(id),
  variable: optional(variableName),
  marks: optional(Type.Array(mark, { maxItems: listMax })),
  colorBy: optional(planColor),
  label: optional(label),
  downlink: optional(object),
  input: optional(controlInput),
  confirm: optional(Type.Boolean()),
  links: optional(Type.Array(link, { maxItems: seriesMax })),
});

/** Further members are kept, in the configuration and in its tiles. */
export const dashboardConfiguration = namedObject('DashboardConfiguration', {
  schema: Type.Literal(dashboardSchemaName),
  version: Type.Union([Type.Literal(1), Type.Literal(2)]),
  timeZone: optional(Type.String({ maxLength: 100, description: 'IANA time zone.' })),
  range: optional(
    Type.Object(
      {
        last: Type.Optional(Type.String({ maxLength: 100, description: 'ISO-8601 duration.' })),
        from: Type.Optional(Type.String({ maxLength: 100 })),
        to: Type.Optional(Type.String({ maxLength: 100 })),
      },
      { description: 'Time range of all tiles: a relative duration, or `from` and `to`.' },
    ),
  ),
  refresh: optional(duration),
  compare: optional(
    Type.String({ maxLength: 100, description: '`PREVIOUS`, or an ISO-8601 duration.' }),
  ),
  annotations: optional(
    Type.Object({ alarms: optional(Type.Boolean()), notes: optional(Type.Boolean()) }),
  ),
  variables: optional(Type.Array(variable, { maxItems: variablesMax })),
  tiles: Type.Array(tile, { maxItems: tilesMax }),
});
