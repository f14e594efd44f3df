// Configuration: the environment, read once into a frozen Config. No other file reads process.env.
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import {
  type CertificateSetting,
  ConfigError,
  type Environment,
  listOf,
  refuse,
  Settings,
} from './config-values.ts';
import { type ClusterConfig, readCluster } from './cluster-settings.ts';
import type { MapTiles } from '../../model/map-tiles.ts';
import {
  emailAddressOf,
  type GroupRole,
  organizationRoles,
  type SignInProvider,
  workspaceRoles,
} from '../../model/user.ts';
import { type Quotas, quotasFrom } from '../../model/quota.ts';
import { hasFormOfId } from '../../model/ids.ts';

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
const vendorAliasModes = ['header', 'always', 'off'] as const;

type LogLevel = (typeof logLevels)[number];

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly dataDirectory: string;
  readonly publicUrl: string;
  /** With it the port speaks HTTPS only. */
  readonly tls: CertificateSetting | undefined;
  readonly mqttPort: number;
  readonly mqttTlsPort: number;
  /** As PEM; without it there is no MQTT over TLS. */
  readonly mqttTls: CertificateSetting | undefined;
  readonly coapPort: number;
  readonly adminEmail: string;
  readonly adminPassword: string | undefined;
  readonly adminApiKey: string | undefined;
  /** With it `/metrics` requires this bearer token. */
  readonly metricsToken: string | undefined;
  /** Requests per second and credential; 0 means unlimited. */
  readonly rateLimitPerSecond: number;
  /** Requests per second with one uplink secret; 0 means unlimited. */
  readonly uplinkRateLimitPerSecond: number;
  /** Origins whose pages may call the interface. */
  readonly corsOrigins: readonly string[];
  /** Street maps of the console; without them it draws an outline of the world. */
  readonly mapTiles: MapTiles | undefined;
  /** Hosts that workspaces may load map tiles from. */
  readonly mapOrigins: readonly string[];
  /** Proxies whose `X-Forwarded-For` is believed: addresses or CIDR ranges. */
  readonly trustedProxies: readonly string[];
  readonly recordsUrl: string | undefined;
  readonly samplesUrl: string | undefined;
  /** A node among several on common databases. */
  readonly cluster?: ClusterConfig | undefined;
  readonly logLevel: LogLevel;
  /** How long a stop may take. */
  readonly stopMs: number;
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
  /** Whether outputs reach the ranges of `egressAllow` only. */
  readonly egressOnlyAllowed: boolean;
  /** Retention of raw uplinks; 0 keeps none. */
  readonly rawUplinkRetentionMs: number;
  /** Maximum bytes of all raw uplinks; the oldest are deleted first. */
  readonly rawUplinkBytesMax: number;
  /** Whether assistants are served at `/mcp`. */
  readonly mcp: boolean;
  /** Of the files of all sample exports; 0 switches exports off. */
  readonly exportBytesMax: number;
  /** How long the file of an export is kept. */
  readonly exportRetentionMs: number;
  readonly demo: boolean;
  /** Script worker threads. */
  readonly scriptWorkers: number;
  /** Threads that take the connections of the HTTP port; 0: the main thread does. */
  readonly edges: number;
  /**
   * The process that started this one to run it on the pinned Node, and ends with it; see
   * bin/pinned-node.js.
   */
  readonly wrapperPid: number | undefined;
  /** Users sign in with it; undefined: only with passwords. */
  readonly provider: SignInProvider | undefined;
  /** Whether users sign in with passwords and passkeys of the platform. */
  readonly localSignIn: boolean;
  /** Limits of one organization or uplink. */
  readonly quotas: Quotas;
}

/** Reads every variable of docs/operating.md. Throws ConfigError for the first invalid value. */
export function readConfig(environment: Environment = process.env): Config {
  const settings = new Settings(environment);
  const text = (name: string) => settings.text(name);
  const port = settings.port('PORT', 8080);
  const tls = settings.certificate({ cert: 'TLS_CERT_FILE', key: 'TLS_KEY_FILE' });
  const mqttTls = settings.certificate({ cert: 'MQTT_TLS_CERT', key: 'MQTT_TLS_KEY' }) ?? tls;
  const publicUrl = publicUrlOf(
    settings.url('PUBLIC_URL'),
    tls === undefined ? 'http' : 'https',
    port,
  );
  const provider = providerOf(settings);
  return Object.freeze({
    provider,
    localSignIn: localSignInOf(settings, provider),
    host: text('HOST') ?? '0.0.0.0',
    port,
    dataDirectory: resolve(text('DATA_DIR') ?? './data'),
    publicUrl,
    mqttPort: settings.port('MQTT_PORT', 1883),
    mqttTlsPort: settings.port('MQTT_TLS_PORT', 8883),
    tls,
    mqttTls,
    coapPort: settings.port('COAP_PORT', 5683),
    adminEmail: text('ADMIN_EMAIL') ?? 'admin@localhost',
    adminPassword: text('ADMIN_PASSWORD'),
    metricsToken: text('METRICS_TOKEN'),
    adminApiKey: text('ADMIN_API_KEY'),
    rateLimitPerSecond: settings.wholeNumber('RATE_LIMIT_PER_SECOND', {
      fallback: 0,
      min: 0,
      max: 1_000_000,
    }),
    uplinkRateLimitPerSecond: settings.wholeNumber('UPLINK_RATE_LIMIT_PER_SECOND', {
      fallback: 2_000,
      min: 0,
      max: 1_000_000,
    }),
    corsOrigins: settings.origins('CORS_ORIGINS'),
    mapTiles: settings.mapTiles(),
    mapOrigins: settings.mapOrigins(),
    trustedProxies: settings.ranges('TRUSTED_PROXIES'),
    recordsUrl: settings.url('RECORDS_URL'),
    // Several addresses; see `refuseUnsupported`.
    samplesUrl: text('SAMPLES_URL'),
    cluster: readCluster(settings, Date.now()),
    stopMs: settings.wholeNumber('STOP_SECONDS', { fallback: 25, min: 2, max: 3_600 }) * 1_000,
    logLevel: settings.oneOf('LOG_LEVEL', 'info', logLevels),
    vendorAliases: settings.oneOf('VENDOR_ALIASES', 'header', vendorAliasModes),
    deviceAudience: text('DEVICE_AUDIENCE') ?? publicUrl,
    smtpUrl: settings.url('SMTP_URL'),
    mailFrom: text('MAIL_FROM'),
    smsGatewayUrl: settings.url('SMS_GATEWAY_URL'),
    gcpServiceAccountKey: text('GCP_SERVICE_ACCOUNT_KEY'),
    secretsKey: text('SECRETS_KEY'),
    revealConnectorSecrets: settings.flag('REVEAL_CONNECTOR_SECRETS'),
    egressAllow: settings.ranges('EGRESS_ALLOW'),
    egressOnlyAllowed: settings.flag('EGRESS_ONLY_ALLOWED'),
    rawUplinkRetentionMs: settings.duration('RAW_UPLINK_RETENTION', 'P7D'),
    rawUplinkBytesMax: settings.wholeNumber('RAW_UPLINK_BYTES', {
      fallback: 2 ** 31,
      min: 64 * 2 ** 20,
      max: 2 ** 50,
    }),
    mcp: settings.oneOf('MCP', 'on', ['on', 'off']) === 'on',
    exportBytesMax: settings.wholeNumber('EXPORT_BYTES', {
      fallback: 10 * 2 ** 30,
      min: 0,
      max: 2 ** 50,
    }),
    exportRetentionMs: settings.duration('EXPORT_RETENTION', 'P3D'),
    demo: settings.flag('DEMO'),
    scriptWorkers: settings.wholeNumber('SCRIPT_WORKERS', {
      fallback: Math.max(1, availableParallelism() - 1),
      min: 1,
      max: 256,
    }),
    edges: settings.wholeNumber('EDGES', { fallback: 0, min: 0, max: 64 }),
    wrapperPid: Number(text('HELIOGRAPH_WRAPPER_PID')) || undefined,
    quotas: quotasFrom((_, { variable, standard: fallback }) =>
      settings.wholeNumber(variable, { fallback, min: 1, max: 1_000_000_000 }),
    ),
  });
}

/** Without a slash at its end. */
function publicUrlOf(value: string | undefined, scheme: string, port: number): string {
  const url = value ?? `${scheme}://localhost:${port}`;
  return url.replace(/\/+$/, '');
}

// Settings of the sign-in provider: `OIDC_...`, checked as far as this is possible without asking the provider.

const others = [
  'OIDC_CLIENT_ID',
  'OIDC_CLIENT_SECRET',
  'OIDC_LABEL',
  'OIDC_SCOPES',
  'OIDC_GROUPS_CLAIM',
  'OIDC_ROLES',
  'OIDC_ALLOWED_DOMAINS',
  'OIDC_TRUST_EMAIL',
] as const;

/** Undefined without `OIDC_ISSUER`. */
function providerOf(settings: Settings): SignInProvider | undefined {
  const text = (name: string) => settings.text(name);
  const issuer = text('OIDC_ISSUER');
  if (issuer === undefined) {
    const given = others.find((name) => text(name) !== undefined);
    if (given === undefined) return undefined;
    throw new ConfigError(
      `${given} is set but OIDC_ISSUER is not. Set it to the issuer URL of the identity provider.`,
    );
  }
  const clientId = text('OIDC_CLIENT_ID');
  if (clientId === undefined)
    throw new ConfigError(
      'OIDC_ISSUER is set but OIDC_CLIENT_ID is not. Register the platform with the identity provider and set the client ID.',
    );
  return {
    issuer: issuerOf(issuer),
    clientId,
    clientSecret: text('OIDC_CLIENT_SECRET'),
    label: text('OIDC_LABEL') ?? new URL(issuer).hostname,
    scopes: scopesOf(text('OIDC_SCOPES')),
    groupsClaim: text('OIDC_GROUPS_CLAIM') ?? 'groups',
    roles: rolesOf(text('OIDC_ROLES')),
    allowedDomains: listOf(text('OIDC_ALLOWED_DOMAINS')).map(emailAddressOf),
    trustsEmail: settings.flag('OIDC_TRUST_EMAIL'),
  };
}

/** Whether users sign in with passwords and passkeys of the platform. */
function localSignInOf(settings: Settings, provider: SignInProvider | undefined): boolean {
  const isOn = settings.flag('LOCAL_SIGN_IN', true);
  if (isOn || provider !== undefined) return isOn;
  throw new ConfigError('LOCAL_SIGN_IN=0 requires OIDC_ISSUER; otherwise no one could sign in');
}

function issuerOf(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url?.hostname ?? '');
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback)) return value;
  return refuse('OIDC_ISSUER', value, 'the issuer URL of the provider, with https');
}

function scopesOf(value: string | undefined): string {
  if (value === undefined) return 'openid email profile';
  if (!value.split(' ').includes('openid'))
    refuse('OIDC_SCOPES', value, 'space-separated scopes that include openid');
  return value;
}

const rolesForm = 'entries of the form GROUP=ROLE@ID, such as admins=ADMIN@28…;basel=EDITOR@29…';

/** Groups may contain `=`, as names of directories do, so that the last one separates. */
function rolesOf(value: string | undefined): readonly GroupRole[] {
  const entries = (value ?? '').split(';').map((entry) => entry.trim());
  return entries.filter((entry) => entry !== '').map(groupRoleOf);
}

function groupRoleOf(entry: string): GroupRole {
  const [, group = '', role, id = ''] = /^(.+)=([A-Z]+)@([0-9a-f]{16})$/.exec(entry) ?? [];
  const inOrganization = organizationRoles.find((one) => one === role);
  if (hasFormOfId('organization', id) && inOrganization !== undefined)
    return { group, role: inOrganization, organizationId: id };
  const inWorkspace = workspaceRoles.find((one) => one === role);
  if (hasFormOfId('workspace', id) && inWorkspace !== undefined)
    return { group, role: inWorkspace, workspaceId: id };
  return refuse('OIDC_ROLES', entry, rolesForm);
}
