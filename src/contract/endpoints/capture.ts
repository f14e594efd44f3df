// Endpoints that take payloads of devices and messages of network servers (contract 18, 35).
import Type from 'typebox';
import type { Json, JsonObject } from '../../model/json.ts';
import { endpoint } from '../endpoint.ts';
import { notStoredSamples } from '../kept-samples.ts';
import { namedObject } from '../named.ts';

const tag = 'Capture';
const captureBytesMax = 1024 * 1024;

/** The answer once a payload is durable. */
export const receiptSchema = namedObject('UplinkReceipt', {
  id: Type.String(),
  timestamp: Type.String({ format: 'date-time' }),
  message: Type.String(),
  stored: Type.Optional(
    Type.Integer({ description: 'Samples that were stored; absent for a repetition' }),
  ),
  notStored: Type.Optional(notStoredSamples),
});

const secretParameters = {
  secret: Type.Optional(Type.String({ description: 'Uplink secret; also header x-uplink-secret' })),
  uplinkSecret: Type.Optional(Type.String({ description: 'The same as secret' })),
} as const;
const topic = Type.Optional(
  Type.String({ description: 'Topic of the samples; `default` when absent' }),
);

const payload = Type.Unsafe<JsonObject | readonly Json[]>({ type: ['object', 'array'] });

export const capture = {
  payload: endpoint({
    method: 'POST',
    path: '/v3/capture',
    summary: 'Hand in the payload of a device',
    tag,
    access: {
      open: 'the uplink secret of the device connector is the credential',
      secret: 'uplinkSecret',
    },
    query: Type.Object({
      ...secretParameters,
      deviceId: Type.Optional(
        Type.String({ description: 'Physical device id; also header x-device-id' }),
      ),
      topic,
      timestamp: Type.Optional(
        Type.String({
          description:
            'ISO-8601 time of the measurement, or epoch milliseconds; the time of receipt when absent',
        }),
      ),
    }),
    body: payload,
    bodyTypes: {
      'application/json': payload,
      'application/senml+json': payload,
      'application/senml+cbor': Type.Unsafe({ type: 'string', format: 'binary' }),
    },
    status: 201,
    bodyBytesMax: captureBytesMax,
    jsonOfAnyType: true,
    readings: true,
    senml: true,
    response: receiptSchema,
  }),
  webhook: endpoint({
    method: 'POST',
    path: '/v3/capture/lora/:integrationId',
    summary: 'Hand in a message of a LoRaWAN network server, in its own form',
    tag,
    access: {
      open: 'the uplink secret of the integration is the credential',
      secret: 'uplinkSecret',
    },
    params: Type.Object({
      integrationId: Type.String({ description: 'Record id of the integration' }),
    }),
    query: Type.Object({
      ...secretParameters,
      topic,
      event: Type.Optional(
        Type.String({ description: 'The kind of event, as some servers name it' }),
      ),
    }),
    body: Type.Unsafe<JsonObject>({ type: 'object' }),
    status: 201,
    bodyBytesMax: captureBytesMax,
    response: receiptSchema,
  }),
} as const;
