// Connectors: where uplinks come in (device connectors, contract 8) and where samples go out (output connectors, contract 9).
import type { Carrier } from './integration.ts';
import type { JsonObject } from './json.ts';
import type { AuditFields } from './record.ts';

export const connectivities = ['LORA', 'MQTT', 'HTTP', 'COAP'] as const;
export type Connectivity = (typeof connectivities)[number];

/**
 * Whether a device of one connectivity may be in a data flow whose device connector is for the other (contract 36).
 * Apart from its own connector, only a LORA device has a second way in: over HTTP, by the webhook of its network server.
 */
export function fitsConnector(device: Connectivity, connector: Connectivity): boolean {
  return device === connector || (device === 'LORA' && connector === 'HTTP');
}

export const connectorAuthTypes = ['BASIC', 'DEVICE_CREDENTIALS'] as const;
export type ConnectorAuthType = (typeof connectorAuthTypes)[number];

export const decodingTypes = [
  'EVERYNET',
  'DISRUPTIVE_TECHNOLOGIES',
  'SIGFOX',
  'HELIUM',
  'CHIRP_STACK',
  'NONE',
] as const;
export type DecodingType = (typeof decodingTypes)[number];

export interface DeviceConnector extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly description: string | null;
  readonly connectivity: Connectivity;
  readonly authType: ConnectorAuthType;
  /** Null unless `authType` is BASIC. */
  readonly uplinkSecret: string | null;
  readonly decodingType: DecodingType;
  readonly pushConfigurationAutomatically: boolean;
  /** The integration that made it; null for connectors that people make. */
  readonly integrationId: string | null;
  readonly carrier: Carrier | null;
  readonly provider: string | null;
}

export const outputConnectorTypes = [
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
  'SQL',
  'MQTT',
  'AMQP',
  'NATS',
] as const;
export type OutputConnectorType = (typeof outputConnectorTypes)[number];

/** Where each type's properties stand in a record; types without a row have none. */
export const propertiesKeys = {
  CUSTOM_DATABASE: 'customDatabaseProperties',
  WEBHOOK: 'webhookProperties',
  MAIL: 'mailProperties',
  SMS: 'smsProperties',
  DOWNLINK: 'downlinkProperties',
  AZURE: 'azureProperties',
  GCP: 'gcpProperties',
  AMAZON_KINESIS: 'amazonKinesisProperties',
  INFLUX_DB: 'influxProperties',
  KAFKA: 'kafkaProperties',
  MS_TEAMS: 'msTeamsProperties',
  SLACK: 'slackProperties',
  SQL: 'sqlProperties',
  MQTT: 'mqttProperties',
  AMQP: 'amqpProperties',
  NATS: 'natsProperties',
} as const satisfies Partial<Record<OutputConnectorType, string>>;

export type PropertiesKey = (typeof propertiesKeys)[keyof typeof propertiesKeys];

export const outputScopes = ['DATA_FLOW', 'RULE_ACTION'] as const;
export type OutputScope = (typeof outputScopes)[number];

export interface OutputConnector extends AuditFields {
  readonly id: string;
  /** Null for the global database connector. */
  readonly organizationId: string | null;
  readonly workspaceId: string | null;
  readonly name: string;
  readonly scope: OutputScope;
  readonly type: OutputConnectorType;
  readonly sendConsecutiveAlerts: boolean;
  readonly invokeRuleEngine: boolean;
  readonly useCustomPayload: boolean;
  readonly customPayload: string | null;
  /** The properties of its type, secrets in clear; null for types without any. */
  readonly properties: JsonObject | null;
}

/** What this installation delivers to. */
export interface AvailableOutputs {
  readonly types: readonly OutputConnectorType[];
  /** The setting that a type needs and that is not there; undefined for types that need none, and for unknown ones. */
  readonly missingSetting: (type: OutputConnectorType) => string | undefined;
  /** Throws a Problem for properties and payloads that cannot work: broken templates, forbidden targets. */
  readonly check: (
    connector: Pick<OutputConnector, 'type' | 'properties' | 'customPayload'>,
  ) => void;
}
