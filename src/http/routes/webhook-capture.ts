// POST /v3/capture/lora/:integrationId: the webhook of a LoRaWAN network server (contract 35).
import { capture } from '../../contract/capture.ts';
import type { CaptureSenders } from '../../uplinks/capture/capture-senders.ts';
import type { CaptureReceipt } from '../../uplinks/capture/capture.ts';
import type { Webhook } from '../../uplinks/capture/network-server-capture.ts';
import { webhookBodyOf } from '../../transports/http/capture-request.ts';
import { problem } from '../../model/problem.ts';
import { admittedRoute, type Route } from '../edge/route.ts';
import { receiptView } from './capture.ts';
import { refusedCaptures, type RefusedCaptureParts } from './refused-captures.ts';

export interface WebhookParts extends RefusedCaptureParts {
  readonly findConnector: CaptureSenders['ofWebhook'];
  readonly captureWebhook: (webhook: Webhook) => Promise<CaptureReceipt>;
}

export function webhookRoute(parts: WebhookParts): Route {
  const route = admittedRoute(
    capture.webhook,
    (headers, query) => parts.findConnector(query, headers),
    async ({ params, query, body, bodyBytes }, found) => {
      const connector = await found.current();
      if (connector.integrationId !== params.integrationId)
        throw problem('secretNotOfIntegration', { integrationId: params.integrationId });
      return receiptView(
        await parts.captureWebhook({ connector, body: webhookBodyOf(body), bodyBytes, query }),
      );
    },
  );
  return { ...route, refused: refusedCaptures(parts) };
}
