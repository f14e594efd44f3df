// Open targets: sends a delivery, or a test message, to the target of its connector.
import type { OutboundMessage, SendOutcome } from '../../outputs/connectors/target.ts';
import type { Delivery } from '../../model/delivery.ts';
import { Problem } from '../../model/problem.ts';
import { contextText } from '../../model/template-context.ts';
import { createTargetCache, type OpenTarget, type TargetCacheParts } from './target-cache.ts';

/** A message whose payload comes from the connector. */
type Content = Omit<OutboundMessage, 'payload' | 'contentType'>;

export interface OpenTargets {
  /** One attempt of a delivery. Rejects only with an internal error. */
  send(delivery: Delivery, signal: AbortSignal): Promise<SendOutcome>;
  /** Sends a message as if it were a delivery. `sent` of the outcome is always present. */
  test(connectorId: string, content: Content, signal: AbortSignal): Promise<SendOutcome>;
  /** Call when a connector was changed or deleted. */
  forget(connectorId: string): void;
  /** Call when any connector may have changed. */
  discardAll(): void;
  close(): Promise<void>;
}

export function createOpenTargets(parts: TargetCacheParts): OpenTargets {
  const targets = createTargetCache(parts);

  async function sendTo(
    connectorId: string,
    send: (opened: OpenTarget) => Promise<SendOutcome>,
  ): Promise<SendOutcome> {
    const found = targets.open(connectorId);
    // Most targets are open: no turn is waited for them.
    const opened = found instanceof Promise ? await found : found;
    if (typeof opened === 'string') return { ok: false, retry: false, reason: opened };
    try {
      return await send(opened);
    } catch (error) {
      if (error instanceof Problem) return { ok: false, retry: false, reason: error.message };
      throw error;
    } finally {
      targets.release(opened);
    }
  }

  return {
    send: (delivery, signal) =>
      sendTo(delivery.connectorId, (opened) => sendDelivery(opened, delivery, signal)),
    test: (connectorId, content, signal) =>
      sendTo(connectorId, (opened) => sendTest(opened, content, signal)),
    forget: targets.forget,
    discardAll: targets.discardAll,
    close: targets.close,
  };
}

function sendDelivery(
  { target, payloadOf }: OpenTarget,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<SendOutcome> {
  const { context } = delivery;
  const { payload, isDefault, hasAllNames } = payloadOf(context);
  if (hasAllNames === true) delivery.contextText ??= contextText(context, payload);
  const sending = target.send(messageOf(contentOf(delivery), payload), signal);
  // The log does not repeat default payloads, because they follow from the sample.
  if (isDefault) return sending;
  return sending.then((outcome) => ({ sent: payload, ...outcome }));
}

async function sendTest(
  { target, payloadOf }: OpenTarget,
  content: Content,
  signal: AbortSignal,
): Promise<SendOutcome> {
  const { payload } = payloadOf(content.context);
  return { sent: payload, ...(await target.send(messageOf(content, payload), signal)) };
}

function messageOf(content: Content, payload: string): OutboundMessage {
  return { ...content, payload, contentType: 'application/json' };
}

function contentOf({ id, deviceId, context, created, correlationId, ruleHops }: Delivery): Content {
  const content = { deliveryId: id, deviceId, context, createdAt: created, correlationId };
  return { ...content, ...(ruleHops !== undefined && { ruleHops }) };
}
