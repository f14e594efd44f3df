// Cluster settings: what several nodes on common databases need, and a clear sentence for each value that they cannot use.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { ConfigError, fileOf, refuse, type Settings } from './config-values.ts';
import { clusterSecretWeakness, isLoopback } from '../../cluster/nodes/cluster-secret.ts';

export interface ClusterConfig {
  /** Where the other nodes reach this one, with its port. */
  readonly nodeUrl: string;
  /** The address that the internal port listens on. */
  readonly host: string;
  readonly secret: string;
  readonly leaseMs: number;
  /** Nodes that have the journal of this one, itself included: 1 or 2. */
  readonly journalCopies?: number;
  /** Whether nodes on other machines talk without TLS. */
  readonly plaintext?: boolean;
  /** It ships an adopted copy: it serves no devices, and other nodes do not reach it. */
  readonly shipsOnly?: true;
  /** As PEM; the authority is that of the certificates of the other nodes. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca?: string };
}

/** The value of a variable; undefined when it is not set. */
type Read = (name: string) => string | undefined;

const ofNodes = [
  'CLUSTER_SECRET',
  'LEASE_SECONDS',
  'JOURNAL_COPIES',
  'CLUSTER_PLAINTEXT',
  'NODE_TLS_CERT',
  'NODE_TLS_KEY',
  'NODE_TLS_CA',
] as const;
/** What all nodes must reach, and why. */
const required = {
  RECORDS_URL: 'a cluster stores its records in PostgreSQL',
  SAMPLES_URL: 'a cluster stores its samples in ClickHouse',
  SECRETS_KEY: 'all nodes must decrypt stored secrets with the same key',
  CLUSTER_SECRET: 'nodes authenticate to each other with it',
} as const;

/**
 * The settings of a node among several; undefined without NODE_URL. `now` is the time at which
 * certificates must be valid. Throws ConfigError for the first value that cannot be used.
 */
export function readCluster(settings: Settings, now: number): ClusterConfig | undefined {
  const read: Read = (name) => settings.text(name);
  const given = read('NODE_URL');
  if (given === undefined) return refuseWithoutNode(read);
  const url = nodeUrlOf(given);
  for (const [name, reason] of Object.entries(required))
    if (read(name) === undefined)
      throw new ConfigError(`NODE_URL is set but ${name} is not: ${reason}`);
  const tls = tlsOf(url, read, now);
  const plaintext = plaintextOf(url, settings);
  return {
    nodeUrl: url.origin,
    host: isLocalPlain(url) && !plaintext ? hostOf(url) : (read('HOST') ?? '0.0.0.0'),
    secret: secretOf(read('CLUSTER_SECRET') ?? ''),
    leaseMs: settings.wholeNumber('LEASE_SECONDS', { fallback: 10, min: 3, max: 60 }) * 1_000,
    journalCopies: settings.wholeNumber('JOURNAL_COPIES', {
      fallback: 1,
      min: 1,
      max: 2,
    }),
    ...(plaintext && { plaintext }),
    ...(tls !== undefined && { tls }),
  };
}

function refuseWithoutNode(read: Read): undefined {
  const name = ofNodes.find((one) => read(one) !== undefined);
  if (name !== undefined)
    throw new ConfigError(
      `${name} is set but NODE_URL is not. Set NODE_URL to the address where other nodes reach this one, or unset ${name} to run a single node.`,
    );
}

/** Others reach the node there, so that it must name a host and a port, and nothing else. */
function nodeUrlOf(value: string): URL {
  const accepted = 'the URL at which other nodes reach this node, such as http://10.0.0.5:7070';
  const url = URL.canParse(value) ? new URL(value) : refuse('NODE_URL', value, accepted);
  if (url.username !== '' || url.password !== '')
    return refuse('NODE_URL', '…', `${accepted}, without a user and a password`);
  if (!/^https?:$/.test(url.protocol)) return refuse('NODE_URL', value, accepted);
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    return refuse('NODE_URL', value, `${accepted}, without a path`);
  // A URL omits the usual port of its protocol.
  if (!/:\d+\/?$/.test(value)) return refuse('NODE_URL', value, `${accepted}, with its port`);
  if (isEverywhere(url.hostname))
    return refuse(
      'NODE_URL',
      value,
      `${accepted}; ${url.hostname} does not identify a single machine`,
    );
  return url;
}

function isEverywhere(host: string): boolean {
  return host === '0.0.0.0' || host === '[::]';
}

/** Requests between nodes are signed, but without TLS anybody on their way reads them. */
function plaintextOf(url: URL, settings: Settings): boolean {
  const plaintext = settings.flag('CLUSTER_PLAINTEXT');
  if (url.protocol === 'https:' || plaintext || isLoopback(url.hostname)) return plaintext;
  throw new ConfigError(
    `NODE_URL=${url.origin} is not encrypted: whoever sees the network between the nodes reads the data of all tenants. Begin NODE_URL with https and set NODE_TLS_CERT and NODE_TLS_KEY, or set CLUSTER_PLAINTEXT=1 if something else encrypts that network`,
  );
}

/** Nodes of one machine: their ports are for it alone. */
function isLocalPlain(url: URL): boolean {
  return url.protocol === 'http:' && isLoopback(url.hostname);
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function secretOf(secret: string): string {
  const weakness = clusterSecretWeakness(secret);
  if (weakness !== undefined) throw new ConfigError(`Invalid CLUSTER_SECRET: ${weakness}`);
  return secret;
}

function tlsOf(url: URL, read: Read, now: number): ClusterConfig['tls'] {
  const [cert, key, ca] = ['NODE_TLS_CERT', 'NODE_TLS_KEY', 'NODE_TLS_CA'].map(read);
  if (url.protocol === 'http:') {
    const name = ['NODE_TLS_CERT', 'NODE_TLS_KEY', 'NODE_TLS_CA'].find((one) => read(one));
    if (name === undefined) return undefined;
    throw new ConfigError(
      `${name} is set, but NODE_URL=${url.origin} does not use TLS. Use an https URL, or unset ${name}.`,
    );
  }
  if (cert === undefined || key === undefined)
    throw new ConfigError(
      `NODE_URL=${url.origin} uses TLS, but ${cert === undefined ? 'NODE_TLS_CERT' : 'NODE_TLS_KEY'} is not set. Set both the certificate and the key file.`,
    );
  const files = {
    cert: fileOf('NODE_TLS_CERT', cert).toString(),
    key: fileOf('NODE_TLS_KEY', key).toString(),
  };
  checkCertificate({ ...files, path: cert, keyPath: key }, url.hostname, now);
  if (ca === undefined) return files;
  const authority = fileOf('NODE_TLS_CA', ca).toString();
  certificateIn('NODE_TLS_CA', ca, authority);
  return { ...files, ca: authority };
}

function certificateIn(name: string, path: string, pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    return refuse(name, path, 'a PEM certificate file');
  }
}

function checkCertificate(
  {
    cert,
    path,
    key,
    keyPath,
  }: {
    readonly cert: string;
    readonly path: string;
    readonly key: string;
    readonly keyPath: string;
  },
  hostname: string,
  now: number,
): void {
  const certificate = certificateIn('NODE_TLS_CERT', path, cert);
  if (!isKeyOf(certificate, key))
    refuse('NODE_TLS_KEY', keyPath, `the PEM private key file for ${path}`);
  const [from, to] = [certificate.validFrom, certificate.validTo];
  if (now < Date.parse(from) || now > Date.parse(to))
    throw new ConfigError(
      `Invalid NODE_TLS_CERT=${path}: the certificate is valid from ${from} to ${to}. Renew it, or correct this machine's clock.`,
    );
  const host = hostname.replace(/^\[|\]$/g, '');
  const named = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host);
  if (named === undefined)
    throw new ConfigError(
      `Invalid NODE_TLS_CERT=${path}: the certificate does not cover ${host}, the host of NODE_URL`,
    );
}

function isKeyOf(certificate: X509Certificate, key: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
