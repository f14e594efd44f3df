// Endpoints that take payloads of devices and messages of network servers (contract 18, 35).
import Type from 'typebox';
import { type Payload, payloadBytesMax } from '../model/payload.ts';
import { endpoint } from './endpoint.ts';
import { namedObject } from './named.ts';
import { list, oneOf } from './record-fields.ts';

// API schema of samples that were taken and not stored (contract 42).

/** Live clients, rules and other outputs got them nevertheless. */
export const notStoredSamples = list(
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
