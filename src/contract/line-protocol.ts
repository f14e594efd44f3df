// Endpoints of InfluxDB senders: writes of version 1 and 2, the ping and the creation of a database.
import Type from 'typebox';
import { type BodyStream, endpoint } from './endpoint.ts';
import { namedObject } from './named.ts';

const tag = 'InfluxDB senders';
/** The default of the server that they know. */
const bodyBytesMax = 25_000_000;

const access = {
  open: 'Authenticated by the uplink secret of the device connector, sent as the token or password.',
  secret: 'uplinkSecret',
} as const;
const points = Type.Unsafe<BodyStream>({
  type: 'string',
  description: 'Points in line protocol, optionally gzip-compressed.',
});
const precision = Type.Optional(
  Type.String({
    description: 'Timestamp precision: n, ns, u, us, ms, s, m, or h. Defaults to ns.',
  }),
);
const credentials = {
  u: Type.Optional(Type.String({ description: 'Any value; ignored.' })),
  p: Type.Optional(
    Type.String({ description: 'Uplink secret. Can also be sent as the Basic password.' }),
  ),
} as const;
const database = Type.Optional(Type.String({ description: 'Any value; ignored.' }));
const refusalOne = namedObject('InfluxError', { error: Type.String() });
const refusalTwo = namedObject('InfluxV2Error', {
  code: Type.String(),
  message: Type.String(),
  line: Type.Optional(Type.Integer({ description: 'First rejected line, starting at 1.' })),
});

const statements = {
  path: '/query',
  tag,
  access,
  query: Type.Object({
    q: Type.Optional(
      Type.String({ description: 'InfluxQL statements. Can also be sent as a form field.' }),
    ),
    db: database,
    ...credentials,
  }),
  response: namedObject('InfluxResults', {
    results: Type.Array(
      Type.Object({
        statement_id: Type.Integer(),
        series: Type.Optional(
          Type.Array(
            Type.Object({
              name: Type.Optional(Type.String()),
              columns: Type.Array(Type.String()),
              values: Type.Array(Type.Array(Type.Unknown())),
            }),
          ),
        ),
      }),
    ),
  }),
  refusalSchema: refusalOne,
} as const;

export const lineProtocol = {
  write: endpoint({
    method: 'POST',
    path: '/write',
    operationId: 'writePointsV1',
    summary: 'Write points (InfluxDB 1.x)',
    description:
      'Accepts line protocol from InfluxDB 1.x clients such as Telegraf and stores the points as samples.',
    tag,
    access,
    query: Type.Object({
      db: database,
      rp: database,
      consistency: Type.Optional(Type.String()),
      precision,
      ...credentials,
    }),
    body: points,
    bodyTypes: { 'text/plain': points },
    bodyBytesMax,
    streamedBody: true,
    anyBodyType: true,
    readings: true,
    refusalSchema: refusalOne,
  }),
  writeTwo: endpoint({
    method: 'POST',
    path: '/api/v2/write',
    operationId: 'writePointsV2',
    summary: 'Write points (InfluxDB 2.x)',
    description:
      'Accepts line protocol from InfluxDB 2.x clients and stores the points as samples.',
    tag,
    access,
    query: Type.Object({ org: database, orgID: database, bucket: database, precision }),
    body: points,
    bodyTypes: { 'text/plain': points },
    bodyBytesMax,
    streamedBody: true,
    anyBodyType: true,
    readings: true,
    refusalSchema: refusalTwo,
  }),
  ping: endpoint({
    method: 'GET',
    path: '/ping',
    operationId: 'pingInflux',
    summary: 'Ping (InfluxDB)',
    description: 'Returns 204 so that InfluxDB clients recognize the server.',
    tag,
    access: { open: 'No authentication.' },
    answerHeaders: { 'X-Influxdb-Version': 'The version whose interface is answered' },
  }),
  query: endpoint({
    ...statements,
    method: 'POST',
    operationId: 'createInfluxDatabase',
    summary: 'Run a query (InfluxDB 1.x)',
    description:
      'Accepts `CREATE DATABASE`, which changes nothing, and returns the results of `SHOW DATABASES` and `SHOW RETENTION POLICIES`. Rejects every other statement.',
    body: Type.Optional(Type.Unsafe<BodyStream>({ type: 'string' })),
    bodyBytesMax: 64 * 1024,
    streamedBody: true,
    anyBodyType: true,
  }),
  show: endpoint({
    ...statements,
    method: 'GET',
    operationId: 'showInflux',
    summary: 'Run a read-only query (InfluxDB 1.x)',
    description:
      'Returns the results of `SHOW DATABASES` and `SHOW RETENTION POLICIES`. Rejects every other statement.',
  }),
} as const;
