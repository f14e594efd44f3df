// The targets that are open: one for each connector, shared by its deliveries, opened by the first and closed when it changes.
import type { EgressGuard } from '../egress/guard.ts';
import type { OutputConnector } from '../model/connector.ts';
import type { Delivery } from '../model/delivery.ts';
import type { EpochMs } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import { Problem } from '../model/problem.ts';
import { defaultPayload, type TemplateContext } from '../model/template-context.ts';
import { renderTemplate } from '../templates/render-template.ts';
import { parseTemplate } from '../templates/template.ts';
import type { OutboundMessage, SendOutcome, Target } from '../connectors/target.ts';
import type { ConnectorTable } from '../connectors/connector-table.ts';

/** Open at once; the one that was not used for longest makes room. */
const targetsMax = 1_000;

export interface OpenTargetsParts {
  readonly table: ConnectorTable;
  readonly egress: EgressGuard;
  readonly findConnector: (id: string) => Promise<OutputConnector | undefined>;
  /** Whether default payloads carry the names that older receivers read (contract 34). */
  readonly vendorNames: boolean;
  readonly now: () => EpochMs;
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
    const made = opened(connector, parts);
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

function opened(
  connector: OutputConnector,
  { table, egress, vendorNames, now }: OpenTargetsParts,
): OpenTarget | string {
  const type = table.get(connector.type);
  if (type === undefined) return `this installation does not deliver to ${connector.type}`;
  const { invokeRuleEngine, useCustomPayload, customPayload } = connector;
  const hasCustomPayload = useCustomPayload && customPayload !== null && customPayload !== '';
  const properties: JsonObject = { ...connector.properties, invokeRuleEngine, hasCustomPayload };
  try {
    const template = hasCustomPayload
      ? parseTemplate(customPayload, 'json', 'customPayload')
      : undefined;
    return {
      target: type.open(properties, egress, now),
      payloadOf: (context) =>
        template === undefined
          ? { payload: defaultPayload(context, vendorNames), isDefault: true }
          : { payload: renderTemplate(template, context), isDefault: false },
      users: 0,
      isForgotten: false,
    };
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
}
