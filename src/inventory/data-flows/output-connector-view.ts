// Output connectors in answers: every property object is present, type names depend on the client, secrets are masked (contract 9, 34).
import {
  findConnectorType,
  type PropertiesKey,
  typesWithProperties,
} from '../../outputs/connectors/connector-table.ts';
import { masked } from '../../outputs/connectors/secret-mask.ts';
import { databaseConnectorId } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import type { OutputConnector } from '../../model/output-connector.ts';
import type { Principal } from '../../model/principal.ts';
import { auditView } from '../record-change.ts';

/** Names and secrets in an answer. */
export interface ConnectorViewOptions {
  /**
   * Whether types have the names of the original vendor, which old clients require (contract 34).
   */
  readonly vendorNames: boolean;
  /** Whether secrets of output connectors are shown in clear (`REVEAL_CONNECTOR_SECRETS`). */
  readonly connectorSecrets: boolean;
  /** The setting that a type lacks here; absent where answers do not say it. */
  readonly missingSetting?: (type: string) => string | undefined;
}

/** The client that an answer is for. */
export interface ConnectorViewer {
  readonly principal: Principal;
  readonly viewOptions: ConnectorViewOptions;
}

/**
 * Whether the client knows the type. Clients of the vendor reject a whole list that contains a type
 * they do not know (contract 36).
 */
export function isKnownTo({ vendorNames }: ConnectorViewOptions, type: string): boolean {
  return !vendorNames || typeof findConnectorType(type)?.vendorName === 'string';
}

/** The type as an answer names it. */
export function typeName(type: string, { vendorNames }: ConnectorViewOptions): string {
  if (!vendorNames) return type;
  return findConnectorType(type)?.vendorName ?? type;
}

type PropertyObjects = Readonly<Record<PropertiesKey, JsonObject | null>>;

function propertyObjects(
  record: OutputConnector,
  viewOptions: ConnectorViewOptions,
): PropertyObjects {
  const shown = shownProperties(record, viewOptions);
  const entries = typesWithProperties.flatMap(({ type, properties: { key, alias } }) => {
    const value = type === record.type ? shown : null;
    return [key, alias].filter((member) => member !== undefined).map((member) => [member, value]);
  });
  return Object.fromEntries(entries) as PropertyObjects;
}

function shownProperties({ type, properties }: OutputConnector, viewOptions: ConnectorViewOptions) {
  const rules = findConnectorType(type)?.properties ?? null;
  if (properties === null || rules === null || viewOptions.connectorSecrets) return properties;
  return masked(rules, properties);
}

/** The whole record; also nested in data flows. */
export function outputConnectorView(record: OutputConnector, viewOptions: ConnectorViewOptions) {
  const {
    id,
    name,
    workspaceId,
    scope,
    sendConsecutiveAlerts,
    invokeRuleEngine,
    useCustomPayload,
    customPayload,
  } = record;
  return {
    id,
    ...auditView(record),
    name,
    workspaceId,
    deleted: false,
    global: id === databaseConnectorId,
    scope,
    type: typeName(record.type, viewOptions),
    sendConsecutiveAlerts,
    invokeRuleEngine,
    useCustomPayload,
    customPayload,
    ...propertyObjects(record, viewOptions),
    ...unavailable(viewOptions.missingSetting?.(record.type)),
  };
}

/** Of a type that the installation cannot deliver to any longer (contract 42). */
function unavailable(setting: string | undefined) {
  if (setting === undefined) return {};
  return { available: false, unavailableReason: `The operator has not set ${setting}` } as const;
}
