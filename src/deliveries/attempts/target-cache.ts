// Target cache: the open target of each connector, until the connector changes or the cache evicts it.
import { findConnectorType } from '../../outputs/connectors/connector-table.ts';
import type { ConnectorServices } from '../../outputs/connectors/connector-services.ts';
import type { Target } from '../../outputs/connectors/target.ts';
import type { OutputConnector } from '../../model/output-connector.ts';
import { Problem } from '../../model/problem.ts';
import { defaultPayload, type TemplateContext } from '../../model/template-context.ts';
import { renderTemplate } from '../../outputs/templates/render-template.ts';
import { parseTemplate } from '../../outputs/templates/template.ts';

/** Targets that are open at the same time; the one unused for longest makes room. */
const targetsMax = 1_000;

export interface TargetCacheParts {
  readonly services: ConnectorServices;
  readonly findConnector: (id: string) => Promise<OutputConnector | undefined>;
  /** Whether default payloads contain the names that older receivers read (contract 34). */
  readonly vendorNames: boolean;
}

export interface Payload {
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

export interface TargetCache {
  /** The target, or the reason why nothing can be delivered to the connector. */
  open(connectorId: string): OpenTarget | Promise<OpenTarget | string>;
  /** Call when a use of the target has ended. */
  release(target: OpenTarget): void;
  /** Call when a connector was changed or deleted. */
  forget(connectorId: string): void;
  /** Call when any connector may have changed. */
  discardAll(): void;
  close(): Promise<void>;
}

export function createTargetCache(parts: TargetCacheParts): TargetCache {
  // A Map iterates in the order of insertion: a used target is moved to the end.
  const targets = new Map<string, OpenTarget>();
  let changes = 0;

  function remove(connectorId: string): void {
    const known = targets.get(connectorId);
    if (known === undefined) return;
    targets.delete(connectorId);
    known.isForgotten = true;
    closeUnused(known);
  }

  function add(connectorId: string, target: OpenTarget): void {
    targets.set(connectorId, target);
    if (targets.size <= targetsMax) return;
    const [oldest] = [...targets].find(([, { users }]) => users === 0) ?? [];
    if (oldest !== undefined) remove(oldest);
  }

  async function openFirst(connectorId: string): Promise<OpenTarget | string> {
    const changesBefore = changes;
    const connector = await parts.findConnector(connectorId);
    if (connector === undefined) return 'the connector was deleted';
    const opened = openTarget(connector, parts);
    if (typeof opened === 'string') return opened;
    opened.users = 1;
    // A connector that changed while it was read is used only once.
    if (changes !== changesBefore || targets.has(connectorId)) opened.isForgotten = true;
    else add(connectorId, opened);
    return opened;
  }

  return {
    release(opened) {
      opened.users -= 1;
      closeUnused(opened);
    },
    open(connectorId) {
      const known = targets.get(connectorId);
      if (known === undefined) return openFirst(connectorId);
      targets.delete(connectorId);
      targets.set(connectorId, known);
      known.users += 1;
      return known;
    },
    forget(connectorId) {
      changes += 1;
      remove(connectorId);
    },
    discardAll() {
      changes += 1;
      for (const id of [...targets.keys()]) remove(id);
    },
    async close() {
      await Promise.all([...targets.values()].map(({ target }) => target.close()));
      targets.clear();
    },
  };
}

function closeUnused(opened: OpenTarget): void {
  if (!opened.isForgotten || opened.users > 0) return;
  // Nothing uses the connection any longer, so an error at its end has no effect.
  void opened.target.close().catch(() => undefined);
}

/** Returns a reason when nothing can be delivered to the connector. */
function openTarget(
  connector: OutputConnector,
  { services, vendorNames }: TargetCacheParts,
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
