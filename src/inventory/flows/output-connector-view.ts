// Output connectors as answers show them: every property object present, names by dialect, secrets masked (contract 9, 34).
import {
  type OutputConnector,
  type OutputConnectorType,
  type PropertiesKey,
  propertiesKeys,
} from '../../model/connector.ts';
import { databaseConnectorId } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import { auditView } from '../record-change.ts';
import { customDatabaseAlias, masked } from './output-properties.ts';

/** How an answer names and shows things. */
export interface Showing {
  /** Names of the original vendor for types, which old clients insist on (contract 34). */
  readonly vendorNames: boolean;
  /** Secrets of output connectors in clear (`REVEAL_CONNECTOR_SECRETS`). */
  readonly connectorSecrets: boolean;
}

const vendorNames: Readonly<Record<string, string>> = {
  DATABASE: 'AKENZA_DATABASE',
  CUSTOM_DATABASE: 'CUSTOM_AKENZA_DATABASE',
};

/** What the vendor's enum holds; its typed clients fail on a whole list that has another value (contract 36). */
const vendorTypes: ReadonlySet<OutputConnectorType> = new Set([
  'DATABASE',
  'CUSTOM_DATABASE',
  'WEBHOOK',
  'MAIL',
  'SMS',
  'DOWNLINK',
  'AZURE',
  'GCP',
  'AMAZON_KINESIS',
  'INFLUX_DB',
  'KAFKA',
  'MS_TEAMS',
  'SLACK',
]);

/** Whether a client that is shown this knows the type. */
export function isKnownTo(
  showing: Pick<Showing, 'vendorNames'>,
  type: OutputConnectorType,
): boolean {
  return !showing.vendorNames || vendorTypes.has(type);
}

/** The type a client means: neutral and vendor names are both taken. */
export function typeNamed(name: string): string {
  return Object.entries(vendorNames).find(([, vendor]) => vendor === name)?.[0] ?? name;
}

/** The type as an answer names it. */
export function typeName(type: OutputConnectorType, showing: Pick<Showing, 'vendorNames'>): string {
  return showing.vendorNames ? (vendorNames[type] ?? type) : type;
}

type PropertyObjects = {
  readonly [K in PropertiesKey | typeof customDatabaseAlias]: JsonObject | null;
};

function propertyObjects(record: OutputConnector, showing: Showing): PropertyObjects {
  const { type, properties } = record;
  const shown =
    properties === null || showing.connectorSecrets ? properties : masked(type, properties);
  const of = (wanted: OutputConnectorType) => (wanted === type ? shown : null);
  return {
    [customDatabaseAlias]: of('CUSTOM_DATABASE'),
    customDatabaseProperties: of('CUSTOM_DATABASE'),
    webhookProperties: of('WEBHOOK'),
    mailProperties: of('MAIL'),
    smsProperties: of('SMS'),
    downlinkProperties: of('DOWNLINK'),
    azureProperties: of('AZURE'),
    gcpProperties: of('GCP'),
    amazonKinesisProperties: of('AMAZON_KINESIS'),
    influxProperties: of('INFLUX_DB'),
    kafkaProperties: of('KAFKA'),
    msTeamsProperties: of('MS_TEAMS'),
    slackProperties: of('SLACK'),
    sqlProperties: of('SQL'),
    mqttProperties: of('MQTT'),
    amqpProperties: of('AMQP'),
    natsProperties: of('NATS'),
  };
}

/** The whole record; also nested in data flows. */
export function outputConnectorView(record: OutputConnector, showing: Showing) {
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
    type: typeName(record.type, showing),
    sendConsecutiveAlerts,
    invokeRuleEngine,
    useCustomPayload,
    customPayload,
    ...propertyObjects(record, showing),
  };
}

/** The properties a request sends for the type, under its own key or the alias. */
export function sentProperties(
  type: OutputConnectorType,
  sent: Readonly<Record<string, unknown>>,
): unknown {
  if (!(type in propertiesKeys)) return undefined;
  const key = propertiesKeys[type as keyof typeof propertiesKeys];
  return sent[key] ?? (type === 'CUSTOM_DATABASE' ? sent[customDatabaseAlias] : undefined);
}
