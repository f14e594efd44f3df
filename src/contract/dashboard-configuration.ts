// API schema of the configuration of a dashboard: tiles on a grid of 12 columns (contract 32, 37).
import Type from 'typebox';
import { namedObject } from './named.ts';
import { accumulatorOf } from './sample-queries.ts';
import { id, oneOf, optional, text } from './record-fields.ts';

/** A configuration that names this schema is checked; any other is stored as it was sent. */
export const dashboardSchemaName = 'heliograph-dashboard';
export const dashboardSchemaVersion = 1;

const tileKinds = ['value', 'line', 'bar', 'state', 'map', 'table', 'text'] as const;
const columns = 12;
const rowsMax = 1_000;
const tilesMax = 200;
const seriesMax = 50;
const thresholdsMax = 20;

const series = namedObject('DashboardSeries', {
  deviceId: optional(id),
  tagId: optional(id),
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
      description: 'Formula in place of the data key. For value, line, and bar tiles.',
    }),
  ),
  accumulator: optional(
    accumulatorOf('Accumulator per bucket. Defaults to the choice of the console.'),
  ),
  label: optional(text),
  unit: optional(text),
  color: optional(Type.String({ maxLength: 100 })),
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
});

/** Further members are kept, in the configuration and in its tiles. */
export const dashboardConfiguration = namedObject('DashboardConfiguration', {
  schema: Type.Literal(dashboardSchemaName),
  version: Type.Literal(dashboardSchemaVersion),
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
  tiles: Type.Array(tile, { maxItems: tilesMax }),
});
