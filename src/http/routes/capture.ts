// POST /v3/capture: a device hands in a payload and gets its answer when it is durable (contract 18).
import Type from 'typebox';
import {
  type CaptureQuery,
  type CaptureRequest,
  captureBodyOf,
  captureRequestOf,
} from '../../ingest/capture-request.ts';
import type { Capture, CaptureReceipt } from '../../flows/capture.ts';
import { formatInstant } from '../../model/instant.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import { openRoute, type Route } from '../route.ts';

const captureBytesMax = 1024 * 1024;

export interface CaptureParts {
  /** Throws Problem for a wrong secret or device, so that strangers cannot make the server read bodies. */
  readonly admit: (request: CaptureRequest) => unknown;
  readonly capture: (input: Capture) => Promise<CaptureReceipt>;
}

export function captureRoute(parts: CaptureParts): Route {
  return openRoute({
    method: 'POST',
    path: '/v3/capture',
    summary: 'Hand in the payload of a device',
    tag: 'Capture',
    access: {
      open: 'the uplink secret of the device connector is the credential',
      admit: (headers, query) => parts.admit(captureRequestOf(query as CaptureQuery, headers)),
    },
    query: Type.Object({
      secret: Type.Optional(Type.String({ description: 'Uplink secret; also header x-uplink-secret' })),
      uplinkSecret: Type.Optional(Type.String({ description: 'The same as secret' })),
      deviceId: Type.Optional(Type.String({ description: 'Physical device id; also header x-device-id' })),
      topic: Type.Optional(Type.String({ description: 'Topic of the samples; `default` when absent' })),
      timestamp: Type.Optional(
        Type.String({ description: 'ISO-8601 time of the measurement; the time of receipt when absent' }),
      ),
    }),
    body: Type.Unsafe<JsonObject | readonly Json[]>({ type: ['object', 'array'] }),
    status: 201,
    bodyBytesMax: captureBytesMax,
    response: Type.Object({
      id: Type.String(),
      timestamp: Type.String({ format: 'date-time' }),
      message: Type.String(),
    }),
    handle: async ({ query, headers, body, bodyBytes }) => {
      const key = headers['idempotency-key'];
      const done = await parts.capture({
        request: captureRequestOf(query, headers),
        body: captureBodyOf(body),
        bodyBytes,
        idempotencyKey: typeof key === 'string' ? key : undefined,
      });
      return { id: done.id, timestamp: formatInstant(done.receivedAt), message: 'uplink received' };
    },
  });
}
