// Connectors: what a data flow joins, with the transport, authentication and decoding of uplinks; and integrations (contract 8, 9, 10, 35).
import type { PayloadEncoding } from './device-type.ts';
import type { AuditFields } from './record.ts';
import type { JsonObject } from './json.ts';

export const connectivities = ['LORA', 'MQTT', 'HTTP', 'COAP'] as const;
export type Connectivity = (typeof connectivities)[number];

/**
 * Whether a device of one connectivity may be in a data flow whose device connector is for the
 * other (contract 36). Apart from its own connector, only a LORA device has a second way in: over
 * HTTP, by the webhook of its network server.
 */
export function fitsConnector(device: Connectivity, connector: Connectivity): boolean {
  return device === connector || (device === 'LORA' && connector === 'HTTP');
}

export const connectorAuthTypes = ['BASIC', 'DEVICE_CREDENTIALS'] as const;
export type ConnectorAuthType = (typeof connectorAuthTypes)[number];

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
  /** How payloads are read, where the device type does not say it (contract 38). */
  readonly encoding: PayloadEncoding | null;
  readonly pushConfigurationAutomatically: boolean;
  /** Null unless senders of InfluxDB line protocol write to it. */
  readonly lineProtocol: LineProtocolMapping | null;
  /** Null unless its devices are edge nodes of Sparkplug B. */
  readonly sparkplug: SparkplugMapping | null;
  /** The integration that made it; null for connectors that people make. */
  readonly integrationId: string | null;
  readonly carrier: Carrier | null;
  readonly provider: string | null;
}

/** How many devices the senders of the connector may create; null when it creates none. */
export function deviceCreationOf({
  lineProtocol,
  sparkplug,
}: DeviceConnector): { readonly devicesMax: number } | null {
  return (lineProtocol ?? sparkplug)?.createDevices ?? null;
}

// Connector mappings: how points of InfluxDB line protocol and metrics of Sparkplug become samples of devices.

export interface LineProtocolMapping {
  /**
   * Templates of the physical id, such as `{host}` or `{domain}.{entity_id}`. The first one whose
   * tags a point has names its device.
   */
  readonly device: readonly string[];
  /** Template of the topic: `{measurement}`, a tag such as `{room}`, or a fixed topic. */
  readonly topic: string;
  /** Points of unknown devices create them; null rejects such points. */
  readonly createDevices: {
    /** Devices that the data flow has at most. */
    readonly devicesMax: number;
  } | null;
}

export const lineProtocolDefaults: LineProtocolMapping = {
  device: ['{device}', '{device_id}', '{host}', '{entity_id}'],
  topic: '{measurement}',
  createDevices: null,
};

// Sparkplug mapping: which devices the edge nodes of a connector and their devices are.

export interface SparkplugMapping {
  /** Template of the physical id of an edge node: `{group}` and `{edge}`. */
  readonly node: string;
  /** Template of the physical id of a device of an edge node: also `{device}`. */
  readonly device: string;
  /** Topic of the samples. */
  readonly topic: string;
  /** Name under which the platform is a host: edge nodes can wait until it is online. */
  readonly hostId: string;
  /** Births of unknown edge nodes and devices create them; null rejects them. */
  readonly createDevices: {
    /** Devices that the data flow has at most. */
    readonly devicesMax: number;
  } | null;
}

export const sparkplugDefaults: SparkplugMapping = {
  node: '{group}/{edge}',
  device: '{group}/{edge}/{device}',
  topic: 'default',
  hostId: 'heliograph',
  createDevices: null,
};

// Output connectors: the destinations of samples from a data flow or a rule (contract 9).

export const outputScopes = ['DATA_FLOW', 'RULE_ACTION'] as const;
export type OutputScope = (typeof outputScopes)[number];

export interface OutputConnector extends AuditFields {
  readonly id: string;
  /** Null for the global database connector. */
  readonly organizationId: string | null;
  readonly workspaceId: string | null;
  readonly name: string;
  readonly scope: OutputScope;
  /**
   * The name of a row of the connector table; a record of another release may have a name that has
   * no row here.
   */
  readonly type: string;
  readonly sendConsecutiveAlerts: boolean;
  readonly invokeRuleEngine: boolean;
  readonly useCustomPayload: boolean;
  readonly customPayload: string | null;
  /** The properties of its type, secrets in clear; null for types without any. */
  readonly properties: JsonObject | null;
}

// Data flow: one device connector, at most one device type and the outputs for its samples (contract 10).

/** `*` for every topic. */
export interface FlowOutput {
  readonly outputConnectorId: string;
  readonly topic: string;
}

export interface DataFlow extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly description: string | null;
  readonly deviceConnectorId: string;
  readonly deviceTypeId: string | null;
  readonly outputs: readonly FlowOutput[];
  /** The body of an uplink becomes the sample's data unchanged. */
  readonly passThrough: boolean;
  /** Samples are kept for so many days; null as its workspace says. */
  readonly retentionDays: number | null;
}

// Network server types, and integrations: an account at a LoRaWAN network server (contract 4, 8, 35).

/** Those that clients of old know. */
export const vendorIntegrationTypes = [
  'GENERIC_ACTILITY',
  'SWISSCOM_ACTILITY',
  'SWISSCOM_CMP',
  'LORIOT',
  'TTN',
] as const;

export const integrationTypes = [
  ...vendorIntegrationTypes,
  'CHIRP_STACK',
  'EVERYNET',
  'HELIUM',
  'GENERIC',
] as const;
export type IntegrationType = (typeof integrationTypes)[number];

/** Dialects of webhooks that an HTTP connector can decode without an integration (contract 8). */
export const decodingTypes = [
  'EVERYNET',
  'DISRUPTIVE_TECHNOLOGIES',
  'SIGFOX',
  'HELIUM',
  'CHIRP_STACK',
  'NONE',
] as const;
export type DecodingType = (typeof decodingTypes)[number];

/**
 * Carriers of LoRa devices and their connectors: clients refuse lists that hold any other value
 * (contract 8).
 */
export const carriers = ['GENERIC_ACTILITY', 'SWISSCOM_ACTILITY', 'LORIOT', 'TTN'] as const;
export type Carrier = (typeof carriers)[number];

export interface Integration extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly description: string | null;
  readonly type: IntegrationType;
  readonly provider: string | null;
  /** Settings by name, secrets in clear. */
  readonly properties: Readonly<Record<string, string>>;
}

/** Secret settings: encrypted in the records and masked in answers. */
export const integrationSecrets: readonly string[] = [
  'apiKey',
  'asKey',
  'password',
  'clientSecret',
  'token',
];

/** Null for servers without a name that clients know. */
export function carrierOf(type: IntegrationType): Carrier | null {
  if (type === 'SWISSCOM_CMP') return 'SWISSCOM_ACTILITY';
  return carriers.find((carrier) => carrier === type) ?? null;
}
