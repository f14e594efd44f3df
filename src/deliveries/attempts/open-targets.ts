// Open targets: sends a delivery, or a test message, to the target of its connector.
import type { OutboundMessage, SendOutcome } from '../../outputs/connectors/target.ts';
import type { Delivery } from '../../model/delivery.ts';
import { Problem } from '../../model/problem.ts';
import { contextText } from '../../model/template-context.ts';
import { TargetCache, type OpenTarget, type TargetCacheParts } from './target-cache.ts';

/** A message whose payload comes from the connector. */
type Content = Omit<OutboundMessage, 'payload' | 'contentType'>;

export class OpenTargets {
  readonly #targets: TargetCache;

  constructor(parts: TargetCacheParts) {
    this.#targets = new TargetCache(parts);
  }

  /** One attempt of a delivery. Rejects only with an internal error. */
  readonly send = (delivery: Delivery, signal: AbortSignal): Promise<SendOutcome> =>
    this.#sendTo(delivery.connectorId, (opened) => sendDelivery(opened, delivery, signal));

  /** Call when any connector may have changed. */
  readonly discardAll = (): void => this.#targets.discardAll();

  readonly close = (): Promise<void> => this.#targets.close();

  /** Sends a message as if it were a delivery. `sent` of the outcome is always present. */
  test(connectorId: string, content: Content, signal: AbortSignal): Promise<SendOutcome> {
    return this.#sendTo(connectorId, (opened) => sendTest(opened, content, signal));
  }

  /** Call when a connector was changed or deleted. */
  forget(connectorId: string): void {
    this.#targets.forget(connectorId);
  }

  async #sendTo(
    connectorId: string,
    send: (opened: OpenTarget) => Promise<SendOutcome>,
  ): Promise<SendOutcome> {
    const found = this.#targets.open(connectorId);
    // Most targets are open: no turn is waited for them.
    const opened = found instanceof Promise ? await found : found;
    if (typeof opened === 'string') return { ok: false, retry: false, reason: opened };
    try {
      return await send(opened);
    } catch (error) {
      if (error instanceof Problem) return { ok: false, retry: false, reason: error.message };
      throw error;
    } finally {
      this.#targets.release(opened);
    }
  }
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
