// Endpoints of InfluxDB senders: writes of version 1 and 2, the ping and the creation of a database.
import Type from 'typebox';
import type { BodyStream } from '../endpoint.ts';
import { endpoint } from '../endpoint.ts';
import { namedObject } from '../named.ts';

const tag = 'InfluxDB senders';
/** The default of the server that they know. */
const bodyBytesMax = 25_000_000;

const access = {
  open: 'the uplink secret of the device connector is the credential: token, or password',
  secret: 'uplinkSecret',
} as const;
const points = Type.Unsafe<BodyStream>({
  type: 'string',
  description: 'Points in line protocol, also compressed with gzip',
});
const precision = Type.Optional(
  Type.String({ description: 'Of timestamps: n, ns, u, us, ms, s, m or h; ns when absent' }),
);
const credentials = {
  u: Type.Optional(Type.String({ description: 'Any user name' })),
  p: Type.Optional(Type.String({ description: 'The uplink secret; also as password of Basic' })),
} as const;
const database = Type.Optional(Type.String({ description: 'Any name' }));
const refusalOne = namedObject('InfluxError', { error: Type.String() });
const refusalTwo = namedObject('InfluxV2Error', {
  code: Type.String(),
  message: Type.String(),
  line: Type.Optional(Type.Integer({ description: 'The first line that was refused, from 1' })),
});

const statements = {
  path: '/query',
  tag,
  access,
  query: Type.Object({
    q: Type.Optional(Type.String({ description: 'The statements; also in a form' })),
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
    summary: 'Write points as to InfluxDB 1',
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
    refusalSchema: refusalOne,
  }),
  writeTwo: endpoint({
    method: 'POST',
    path: '/api/v2/write',
    operationId: 'writePointsV2',
    summary: 'Write points as to InfluxDB 2',
    tag,
    access,
    query: Type.Object({ org: database, orgID: database, bucket: database, precision }),
    body: points,
    bodyTypes: { 'text/plain': points },
    bodyBytesMax,
    streamedBody: true,
    anyBodyType: true,
    refusalSchema: refusalTwo,
  }),
  ping: endpoint({
    method: 'GET',
    path: '/ping',
    operationId: 'pingInflux',
    summary: 'Answer the ping of InfluxDB senders',
    tag,
    access: { open: 'it says nothing' },
    answerHeaders: { 'X-Influxdb-Version': 'The version whose interface is answered' },
  }),
  query: endpoint({
    ...statements,
    method: 'POST',
    operationId: 'createInfluxDatabase',
    summary: 'Answer CREATE DATABASE and SHOW, which InfluxDB senders send before they write',
    body: Type.Optional(Type.Unsafe<BodyStream>({ type: 'string' })),
    bodyBytesMax: 64 * 1024,
    streamedBody: true,
    anyBodyType: true,
  }),
  show: endpoint({
    ...statements,
    method: 'GET',
    operationId: 'showInflux',
    summary:
      'Answer SHOW DATABASES and SHOW RETENTION POLICIES, by which InfluxDB senders look before they write',
  }),
} as const;
