// Configuration: the environment, read once into a frozen Config. No other file reads process.env.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import {
  certificateOf,
  ConfigError,
  durationOf,
  flagOf,
  listOf,
  mapTilesOf,
  oneOf,
  originsOf,
  portOf,
  rangesOf,
  refuse,
  urlOf,
  wholeNumberOf,
} from './config-values.ts';
import type { MapTiles } from './model/map-tiles.ts';
import { type Quotas, quotasFrom } from './model/quota.ts';

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
const vendorAliasModes = ['header', 'always', 'off'] as const;

export type LogLevel = (typeof logLevels)[number];

export interface ClusterConfig {
  /** Where the other nodes reach this one, with its port. */
  readonly nodeUrl: string;
  /** The address that the internal port listens on. */
  readonly host: string;
  readonly secret: string;
  readonly leaseMs: number;
  /** As PEM; the authority is that of the certificates of the other nodes. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca?: string };
}

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly dataDirectory: string;
  readonly publicUrl: string;
  readonly mqttPort: number;
  readonly mqttTlsPort: number;
  /** Files of the certificate and its key, as PEM; without both there is no MQTT over TLS. */
  readonly mqttTlsCert: string | undefined;
  readonly mqttTlsKey: string | undefined;
  readonly coapPort: number;
  readonly adminEmail: string;
  readonly adminPassword: string | undefined;
  readonly adminApiKey: string | undefined;
  /** With it `/metrics` requires this bearer token. */
  readonly metricsToken: string | undefined;
  /** Requests per second and credential; 0 means unlimited. */
  readonly rateLimitPerSecond: number;
  /** Origins whose pages may call the interface. */
  readonly corsOrigins: readonly string[];
  /** Street maps of the console; without them it draws an outline of the world. */
  readonly mapTiles: MapTiles | undefined;
  /** Proxies whose `X-Forwarded-For` is believed: addresses or CIDR ranges. */
  readonly trustedProxies: readonly string[];
  readonly recordsUrl: string | undefined;
  readonly samplesUrl: string | undefined;
  readonly busUrl: string | undefined;
  /** Several nodes with common records: no setting of this version sets it. */
  readonly cluster?: ClusterConfig;
  readonly logLevel: LogLevel;
  readonly vendorAliases: 'header' | 'always' | 'off';
  readonly deviceAudience: string;
  readonly smtpUrl: string | undefined;
  readonly mailFrom: string | undefined;
  readonly smsGatewayUrl: string | undefined;
  /** A JSON document. */
  readonly gcpServiceAccountKey: string | undefined;
  readonly secretsKey: string | undefined;
  readonly revealConnectorSecrets: boolean;
  readonly egressAllow: readonly string[];
  /** Retention of raw uplinks; 0 keeps none. */
  readonly rawUplinkRetentionMs: number;
  /** Samples that rules may make from one uplink, however many rules hand them on. */
  readonly rawUplinkBytesMax: number;
  readonly demo: boolean;
  /** Script worker threads. */
  readonly scriptWorkers: number;
  /**
   * The process that started this one to run it on the pinned Node, and ends with it; see
   * bin/pinned-node.js.
   */
  readonly wrapperPid: number | undefined;
  /** Limits of one organization or uplink. */
  readonly quotas: Quotas;
}

const roles = ['ingest', 'query', 'live', 'rules', 'connectors', 'console'] as const;
/**
 * Settings that hold secrets; NAME_FILE can name a file with the value, as orchestrators provide
 * it.
 */
const secretNames = new Set([
  'RECORDS_URL',
  'SAMPLES_URL',
  'ADMIN_PASSWORD',
  'ADMIN_API_KEY',
  'SECRETS_KEY',
  'CLUSTER_SECRET',
  'SMTP_URL',
  'SMS_GATEWAY_URL',
  'GCP_SERVICE_ACCOUNT_KEY',
]);

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads every variable of docs/operating.md. Throws ConfigError for the first invalid value. */
export function readConfig(environment: Environment = process.env): Config {
  const text = (name: string) => textOf(environment, name);
  refuseSomeRoles(text('ROLES'));
  for (const name of ['NODE_URL', 'CLUSTER_SECRET', 'LEASE_SECONDS'])
    refuseSeveralNodes(name, text(name));
  const port = portOf('PORT', text('PORT'), 8080);
  const publicUrl = publicUrlOf(text('PUBLIC_URL'), port);
  return Object.freeze({
    host: text('HOST') ?? '0.0.0.0',
    port,
    dataDirectory: resolve(text('DATA_DIR') ?? './data'),
    publicUrl,
    mqttPort: portOf('MQTT_PORT', text('MQTT_PORT'), 1883),
    mqttTlsPort: portOf('MQTT_TLS_PORT', text('MQTT_TLS_PORT'), 8883),
    ...certificateOf(text('MQTT_TLS_CERT'), text('MQTT_TLS_KEY')),
    coapPort: portOf('COAP_PORT', text('COAP_PORT'), 5683),
    adminEmail: text('ADMIN_EMAIL') ?? 'admin@localhost',
    adminPassword: text('ADMIN_PASSWORD'),
    metricsToken: text('METRICS_TOKEN'),
    adminApiKey: text('ADMIN_API_KEY'),
    rateLimitPerSecond: wholeNumberOf('RATE_LIMIT_PER_SECOND', text('RATE_LIMIT_PER_SECOND'), {
      fallback: 0,
      min: 0,
      max: 1_000_000,
    }),
    corsOrigins: originsOf('CORS_ORIGINS', text('CORS_ORIGINS')),
    mapTiles: mapTilesOf(text('MAP_TILES_URL'), text('MAP_TILES_ATTRIBUTION')),
    trustedProxies: rangesOf('TRUSTED_PROXIES', text('TRUSTED_PROXIES')),
    recordsUrl: urlOf('RECORDS_URL', text('RECORDS_URL')),
    // Several addresses; see `refuseUnsupported`.
    samplesUrl: text('SAMPLES_URL'),
    busUrl: urlOf('BUS_URL', text('BUS_URL')),
    logLevel: oneOf('LOG_LEVEL', text('LOG_LEVEL'), 'info', logLevels),
    vendorAliases: oneOf('VENDOR_ALIASES', text('VENDOR_ALIASES'), 'header', vendorAliasModes),
    deviceAudience: text('DEVICE_AUDIENCE') ?? publicUrl,
    smtpUrl: urlOf('SMTP_URL', text('SMTP_URL')),
    mailFrom: text('MAIL_FROM'),
    smsGatewayUrl: urlOf('SMS_GATEWAY_URL', text('SMS_GATEWAY_URL')),
    gcpServiceAccountKey: text('GCP_SERVICE_ACCOUNT_KEY'),
    secretsKey: text('SECRETS_KEY'),
    revealConnectorSecrets: flagOf('REVEAL_CONNECTOR_SECRETS', text('REVEAL_CONNECTOR_SECRETS')),
    egressAllow: rangesOf('EGRESS_ALLOW', text('EGRESS_ALLOW')),
    rawUplinkRetentionMs: durationOf('RAW_UPLINK_RETENTION', text('RAW_UPLINK_RETENTION'), 'P7D'),
    rawUplinkBytesMax: wholeNumberOf('RAW_UPLINK_BYTES', text('RAW_UPLINK_BYTES'), {
      fallback: 2 ** 31,
      min: 64 * 2 ** 20,
      max: 2 ** 50,
    }),
    demo: flagOf('DEMO', text('DEMO')),
    scriptWorkers: wholeNumberOf('SCRIPT_WORKERS', text('SCRIPT_WORKERS'), {
      fallback: Math.max(1, availableParallelism() - 1),
      min: 1,
      max: 256,
    }),
    wrapperPid: Number(text('HELIOGRAPH_WRAPPER_PID')) || undefined,
    quotas: quotasFrom((_, { variable, standard: fallback }) =>
      wholeNumberOf(variable, text(variable), { fallback, min: 1, max: 1_000_000_000 }),
    ),
  });
}

/**
 * The value of the variable, or what is in the file that NAME_FILE names, without the line end
 * behind it.
 */
function textOf(environment: Environment, name: string): string | undefined {
  const value = environment[name] || undefined;
  const file = environment[`${name}_FILE`];
  if (!file || !secretNames.has(name)) return value;
  if (value !== undefined)
    throw new ConfigError(`${name} and ${name}_FILE are both set: unset one of them`);
  let contents: string;
  try {
    contents = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new ConfigError(`${name}_FILE=${file} cannot be used: ${(error as Error).message}`);
  }
  if (contents === '')
    throw new ConfigError(`${name}_FILE=${file} cannot be used: the file is empty`);
  return contents;
}

/** Without a slash at its end. */
function publicUrlOf(value: string | undefined, port: number): string {
  const url = urlOf('PUBLIC_URL', value) ?? `http://localhost:${port}`;
  return url.replace(/\/+$/, '');
}

function refuseSeveralNodes(name: string, value: string | undefined): void {
  if (value === undefined) return;
  throw new ConfigError(
    `${name} is set, but this version runs on one node: unset it, and use one platform for one database`,
  );
}

/**
 * Throws ConfigError for a part of the roles, because this version runs all roles in every process.
 */
function refuseSomeRoles(value: string | undefined): void {
  if (value === undefined) return;
  const given = new Set(listOf(value).map((name) => oneOf('ROLES', name, 'ingest', roles)));
  if (given.size < roles.length)
    refuse('ROLES', value, 'unset: this version runs all roles in one process');
}
