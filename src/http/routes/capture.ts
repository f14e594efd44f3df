// POST /v3/capture: a device hands in a payload and gets its answer when it is durable (contract 18).
import type { IncomingHttpHeaders } from 'node:http';
import Type, { type Static } from 'typebox';
import {
  type CaptureQuery,
  type CaptureRequest,
  captureBodyOf,
  captureDeviceIdOf,
  captureRequestOf,
  captureSecretOf,
  webhookBodyOf,
} from '../../ingest/http/capture-request.ts';
import type { Capture, CaptureReceipt } from '../../flows/capture.ts';
import type { Webhook } from '../../flows/network-server-capture.ts';
import type { DeviceConnector } from '../../model/connector.ts';
import { formatInstant } from '../../model/instant.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import { namedObject } from '../../contract/named.ts';
import { idempotencyKeyOf } from '../edge/idempotency-key.ts';
import { openRoute, type Route } from '../edge/route.ts';

export const captureBytesMax = 1024 * 1024;

/** What a sender is told when its payload is durable. */
export const receiptSchema = namedObject('UplinkReceipt', {
  id: Type.String(),
  timestamp: Type.String({ format: 'date-time' }),
  message: Type.String(),
});

export function receiptView({ id, receivedAt }: CaptureReceipt): Static<typeof receiptSchema> {
  return { id, timestamp: formatInstant(receivedAt), message: 'uplink received' };
}

export interface CaptureParts {
  /** Throws Problem for a wrong secret or device, so that strangers cannot make the server read bodies. */
  readonly admit: (request: CaptureRequest) => unknown;
  readonly capture: (input: Capture) => Promise<CaptureReceipt>;
  /** The connector of the uplink secret; throws Problem 401. */
  readonly connectorOf: (uplinkSecret: string) => DeviceConnector | Promise<DeviceConnector>;
  /** Takes what a network server sends for a connector with a decoding type. */
  readonly captureWebhook: (webhook: Webhook) => Promise<CaptureReceipt>;
}

export function captureRoute(parts: CaptureParts): Route {
  return openRoute({
    method: 'POST',
    path: '/v3/capture',
    summary: 'Hand in the payload of a device',
    tag: 'Capture',
    access: {
      open: 'the uplink secret of the device connector is the credential',
      secret: 'uplinkSecret',
      admit: (headers, query) => {
        const given = query as CaptureQuery;
        // A network server's webhook names its device in the body.
        const check = (one: DeviceConnector) =>
          isWebhook(one, given, headers)
            ? undefined
            : parts.admit(captureRequestOf(given, headers));
        const connector = parts.connectorOf(captureSecretOf(given, headers));
        return connector instanceof Promise ? connector.then(check) : check(connector);
      },
    },
    query: Type.Object({
      secret: Type.Optional(
        Type.String({ description: 'Uplink secret; also header x-uplink-secret' }),
      ),
      uplinkSecret: Type.Optional(Type.String({ description: 'The same as secret' })),
      deviceId: Type.Optional(
        Type.String({ description: 'Physical device id; also header x-device-id' }),
      ),
      topic: Type.Optional(
        Type.String({ description: 'Topic of the samples; `default` when absent' }),
      ),
      timestamp: Type.Optional(
        Type.String({
          description: 'ISO-8601 time of the measurement; the time of receipt when absent',
        }),
      ),
    }),
    body: Type.Unsafe<JsonObject | readonly Json[]>({ type: ['object', 'array'] }),
    status: 201,
    bodyBytesMax: captureBytesMax,
    jsonOfAnyType: true,
    response: receiptSchema,
    handle: async ({ query, headers, body, bodyBytes }) => {
      const connector = await parts.connectorOf(captureSecretOf(query, headers));
      if (isWebhook(connector, query, headers)) {
        const webhook = { connector, body: webhookBodyOf(body), bodyBytes, query };
        return receiptView(await parts.captureWebhook(webhook));
      }
      const done = await parts.capture({
        request: captureRequestOf(query, headers),
        body: captureBodyOf(body),
        bodyBytes,
        idempotencyKey: idempotencyKeyOf(headers),
      });
      return receiptView(done);
    },
  });
}

/** Network servers name the device in the body; with a device id it is a payload for the device of an integration. */
function isWebhook(
  connector: DeviceConnector,
  query: CaptureQuery,
  headers: IncomingHttpHeaders,
): boolean {
  if (connector.decodingType !== 'NONE') return true;
  return connector.integrationId !== null && captureDeviceIdOf(query, headers) === undefined;
}
