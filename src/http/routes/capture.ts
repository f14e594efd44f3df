// POST /v3/capture: a device sends a payload; the answer comes when it is durable (contract 18).
import type { Static } from 'typebox';
import { capture, type receiptSchema } from '../../contract/capture.ts';
import type { CaptureSenders } from '../../uplinks/capture/capture-senders.ts';
import type { Capture, CaptureReceipt } from '../../uplinks/capture/capture.ts';
import type { Webhook } from '../../uplinks/capture/network-server-capture.ts';
import { captureBodyOf, webhookBodyOf } from '../../transports/http/capture-request.ts';
import { formatInstant } from '../../model/instant.ts';
import { isSenml } from '../edge/body-parsers.ts';
import { idempotencyKeyOf } from '../edge/idempotency-key.ts';
import { admittedRoute, type Route } from '../edge/route.ts';
import { refusedCaptures, type RefusedCaptureParts } from './refused-captures.ts';

export function receiptView(receipt: CaptureReceipt): Static<typeof receiptSchema> {
  const { id, receivedAt, stored, notStored = [] } = receipt;
  return {
    id,
    timestamp: formatInstant(receivedAt),
    message: 'uplink received',
    ...(stored !== undefined && { stored }),
    ...(notStored.length > 0 && { notStored: [...notStored] }),
  };
}

export interface CaptureParts extends RefusedCaptureParts {
  /**
   * Finds the sender before the body is read, so that the server reads no bodies of unknown
   * senders.
   */
  readonly findSender: CaptureSenders['ofCapture'];
  readonly capture: (input: Capture) => Promise<CaptureReceipt>;
  /** Takes a SenML pack. */
  readonly captureSenml: (input: Capture) => Promise<CaptureReceipt>;
  /** Takes what a network server sends for a connector with a decoding type. */
  readonly captureWebhook: (webhook: Webhook) => Promise<CaptureReceipt>;
}

export function captureRoute(parts: CaptureParts): Route {
  const route = admittedRoute(
    capture.payload,
    (headers, query) => parts.findSender(query, headers),
    async ({ query, headers, body, bodyBytes }, found) => {
      const sender = await found.current();
      if (sender.kind === 'networkServer') {
        const { connector } = sender;
        const webhook = { connector, body: webhookBodyOf(body), bodyBytes, query };
        return receiptView(await parts.captureWebhook(webhook));
      }
      const { route, topic, timestamp } = sender;
      // A pack is an array. An object of this type was taken as it is before packs were understood.
      const isPack = isSenml(headers) && Array.isArray(body);
      const take = isPack ? parts.captureSenml : parts.capture;
      const done = await take({
        route,
        topic,
        timestamp,
        body: captureBodyOf(body),
        bodyBytes,
        idempotencyKey: idempotencyKeyOf(headers),
      });
      return receiptView(done);
    },
  );
  return { ...route, refused: refusedCaptures(parts) };
}
