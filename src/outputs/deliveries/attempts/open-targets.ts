// Open targets: sends a delivery, or a test message, to the target of its connector.
import type { OutboundMessage, SendOutcome, Target } from '../../connectors/target.ts';
import type { Delivery } from '../../../model/delivery.ts';
import { Problem } from '../../../model/problem.ts';
import {
  contextText,
  defaultPayload,
  type TemplateContext,
} from '../../../model/template-context.ts';
import { findConnectorType } from '../../connectors/connector-table.ts';
import type { ConnectorServices } from '../../connectors/connector-services.ts';
import type { OutputConnector } from '../../../model/connector.ts';
import { parseTemplate, renderTemplate } from '../../templates/template.ts';

// Target cache: the open target of each connector, until the connector changes or the cache evicts it.

/** Targets that are open at the same time; the one unused for longest makes room. */
const targetsMax = 1_000;

type FindConnector = (id: string) => Promise<OutputConnector | undefined>;

interface Payload {
  readonly payload: string;
  readonly isDefault: boolean;
  /** Whether it is the default with the names that older receivers read. */
  readonly hasAllNames?: boolean;
}

export interface OpenTarget {
  readonly target: Target;
  readonly payloadOf: (context: TemplateContext) => Payload;
  users: number;
  /** Whether the last user closes the target. */
  isForgotten: boolean;
}

export class TargetCache {
  readonly #services: ConnectorServices;
  readonly #findConnector: FindConnector;
  readonly #vendorNames: boolean;
  // A Map iterates in the order of insertion: a used target is moved to the end.
  readonly #targets = new Map<string, OpenTarget>();
  #changes = 0;

  /** `vendorNames`: default payloads contain the names that older receivers read (contract 34). */
  constructor(services: ConnectorServices, findConnector: FindConnector, vendorNames: boolean) {
    this.#services = services;
    this.#findConnector = findConnector;
    this.#vendorNames = vendorNames;
  }

  /** Call when a connector was changed or deleted. */
  readonly forget = (connectorId: string): void => {
    this.#changes += 1;
    this.#remove(connectorId);
  };

  /** Call when any connector may have changed. */
  readonly discardAll = (): void => {
    this.#changes += 1;
    for (const id of [...this.#targets.keys()]) this.#remove(id);
  };

  readonly close = async (): Promise<void> => {
    await Promise.all([...this.#targets.values()].map(({ target }) => target.close()));
    this.#targets.clear();
  };

  /** Call when a use of the target has ended. */
  release(opened: OpenTarget): void {
    opened.users -= 1;
    closeUnused(opened);
  }

  /** The target, or the reason why nothing can be delivered to the connector. */
  open(connectorId: string): OpenTarget | Promise<OpenTarget | string> {
    const known = this.#targets.get(connectorId);
    if (known === undefined) return this.#openFirst(connectorId);
    this.#targets.delete(connectorId);
    this.#targets.set(connectorId, known);
    known.users += 1;
    return known;
  }

  #remove(connectorId: string): void {
    const known = this.#targets.get(connectorId);
    if (known === undefined) return;
    this.#targets.delete(connectorId);
    known.isForgotten = true;
    closeUnused(known);
  }

  #add(connectorId: string, target: OpenTarget): void {
    this.#targets.set(connectorId, target);
    if (this.#targets.size <= targetsMax) return;
    const [oldest] = [...this.#targets].find(([, { users }]) => users === 0) ?? [];
    if (oldest !== undefined) this.#remove(oldest);
  }

  async #openFirst(connectorId: string): Promise<OpenTarget | string> {
    const changesBefore = this.#changes;
    const connector = await this.#findConnector(connectorId);
    if (connector === undefined) return 'the connector was deleted';
    const opened = openTarget(connector, this.#services, this.#vendorNames);
    if (typeof opened === 'string') return opened;
    opened.users = 1;
    // A connector that changed while it was read is used only once.
    if (this.#changes !== changesBefore || this.#targets.has(connectorId))
      opened.isForgotten = true;
    else this.#add(connectorId, opened);
    return opened;
  }
}

function closeUnused(opened: OpenTarget): void {
  if (!opened.isForgotten || opened.users > 0) return;
  // Nothing uses the connection any longer, so an error at its end has no effect.
  void opened.target.close().catch(() => undefined);
}

/** Returns a reason when nothing can be delivered to the connector. */
function openTarget(
  connector: OutputConnector,
  services: ConnectorServices,
  vendorNames: boolean,
): OpenTarget | string {
  const type = findConnectorType(connector.type);
  if (type === undefined || type.missingSetting(services) !== undefined)
    return `output type ${connector.type} is not available on this installation`;
  const { invokeRuleEngine, useCustomPayload, customPayload } = connector;
  const hasCustomPayload = useCustomPayload && customPayload !== null && customPayload !== '';
  const options = { invokeRuleEngine, hasCustomPayload };
  try {
    return {
      payloadOf: hasCustomPayload ? customPayloads(customPayload) : defaultPayloads(vendorNames),
      target: type.open(connector.properties ?? {}, services, options),
      users: 0,
      isForgotten: false,
    };
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
}

function customPayloads(customPayload: string): OpenTarget['payloadOf'] {
  const template = parseTemplate(customPayload, 'json', 'customPayload');
  return (context) => ({
    payload: renderTemplate(template, context),
    isDefault: false,
  });
}

function defaultPayloads(vendorNames: boolean): OpenTarget['payloadOf'] {
  return (context) => ({
    payload: defaultPayload(context, vendorNames),
    isDefault: true,
    hasAllNames: vendorNames,
  });
}

/** A message whose payload comes from the connector. */
type Content = Omit<OutboundMessage, 'payload' | 'contentType'>;

export class OpenTargets {
  readonly #targets: TargetCache;

  constructor(targets: TargetCache) {
    this.#targets = targets;
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
