// Endpoints that take samples: payloads of devices, messages of network servers, backfill, and InfluxDB senders (interface 4.3, contract 18, 35, 37).
import Type from 'typebox';
import { type Payload, payloadBytesMax } from '../model/payload.ts';
import { type BodyStream, endpoint } from './endpoint.ts';
import { list, namedObject, object, oneOf, optional } from './schema-parts.ts';
import type { Json } from '../model/json.ts';
import { deviceParams } from './sample-queries.ts';

// API schema of samples that were taken and not stored (contract 42).

/** Live clients, rules and other outputs got them nevertheless. */
const notStoredSamples = list(
  namedObject('NotStoredSamples', {
    topic: Type.String(),
    count: Type.Integer(),
    reason: oneOf(['NO_DATABASE_OUTPUT', 'TOPIC_FILTER', 'OLDER_THAN_RETENTION']),
  }),
);

const tag = 'Capture';

/** The answer once a payload is durable. */
export const receiptSchema = namedObject('UplinkReceipt', {
  id: Type.String(),
  timestamp: Type.String({ format: 'date-time' }),
  message: Type.String(),
  stored: Type.Optional(
    Type.Integer({ description: 'Number of stored samples. Absent for a repeated uplink.' }),
  ),
  notStored: Type.Optional(notStoredSamples),
});

const secretParameters = {
  secret: Type.Optional(
    Type.String({
      description: 'Uplink secret. Can also be sent in the `x-uplink-secret` header.',
    }),
  ),
  uplinkSecret: Type.Optional(Type.String({ description: 'Alias of `secret`.' })),
} as const;
const topic = Type.Optional(
  Type.String({ description: 'Topic of the samples. Defaults to `default`.' }),
);

const json = Type.Unsafe<Payload>({ type: ['object', 'array'] });
const bytes = Type.Unsafe<Payload>({ type: 'string', format: 'binary' });

export const capture = {
  payload: endpoint({
    method: 'POST',
    path: '/v3/capture',
    summary: 'Ingest an uplink',
    description:
      'Decodes the payload, stores its samples durably, and returns 201 once they are on disk. Accepts JSON, text, CBOR, forms, SenML, and any other bytes.',
    tag,
    access: {
      open: 'Authenticated by the uplink secret of the device connector.',
      secret: 'uplinkSecret',
    },
    query: Type.Object({
      ...secretParameters,
      deviceId: Type.Optional(
        Type.String({ description: 'Device ID. Can also be sent in the `x-device-id` header.' }),
      ),
      topic,
      timestamp: Type.Optional(
        Type.String({
          description:
            'ISO-8601 time of measurement, or epoch milliseconds. Defaults to the time of receipt.',
        }),
      ),
      port: Type.Optional(
        Type.String({
          description:
            'Port of a payload of text or bytes, 0 to 255. Can also be sent in the `x-port` header.',
        }),
      ),
    }),
    body: json,
    bodyTypes: {
      'application/json': json,
      'application/octet-stream': bytes,
      'application/cbor': bytes,
      'text/plain': Type.String(),
      'application/x-www-form-urlencoded': Type.Unsafe({ type: 'object' }),
      'application/senml+json': json,
      'application/senml+cbor': bytes,
    },
    status: 201,
    bodyBytesMax: payloadBytesMax,
    payload: true,
    readings: true,
    response: receiptSchema,
  }),
  webhook: endpoint({
    method: 'POST',
    path: '/v3/capture/lora/:integrationId',
    summary: 'Receive a network server webhook',
    description:
      "Accepts uplinks, joins, and downlink reports from a LoRaWAN network server in that server's own format.",
    tag,
    access: {
      open: 'Authenticated by the uplink secret of the integration.',
      secret: 'uplinkSecret',
    },
    params: Type.Object({
      integrationId: Type.String({ description: 'ID of the integration.' }),
    }),
    query: Type.Object({
      ...secretParameters,
      topic,
      event: Type.Optional(
        Type.String({ description: 'Event type, for servers that send it as a parameter.' }),
      ),
    }),
    body: Type.Unsafe<Payload>({ type: 'object' }),
    status: 201,
    bodyBytesMax: payloadBytesMax,
    payload: true,
    response: receiptSchema,
  }),
} as const;

// Schemas and endpoints of backfill (interface 4.3, contract 37).

/**
 * Samples are read one by one, each with a refusal of its own; this is what they should look like.
 */
const sampleFields = {
  data: object,
  topic: optional(Type.String({ description: 'Topic of the sample. Defaults to `default`.' })),
  timestamp: optional(
    Type.String({
      description:
        'ISO-8601 date-time, or epoch milliseconds as a number of 12 to 14 digits. Defaults to the current time.',
    }),
  ),
  meta: optional(object),
};
const sample = namedObject('BackfillSample', sampleFields);

const backfillBody = Type.Unsafe<Json>({
  type: 'object',
  description: 'Sample `{data, topic?, timestamp?, meta?}`, as in a bulk backfill.',
});
const bulkBackfillBody = Type.Array(sample);

const samplesBulkBody = Type.Array(
  namedObject('DeviceSample', {
    deviceId: Type.String({ description: 'Service ID or device ID of the device.' }),
    ...sampleFields,
  }),
);
const samplesBulkQuery = Type.Object({
  organizationId: optional(
    Type.String({ description: 'Organization of the devices, for users with several.' }),
  ),
});

export const rejectedSamples = list(
  namedObject('RejectedSample', {
    index: Type.Integer({ description: 'Index in the request, starting at 0.' }),
    errorCode: Type.String(),
    message: Type.String(),
  }),
);

const keptCounts = {
  stored: Type.Integer({
    description: 'Number of accepted samples that were stored. The others are in `notStored`.',
  }),
  notStored: Type.Optional(notStoredSamples),
} as const;

const backfillReceipt = namedObject('BackfillReceipt', {
  message: Type.String(),
  accepted: Type.Integer(),
  ...keptCounts,
  duplicates: Type.Integer({ description: 'Number of samples that were already stored.' }),
  rejected: rejectedSamples,
});

const bulkBackfillReceipt = namedObject('BulkBackfillReceipt', {
  accepted: Type.Integer(),
  ...keptCounts,
  duplicates: Type.Integer({ description: 'Number of samples that were already stored.' }),
  rejected: rejectedSamples,
});

const dataTag = 'Data';
const backfillAccess = { scope: 'asset', verb: 'update', resource: 'path' } as const;
/** As for an element of the bulk request. */
const sampleBytesMax = 1024 * 1024;
const bulkBytesMax = 64 * 1024 * 1024;
const ndjson = {
  'application/x-ndjson': Type.String({ description: 'One sample per line.' }),
} as const;

export const backfill = {
  single: endpoint({
    method: 'POST',
    path: '/v3/devices/:deviceId/backfill',
    summary: 'Backfill a sample',
    description:
      'Stores one sample for a device without running the decoder; outputs and rules process it.',
    tag: dataTag,
    access: backfillAccess,
    params: deviceParams,
    body: backfillBody,
    bodyBytesMax: sampleBytesMax,
    readings: true,
    status: 201,
    response: backfillReceipt,
  }),
  bulk: endpoint({
    method: 'POST',
    path: '/v3/devices/:deviceId/backfill/bulk',
    summary: 'Backfill samples for a device',
    description:
      'Stores many samples for one device from a JSON or NDJSON body, which is processed as it streams in.',
    tag: dataTag,
    access: backfillAccess,
    params: deviceParams,
    body: Type.Unsafe<BodyStream>(bulkBackfillBody),
    bodyTypes: { 'application/json': bulkBackfillBody, ...ndjson },
    streamedBody: true,
    bodyBytesMax: bulkBytesMax,
    status: 201,
    response: bulkBackfillReceipt,
  }),
  samples: endpoint({
    method: 'POST',
    path: '/v3/samples/bulk',
    summary: 'Backfill samples for many devices',
    description:
      'Stores samples for many devices from a JSON or NDJSON body; samples of devices that are unknown or not writable are rejected one by one.',
    tag: dataTag,
    access: { ...backfillAccess, resource: 'handler' },
    needsAlso: 'Checked per device.',
    query: samplesBulkQuery,
    body: Type.Unsafe<BodyStream>(samplesBulkBody),
    bodyTypes: { 'application/json': samplesBulkBody, ...ndjson },
    streamedBody: true,
    bodyBytesMax: bulkBytesMax,
    status: 201,
    response: bulkBackfillReceipt,
  }),
} as const;

// Endpoints of InfluxDB senders: writes of version 1 and 2, the ping and the creation of a database.

const lineProtocolTag = 'InfluxDB senders';
/** The default of the server that they know. */
const bodyBytesMax = 25_000_000;

const lineProtocolAccess = {
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
  tag: lineProtocolTag,
  access: lineProtocolAccess,
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
    tag: lineProtocolTag,
    access: lineProtocolAccess,
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
    tag: lineProtocolTag,
    access: lineProtocolAccess,
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
    tag: lineProtocolTag,
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
