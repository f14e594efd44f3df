// Addresses of targets as people write them: URIs, JDBC URLs, lists of brokers, connection strings and resource names.

/** A host and port; IPv6 addresses without brackets. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** What the names of hosts may consist of; anything else would be read differently by different programs. */
const hostForm = /^(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_.])?|[0-9a-f:.]+)$/i;

export interface TargetUri extends Endpoint {
  /** Without the colon. */
  readonly scheme: string;
  /** Without the leading slash, decoded; empty without one. */
  readonly path: string;
}

/**
 * Reads `scheme://host[:port][/path]`; `ports` has the allowed schemes and their usual ports. Undefined for anything else, also
 * for user names and passwords, queries and fragments inside, which have fields of their own.
 */
export function targetUri(
  text: string,
  ports: Readonly<Record<string, number>>,
): TargetUri | undefined {
  const url = URL.parse(text);
  if (
    url === null ||
    url.username !== '' ||
    url.password !== '' ||
    url.search !== '' ||
    url.hash !== ''
  )
    return undefined;
  const scheme = url.protocol.slice(0, -1);
  const usual = ports[scheme];
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (usual === undefined || !hostForm.test(host)) return undefined;
  const path = decoded(url.pathname.replace(/^\//, ''));
  return path === undefined
    ? undefined
    : { scheme, host, port: url.port === '' ? usual : Number(url.port), path };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

export const mqttPorts = { mqtt: 1883, mqtts: 8883 } as const;
export const amqpPorts = { amqp: 5672, amqps: 5671 } as const;
export const natsPorts = { nats: 4222, tls: 4222 } as const;
export const httpPorts = { http: 80, https: 443 } as const;
const sqlPorts = { postgresql: 5432, mariadb: 3306, mysql: 3306 } as const;

export interface SqlAddress extends Endpoint {
  readonly dialect: keyof typeof sqlPorts;
  readonly database: string;
}

/** Reads `jdbc:<dialect>://host[:port]/database`; undefined for anything else. */
export function sqlAddress(jdbcUrl: string): SqlAddress | undefined {
  if (!jdbcUrl.startsWith('jdbc:')) return undefined;
  const uri = targetUri(jdbcUrl.slice('jdbc:'.length), sqlPorts);
  if (uri === undefined || uri.path === '' || uri.path.includes('/')) return undefined;
  const { scheme, host, port, path } = uri;
  return { dialect: scheme as keyof typeof sqlPorts, host, port, database: path };
}

/** Reads `host:port,host:port`; undefined when one of them is not that. */
export function kafkaBrokers(text: string): readonly Endpoint[] | undefined {
  const brokers = text
    .split(',')
    .map((broker) => targetUri(`kafka://${broker.trim()}`, { kafka: 9092 }));
  return brokers.every((broker) => broker !== undefined && broker.path === '')
    ? (brokers as readonly TargetUri[]).map(({ host, port }) => ({ host, port }))
    : undefined;
}

export interface EventHub {
  readonly host: string;
  readonly hub: string;
  readonly keyName: string;
  readonly key: string;
}

/** Reads the connection string of an Event Hub; undefined when a part is missing. */
export function eventHub(connectionString: string): EventHub | undefined {
  const parts = new Map(
    connectionString.split(';').map((part) => {
      const at = part.indexOf('=');
      return [part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim()] as const;
    }),
  );
  const endpoint = targetUri(parts.get('endpoint') ?? '', { sb: 443 });
  const [hub, keyName, key] = [
    parts.get('entitypath'),
    parts.get('sharedaccesskeyname'),
    parts.get('sharedaccesskey'),
  ];
  if (endpoint === undefined || endpoint.path !== '' || !hub || !keyName || !key) return undefined;
  const host = endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host;
  return { host: endpoint.port === 443 ? host : `${host}:${endpoint.port}`, hub, keyName, key };
}

export interface KinesisStream {
  readonly arn: string;
  readonly region: string;
  /** The region's public endpoint. */
  readonly endpoint: string;
}

/** Reads `arn:aws:kinesis:<region>:<account>:stream/<name>`; undefined for anything else. */
export function kinesisStream(arn: string): KinesisStream | undefined {
  const match =
    /^arn:(aws[a-z-]*):kinesis:([a-z0-9-]{1,40}):\d{12}:stream\/[A-Za-z0-9_.-]{1,128}$/.exec(arn);
  if (match === null) return undefined;
  const [, partition, region] = match as unknown as readonly [string, string, string];
  const domain = partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com';
  return { arn, region, endpoint: `https://kinesis.${region}.${domain}` };
}

export interface ServiceAccount {
  readonly email: string;
  readonly keyId: string;
  readonly privateKey: string;
}

/** Reads the JSON text of a service account's key; undefined when a member is missing. */
export function serviceAccount(text: string): ServiceAccount | undefined {
  const key = parsed(text);
  const member = (name: string): string | undefined => {
    const value = key?.[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const [email, keyId, privateKey] = [
    member('client_email'),
    member('private_key_id'),
    member('private_key'),
  ];
  if (
    email === undefined ||
    keyId === undefined ||
    !privateKey?.includes('-----BEGIN PRIVATE KEY-----')
  )
    return undefined;
  return { email, keyId, privateKey };
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}

export const pubSubTopicForm = /^projects\/[a-z0-9.:-]{4,100}\/topics\/[A-Za-z][\w.~+%-]{2,254}$/;
