// Network server types, and integrations: an account at a LoRaWAN network server (contract 4, 8, 35).
import type { AuditFields } from './record.ts';

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

export const integrationLimits = { propertiesMax: 30, propertyLengthMax: 4_000 } as const;

/** Null for servers without a name that clients know. */
export function carrierOf(type: IntegrationType): Carrier | null {
  if (type === 'SWISSCOM_CMP') return 'SWISSCOM_ACTILITY';
  return carriers.find((carrier) => carrier === type) ?? null;
}

const providers: Readonly<Record<IntegrationType, string>> = {
  GENERIC_ACTILITY: 'actility',
  SWISSCOM_ACTILITY: 'swisscom_lora',
  SWISSCOM_CMP: 'swisscom_lora',
  LORIOT: 'loriot',
  TTN: 'ttn',
  CHIRP_STACK: 'chirpstack',
  EVERYNET: 'everynet',
  HELIUM: 'helium',
  GENERIC: 'generic',
};

/** The default provider of an integration. */
export function providerOf(type: IntegrationType): string {
  return providers[type];
}
