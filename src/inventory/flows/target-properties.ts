// Checks the properties of output connectors to brokers, databases and clouds, and fills in what was left out (contract 9).
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Json, JsonObject } from '../../model/json.ts';
import { isJsonObject } from '../../model/json.ts';
import {
  amqpPorts,
  eventHub,
  httpPorts,
  kafkaBrokers,
  kinesisStream,
  mqttPorts,
  natsPorts,
  pubSubTopicForm,
  serviceAccount,
  sqlAddress,
  targetUri,
} from '../../connectors/target-address.ts';
import {
  type AmazonKinesisProperties,
  type AmqpProperties,
  type AzureProperties,
  type GcpProperties,
  type InfluxProperties,
  influxVersions,
  type KafkaProperties,
  kafkaSaslMechanisms,
  kafkaSecurityProtocols,
  mqttQualities,
  type MqttProperties,
  mqttVersions,
  type NatsProperties,
  type SqlColumn,
  sqlColumnTypes,
  type SqlProperties,
  sqlTlsModes,
  type TlsProperties,
  type UserProperties,
} from '../../model/target-properties.ts';
import type { PropertyReader } from '../../connectors/property-parser.ts';

const columnsMax = 100;
const identifierBytesMax = 63;
const exchangeBytesMax = 255;

const tlsSecrets = ['clientKey'];

/** Checks and secrets of each type. */
export const targetProperties = {
  MQTT: { read: readMqtt, secrets: ['password', ...tlsSecrets] },
  AMQP: { read: readAmqp, secrets: ['password', ...tlsSecrets] },
  NATS: { read: readNats, secrets: ['password', 'token', 'credentials', ...tlsSecrets] },
  KAFKA: { read: readKafka, secrets: ['saslJaasPassword', ...tlsSecrets] },
  INFLUX_DB: { read: readInflux, secrets: ['token', 'password'] },
  SQL: { read: readSql, secrets: ['password', ...tlsSecrets] },
  AZURE: { read: readAzure, secrets: ['connectionString'] },
  GCP: { read: readGcp, secrets: ['serviceAccountKey'] },
  AMAZON_KINESIS: { read: readKinesis, secrets: ['iamSecretAccessKey'] },
} as const satisfies Readonly<
  Record<string, { read(sent: PropertyReader): JsonObject; readonly secrets: readonly string[] }>
>;

function readUser(sent: PropertyReader): UserProperties {
  const user = { username: sent.text('username'), password: sent.text('password') };
  if (user.password !== null && user.username === null)
    sent.refuse('username', 'is needed with a password');
  return user;
}

function readTls(sent: PropertyReader): TlsProperties {
  const certificate = (name: 'caCertificate' | 'clientCertificate'): string | null => {
    const text = sent.text(name);
    if (text !== null && !can(() => new X509Certificate(text)))
      sent.refuse(name, 'must be a certificate in PEM');
    return text;
  };
  const clientKey = sent.text('clientKey');
  if (clientKey !== null && !can(() => createPrivateKey(clientKey))) {
    sent.refuse('clientKey', 'must be a private key in PEM without a passphrase');
  }
  const tls = {
    caCertificate: certificate('caCertificate'),
    clientCertificate: certificate('clientCertificate'),
    clientKey,
  };
  if ((tls.clientCertificate === null) !== (clientKey === null)) {
    sent.refuse(
      clientKey === null ? 'clientKey' : 'clientCertificate',
      'is needed with the other one',
    );
  }
  return tls;
}

function can(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

/** `ports` has the schemes that are meant; a path is allowed for `mayHavePath`. */
function readUri(
  sent: PropertyReader,
  ports: Readonly<Record<string, number>>,
  mayHavePath = false,
): string {
  const uri = sent.needed('uri');
  const target = targetUri(uri, ports);
  if (target === undefined || (target.path !== '' && !mayHavePath)) {
    const forms = Object.keys(ports).map(
      (scheme) => `${scheme}://host:port${mayHavePath ? '/path' : ''}`,
    );
    sent.refuse('uri', `must be ${forms.join(' or ')}, without user and password`);
  }
  return uri;
}

function readMqtt(sent: PropertyReader): MqttProperties {
  return {
    uri: readUri(sent, mqttPorts),
    protocolVersion: sent.oneOf('protocolVersion', mqttVersions, 'V5'),
    clientId: sent.text('clientId'),
    ...readUser(sent),
    topic: sent.needed('topic'),
    // Without an acknowledgement nobody would know whether a delivery arrived.
    qos: sent.number('qos', mqttQualities, 1),
    retain: sent.flag('retain'),
    ...readTls(sent),
  };
}

function readAmqp(sent: PropertyReader): AmqpProperties {
  const exchange = sent.text('exchange') ?? '';
  const routingKey = sent.text('routingKey') ?? '';
  if (Buffer.byteLength(exchange) > exchangeBytesMax)
    sent.refuse('exchange', `has at most ${exchangeBytesMax} bytes`);
  if (exchange === '' && routingKey === '')
    sent.refuse('routingKey', 'is needed for the default exchange');
  return {
    uri: readUri(sent, amqpPorts, true),
    ...readUser(sent),
    exchange,
    routingKey,
    persistent: sent.flag('persistent', true),
    mandatory: sent.flag('mandatory', true),
    ...readTls(sent),
  };
}

function readNats(sent: PropertyReader): NatsProperties {
  const credentials = sent.text('credentials');
  if (
    credentials !== null &&
    !/-----BEGIN NATS USER JWT-----[^]*-----BEGIN USER NKEY SEED-----/.test(credentials)
  ) {
    sent.refuse('credentials', 'must be the text of a credentials file');
  }
  return {
    uri: readUri(sent, natsPorts),
    ...readUser(sent),
    token: sent.text('token'),
    credentials,
    subject: sent.needed('subject'),
    jetStream: sent.flag('jetStream'),
    ...readTls(sent),
  };
}

function readKafka(sent: PropertyReader): KafkaProperties {
  const kafkaTopic = sent.needed('kafkaTopic');
  if (!/^[\w.-]{1,249}$/.test(kafkaTopic))
    sent.refuse('kafkaTopic', 'has letters, digits, dots, dashes and underscores');
  const kafkaBootstrapServers = sent.needed('kafkaBootstrapServers');
  if (kafkaBrokers(kafkaBootstrapServers) === undefined) {
    sent.refuse('kafkaBootstrapServers', 'must be host:port, several separated by commas');
  }
  const securityProtocol = sent.oneOf('securityProtocol', kafkaSecurityProtocols, 'SASL_SSL');
  const isSasl = securityProtocol.startsWith('SASL');
  const saslText = (name: string): string | null => (isSasl ? sent.needed(name) : sent.text(name));
  return {
    kafkaTopic,
    kafkaBootstrapServers,
    securityProtocol,
    saslMechanism: sent.oneOf('saslMechanism', kafkaSaslMechanisms, 'PLAIN'),
    saslJaasUsername: saslText('saslJaasUsername'),
    saslJaasPassword: saslText('saslJaasPassword'),
    ...readTls(sent),
  };
}

function readInflux(sent: PropertyReader): InfluxProperties {
  const version = sent.oneOf('version', influxVersions, 'V2');
  const versionText = (name: string): string | null =>
    version === 'V2' ? sent.needed(name) : sent.text(name);
  const token = versionText('token');
  if (token !== null && /[^\x21-\x7e]/.test(token))
    sent.refuse('token', 'must be printable characters without spaces');
  const measurementName = sent.needed('measurementName');
  // Lines that begin so are comments and would be dropped.
  if (measurementName.startsWith('#')) sent.refuse('measurementName', 'must not begin with #');
  return {
    uri: readUri(sent, httpPorts, true),
    version,
    token,
    orgId: versionText('orgId'),
    ...readUser(sent),
    bucket: sent.needed('bucket'),
    measurementName,
  };
}

function readSql(sent: PropertyReader): SqlProperties {
  const jdbcUrl = sent.needed('jdbcUrl');
  if (sqlAddress(jdbcUrl) === undefined) {
    const forms = ['postgresql', 'mariadb', 'mysql'].map(
      (dialect) => `jdbc:${dialect}://host:port/database`,
    );
    sent.refuse('jdbcUrl', `must be ${forms.join(' or ')}, without parameters`);
  }
  const columns = sent.list('columns', columnsMax).map((column, i) => readColumn(sent, column, i));
  const repeated = columns.findIndex(
    ({ column }, i) => columns.findIndex((other) => other.column === column) < i,
  );
  if (repeated >= 0) sent.refuse(`columns.${repeated}.column`, 'is there twice');
  const schema = sent.text('schema');
  return {
    jdbcUrl,
    username: sent.needed('username'),
    password: sent.needed('password'),
    tls: sent.oneOf('tls', sqlTlsModes, 'REQUIRED'),
    schema: schema === null ? null : identifier(sent, 'schema', schema),
    table: identifier(sent, 'table', sent.needed('table')),
    columns,
    ignoreDuplicates: sent.flag('ignoreDuplicates', true),
    ...readTls(sent),
  };
}

function readColumn(sent: PropertyReader, value: Json, i: number): SqlColumn {
  const {
    column,
    path,
    type = path === 'timestamp' ? 'TIMESTAMP' : 'AUTO',
  } = isJsonObject(value) ? value : {};
  if (typeof path !== 'string' || path === '') return sent.refuse(`columns.${i}.path`, 'is needed');
  const known = sqlColumnTypes.find((one) => one === type);
  if (known === undefined)
    return sent.refuse(`columns.${i}.type`, `must be one of ${sqlColumnTypes.join(', ')}`);
  return { column: identifier(sent, `columns.${i}.column`, column), path, type: known };
}

/** Quoted where it is used, so that any name is only a name. */
function identifier(sent: PropertyReader, member: string, name: Json | undefined): string {
  if (typeof name !== 'string' || name === '') return sent.refuse(member, 'is needed');
  const isUsable = !name.includes('\0') && Buffer.byteLength(name) <= identifierBytesMax;
  return isUsable ? name : sent.refuse(member, `has at most ${identifierBytesMax} bytes`);
}

function readAzure(sent: PropertyReader): AzureProperties {
  const connectionString = sent.needed('connectionString');
  if (eventHub(connectionString) === undefined) {
    const form = 'Endpoint=sb://host/;SharedAccessKeyName=name;SharedAccessKey=key;EntityPath=hub';
    sent.refuse('connectionString', `must be that of an Event Hub: ${form}`);
  }
  return { connectionString };
}

function readGcp(sent: PropertyReader): GcpProperties {
  const pubSubTopic = sent.needed('pubSubTopic');
  if (!pubSubTopicForm.test(pubSubTopic))
    sent.refuse('pubSubTopic', 'must be projects/project/topics/topic');
  const serviceAccountKey = sent.text('serviceAccountKey') || null;
  const account = serviceAccountKey === null ? undefined : serviceAccount(serviceAccountKey);
  const isKey = account !== undefined && can(() => createPrivateKey(account.privateKey));
  if (serviceAccountKey !== null && !isKey) {
    sent.refuse('serviceAccountKey', 'must be the JSON text of a service account key');
  }
  return { pubSubTopic, serviceAccountKey, endpoint: sent.text('endpoint') };
}

function readKinesis(sent: PropertyReader): AmazonKinesisProperties {
  const iamAccessKeyId = sent.needed('iamAccessKeyId');
  if (!/^\w{16,128}$/.test(iamAccessKeyId))
    sent.refuse('iamAccessKeyId', 'must be the id of an access key');
  const kinesisArn = sent.needed('kinesisArn');
  if (kinesisStream(kinesisArn) === undefined) {
    sent.refuse('kinesisArn', 'must be arn:aws:kinesis:region:account:stream/name');
  }
  const iamSecretAccessKey = sent.needed('iamSecretAccessKey');
  return { iamAccessKeyId, iamSecretAccessKey, kinesisArn, endpoint: sent.text('endpoint') };
}
