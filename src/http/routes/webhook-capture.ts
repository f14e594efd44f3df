// POST /v3/capture/lora/:integrationId: the webhook of a LoRaWAN network server (contract 35).
import Type from 'typebox';
import type { CaptureReceipt } from '../../flows/capture.ts';
import type { Webhook } from '../../flows/network-server-capture.ts';
import type { CaptureSenders } from '../../flows/capture-senders.ts';
import { type CaptureQuery, webhookBodyOf } from '../../ingest/http/capture-request.ts';
import type { JsonObject } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';
import { openRoute, type Route } from '../edge/route.ts';
import { captureBytesMax, receiptSchema, receiptView } from './capture.ts';

export interface WebhookParts {
  readonly findConnector: CaptureSenders['ofWebhook'];
  readonly captureWebhook: (webhook: Webhook) => Promise<CaptureReceipt>;
}

export function webhookRoute(parts: WebhookParts): Route {
  return openRoute({
    method: 'POST',
    path: '/v3/capture/lora/:integrationId',
    summary: 'Hand in a message of a LoRaWAN network server, in its own form',
    tag: 'Capture',
    access: {
      open: 'the uplink secret of the integration is the credential',
      secret: 'uplinkSecret',
      admit: (headers, query) => parts.findConnector(query as CaptureQuery, headers),
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
    handle: async ({ params, query, body, bodyBytes }, found) => {
      const connector = await found.current();
      if (connector.integrationId !== params.integrationId) {
        throw problem('secretNotOfIntegration', { integrationId: params.integrationId });
      }
      return receiptView(
        await parts.captureWebhook({ connector, body: webhookBodyOf(body), bodyBytes, query }),
      );
    },
  });
}
