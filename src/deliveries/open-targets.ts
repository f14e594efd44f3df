// Open targets: one per connector, shared by its deliveries. The first delivery opens it; it closes when the connector changes.
import { findConnectorType } from '../connectors/connector-table.ts';
import type { ConnectorServices } from '../connectors/connector-services.ts';
import type { OutboundMessage, SendOutcome, Target } from '../connectors/target.ts';
import type { Delivery } from '../model/delivery.ts';
import type { OutputConnector } from '../model/output-connector.ts';
import { Problem } from '../model/problem.ts';
import { defaultPayload, type TemplateContext } from '../model/template-context.ts';
import { renderTemplate } from '../templates/render-template.ts';
import { parseTemplate } from '../templates/template.ts';

/** Open at once; the one that was not used for longest makes room. */
const targetsMax = 1_000;

export interface OpenTargetsParts {
  readonly services: ConnectorServices;
  readonly findConnector: (id: string) => Promise<OutputConnector | undefined>;
  /** Whether default payloads carry the names that older receivers read (contract 34). */
  readonly vendorNames: boolean;
}

export interface OpenTargets {
  /** One try of a delivery; never rejects for anything the connector or the target did. */
  send(delivery: Delivery, signal: AbortSignal): Promise<SendOutcome>;
  /** Sends a message as if it were a delivery; `sent` is always told. */
  test(
    connectorId: string,
    message: Omit<OutboundMessage, 'payload' | 'contentType'>,
    signal: AbortSignal,
  ): Promise<SendOutcome>;
  /** To be called when a connector was changed or deleted. */
  forget(connectorId: string): void;
  close(): Promise<void>;
}

interface OpenTarget {
  readonly target: Target;
  readonly payloadOf: (context: TemplateContext) => {
    readonly payload: string;
    readonly isDefault: boolean;
  };
  users: number;
  isForgotten: boolean;
}

export function openTargets(parts: OpenTargetsParts): OpenTargets {
  const open = new Map<string, OpenTarget>();
  let changes = 0;

  async function targetOf(connectorId: string): Promise<OpenTarget | string> {
    const known = open.get(connectorId);
    if (known !== undefined) {
      open.delete(connectorId);
      open.set(connectorId, known);
      return known;
    }
    const changesBefore = changes;
    const connector = await parts.findConnector(connectorId);
    if (connector === undefined) return 'the connector was deleted';
    const made = openTarget(connector, parts);
    if (typeof made === 'string') return made;
    // What changed while it was read is used this once.
    if (changes !== changesBefore || open.has(connectorId)) made.isForgotten = true;
    else open.set(connectorId, made);
    if (open.size > targetsMax) forget([...open].find(([, { users }]) => users === 0)?.[0] ?? '');
    return made;
  }

  function forget(connectorId: string): void {
    const known = open.get(connectorId);
    if (known === undefined) return;
    open.delete(connectorId);
    known.isForgotten = true;
    closeUnused(known);
  }

  async function sendTo(
    connectorId: string,
    message: Omit<OutboundMessage, 'payload' | 'contentType'>,
    signal: AbortSignal,
    isTest: boolean,
  ): Promise<SendOutcome> {
    const used = await targetOf(connectorId);
    if (typeof used === 'string') return { ok: false, retry: false, reason: used };
    used.users += 1;
    try {
      const { payload, isDefault } = used.payloadOf(message.context);
      const outcome = await used.target.send(
        { ...message, payload, contentType: 'application/json' },
        signal,
      );
      return outcome.sent !== undefined || (isDefault && !isTest)
        ? outcome
        : { ...outcome, sent: payload };
    } catch (error) {
      if (error instanceof Problem) return { ok: false, retry: false, reason: error.message };
      throw error;
    } finally {
      used.users -= 1;
      closeUnused(used);
    }
  }

  return {
    send: (delivery, signal) => sendTo(delivery.connectorId, messageOf(delivery), signal, false),
    test: (connectorId, message, signal) => sendTo(connectorId, message, signal, true),
    forget(connectorId) {
      changes += 1;
      forget(connectorId);
    },
    async close() {
      await Promise.all([...open.values()].map(({ target }) => target.close()));
      open.clear();
    },
  };
}

function closeUnused(one: OpenTarget): void {
  if (!one.isForgotten || one.users > 0) return;
  // Whether a connection ends cleanly that nobody uses any more makes no difference to anybody.
  void one.target.close().catch(() => undefined);
}

function messageOf({ id, deviceId, context, created, correlationId, ruleHops }: Delivery) {
  const hops = ruleHops === undefined ? {} : { ruleHops };
  return { deliveryId: id, deviceId, context, createdAt: created, correlationId, ...hops };
}

/** Returns a reason when nothing can be delivered to the connector. */
function openTarget(
  connector: OutputConnector,
  { services, vendorNames }: OpenTargetsParts,
): OpenTarget | string {
  const type = findConnectorType(connector.type);
  if (type === undefined || type.missingSetting(services) !== undefined)
    return `this installation does not deliver to ${connector.type}`;
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
  return (context) => ({ payload: renderTemplate(template, context), isDefault: false });
}

function defaultPayloads(vendorNames: boolean): OpenTarget['payloadOf'] {
  return (context) => ({ payload: defaultPayload(context, vendorNames), isDefault: true });
}
