// POST /v3/capture/lora/:integrationId: the webhook of a LoRaWAN network server (contract 35).
import type { IncomingHttpHeaders } from 'node:http';
import Type from 'typebox';
import type { CaptureReceipt } from '../../flows/capture.ts';
import type { Webhook } from '../../flows/network-server-capture.ts';
import {
  type CaptureQuery,
  captureSecretOf,
  webhookBodyOf,
} from '../../ingest/http/capture-request.ts';
import type { DeviceConnector } from '../../model/connector.ts';
import type { JsonObject } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';
import { openRoute, type Route } from '../edge/route.ts';
import { captureBytesMax, receiptSchema, receiptView } from './capture.ts';

export interface WebhookParts {
  /** The connector of the uplink secret; throws Problem 401. */
  readonly connectorOf: (uplinkSecret: string) => DeviceConnector | Promise<DeviceConnector>;
  readonly captureWebhook: (webhook: Webhook) => Promise<CaptureReceipt>;
}

export function webhookRoute(parts: WebhookParts): Route {
  const connectorOf = (query: unknown, headers: IncomingHttpHeaders) =>
    parts.connectorOf(captureSecretOf(query as CaptureQuery, headers));
  return openRoute({
    method: 'POST',
    path: '/v3/capture/lora/:integrationId',
    summary: 'Hand in a message of a LoRaWAN network server, in its own form',
    tag: 'Capture',
    access: {
      open: 'the uplink secret of the integration is the credential',
      secret: 'uplinkSecret',
      admit: (headers, query) => connectorOf(query, headers),
    },
    params: Type.Object({
      integrationId: Type.String({ description: 'Record id of the integration' }),
    }),
    query: Type.Object({
      secret: Type.Optional(
        Type.String({ description: 'Uplink secret; also header x-uplink-secret' }),
      ),
      uplinkSecret: Type.Optional(Type.String({ description: 'The same as secret' })),
      topic: Type.Optional(
        Type.String({ description: 'Topic of the samples; `default` when absent' }),
      ),
      event: Type.Optional(
        Type.String({ description: 'The kind of event, as some servers name it' }),
      ),
    }),
    body: Type.Unsafe<JsonObject>({ type: 'object' }),
    status: 201,
    bodyBytesMax: captureBytesMax,
    response: receiptSchema,
    handle: async ({ params, query, headers, body, bodyBytes }) => {
      const connector = await connectorOf(query, headers);
      if (connector.integrationId !== params.integrationId) {
        throw problem('secretNotOfIntegration', { integrationId: params.integrationId });
      }
      return receiptView(
        await parts.captureWebhook({ connector, body: webhookBodyOf(body), bodyBytes, query }),
      );
    },
  });
}
