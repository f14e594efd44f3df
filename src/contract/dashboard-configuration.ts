// API schema of the configuration of a dashboard: tiles on a grid of 12 columns (contract 32, 37).
import Type from 'typebox';
import { namedObject } from './named.ts';
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
  dataKey: Type.String({ minLength: 1, maxLength: 500 }),
  accumulator: optional(Type.String({ maxLength: 100 })),
  label: optional(text),
  unit: optional(text),
  color: optional(Type.String({ maxLength: 100 })),
});

const threshold = namedObject('DashboardThreshold', {
  from: Type.Number({ description: 'Values from here on, up to the next threshold' }),
  tone: oneOf(['OK', 'WARNING', 'BAD']),
  label: optional(Type.String({ maxLength: 100 })),
});

const tile = namedObject('DashboardTile', {
  id: Type.String({ minLength: 1, maxLength: 100, description: 'Unique in the dashboard' }),
  kind: oneOf(tileKinds),
  title: optional(text),
  x: Type.Integer({ minimum: 0, maximum: columns - 1, description: 'First column, from 0' }),
  y: Type.Integer({ minimum: 0, maximum: rowsMax, description: 'First row, from 0' }),
  width: Type.Integer({ minimum: 1, maximum: columns }),
  height: Type.Integer({ minimum: 1, maximum: rowsMax }),
  series: optional(
    Type.Array(series, {
      maxItems: seriesMax,
      description: 'Required for value, line, bar and state; of one device or of those of a tag',
    }),
  ),
  text: optional(
    Type.String({ maxLength: 100_000, description: 'Required for that kind; Markdown' }),
  ),
  bucketInterval: optional(Type.String({ maxLength: 100, description: 'ISO-8601 duration' })),
  thresholds: optional(
    Type.Array(threshold, { maxItems: thresholdsMax, description: 'What its numbers mean' }),
  ),
});

/** Further members are kept, in the configuration and in its tiles. */
export const dashboardConfiguration = namedObject('DashboardConfiguration', {
  schema: Type.Literal(dashboardSchemaName),
  version: Type.Literal(dashboardSchemaVersion),
  timeZone: optional(Type.String({ maxLength: 100, description: 'IANA name' })),
  range: optional(
    Type.Object(
      {
        last: Type.Optional(Type.String({ maxLength: 100, description: 'ISO-8601 duration' })),
        from: Type.Optional(Type.String({ maxLength: 100 })),
        to: Type.Optional(Type.String({ maxLength: 100 })),
      },
      { description: 'One range for all tiles: the last hours or days, or from and to' },
    ),
  ),
  tiles: Type.Array(tile, { maxItems: tilesMax }),
});
