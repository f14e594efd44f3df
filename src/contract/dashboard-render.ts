// Schemas and endpoint of the data of a dashboard as JSON, CSV, or PDF (contract 39).
import Type, { type Static } from 'typebox';
import { endpoint } from './endpoint.ts';
import { namedObject } from './named.ts';
import { idParams, oneOf, orNull, time } from './record-fields.ts';

const point = Type.Union([Type.Number(), Type.Null()]);
const label = Type.String({ description: 'Label of the series, or the name of its device.' });

const renderedSeries = namedObject('RenderedSeries', {
  deviceId: Type.String(),
  label,
  unit: Type.String({ description: 'Unit of the values. Empty without one.' }),
  topic: Type.String(),
  dataKey: Type.String({ description: 'Data key, or the text of the expression.' }),
  timestamps: Type.Array(Type.String({ format: 'date-time' }), {
    description: 'Start time of each bucket.',
  }),
  dataPoints: Type.Unsafe<Readonly<Record<string, readonly (number | null)[]>>>(
    Type.Record(Type.String(), Type.Array(point), {
      description: 'Values per bucket by accumulator. Null for empty buckets.',
    }),
  ),
});

const renderedValue = namedObject('RenderedValue', {
  deviceId: Type.String(),
  label,
  topic: Type.String(),
  dataKey: Type.String({ description: 'Data key, or the text of the expression.' }),
  timestamp: orNull(time),
  value: Type.Unknown({ description: 'Newest value. Null if the device has sent none.' }),
});

const renderedTile = namedObject('RenderedTile', {
  id: Type.String({
    description: 'Tile ID. A copy of a repeated tile has the ID `ID:value`.',
  }),
  kind: Type.String({ description: 'Kind of the tile.' }),
  title: Type.String({ description: 'Title with the values of variables. Empty without one.' }),
  series: Type.Array(renderedSeries, {
    description: 'Values over time, in order of series and device name.',
  }),
  latest: Type.Array(renderedValue, {
    description: 'Newest values, of tiles that show them.',
  }),
});

const renderedSchema = namedObject('RenderedDashboard', {
  range: Type.Object(
    {
      from: Type.String({ format: 'date-time', description: 'Start of the range, inclusive.' }),
      to: Type.String({ format: 'date-time', description: 'End of the range, exclusive.' }),
      timeZone: Type.String({ description: 'IANA time zone of the buckets.' }),
    },
    { description: 'Range of the values.' },
  ),
  tiles: Type.Array(renderedTile, { description: 'Tiles in the order of the dashboard.' }),
});

export type RenderedDashboard = Static<typeof renderedSchema>;

export const dashboardRender = {
  render: endpoint({
    method: 'GET',
    path: '/v3/dashboards/:id/render',
    tag: 'Dashboards',
    params: idParams,
    summary: 'Get the data of a dashboard',
    description:
      'Returns what the tiles of a dashboard show: as JSON, one tile as CSV, or all of them as PDF. Set a variable with `var.NAME`, repeated for several values; without one, its default applies.',
    access: { scope: 'dashboard', verb: 'read', resource: 'path', also: [['asset', 'read']] },
    query: Type.Object({
      format: Type.Optional(oneOf(['json', 'csv', 'pdf'])),
      last: Type.Optional(
        Type.String({
          description:
            'Length of the range up to now, an ISO-8601 duration. Defaults to the range of the dashboard.',
        }),
      ),
      from: Type.Optional(
        Type.String({ description: 'Start of the range, with `to` in place of `last`.' }),
      ),
      to: Type.Optional(Type.String({ description: 'End of the range, exclusive.' })),
      timeZone: Type.Optional(
        Type.String({
          description:
            'IANA time zone of buckets and times. Defaults to that of the dashboard, then of the workspace.',
        }),
      ),
      tile: Type.Optional(
        Type.String({ description: 'ID of the only tile to return. Required for CSV.' }),
      ),
    }),
    answerTypes: {
      'application/json': renderedSchema,
      'text/csv': Type.String(),
      'application/pdf': Type.String(),
    },
    answerHeaders: {
      'X-Missing-Glyphs':
        'Characters of a PDF that no font has, such as `U+4E2D`, which are drawn as boxes.',
    },
  }),
} as const;
