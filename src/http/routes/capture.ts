// POST /v3/capture: a device hands in a payload and gets its answer when it is durable (contract 18).
import Type, { type Static } from 'typebox';
import {
  type CaptureQuery,
  captureBodyOf,
  webhookBodyOf,
} from '../../ingest/http/capture-request.ts';
import type { Capture, CaptureReceipt } from '../../flows/capture.ts';
import type { CaptureSenders } from '../../flows/capture-senders.ts';
import type { Webhook } from '../../flows/network-server-capture.ts';
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
  /** Finds the sender before the body is read, so that strangers cannot make the server read bodies. */
  readonly findSender: CaptureSenders['ofCapture'];
  readonly capture: (input: Capture) => Promise<CaptureReceipt>;
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
      admit: (headers, query) => parts.findSender(query as CaptureQuery, headers),
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
    handle: async ({ query, headers, body, bodyBytes }, found) => {
      const sender = await found.current();
      if (sender.kind === 'networkServer') {
        const { connector } = sender;
        const webhook = { connector, body: webhookBodyOf(body), bodyBytes, query };
        return receiptView(await parts.captureWebhook(webhook));
      }
      const { route, topic, timestamp } = sender;
      const done = await parts.capture({
        route,
        topic,
        timestamp,
        body: captureBodyOf(body),
        bodyBytes,
        idempotencyKey: idempotencyKeyOf(headers),
      });
      return receiptView(done);
    },
  });
}
