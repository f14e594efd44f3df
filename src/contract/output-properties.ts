// The properties of each output connector type as a schema of its own, with an example; `needed` members must be sent (contract 9).
import Type, { type TObject, type TSchema } from 'typebox';
import type { OutputConnectorType } from '../model/connector.ts';
import { webhookAuthTypes, webhookMethods } from '../model/message-properties.ts';
import {
  influxVersions,
  kafkaSaslMechanisms,
  kafkaSecurityProtocols,
  mqttQualities,
  mqttVersions,
  sqlColumnTypes,
  sqlTlsModes,
} from '../model/target-properties.ts';
import { object, oneOf, optional } from './record-fields.ts';

/** The types that are made with properties. */
type DescribedType = Exclude<OutputConnectorType, 'DATABASE'>;

const text = (description: string): TSchema => Type.String({ description });
const optionalText = (description: string) => optional(Type.String({ description }));
const flag = (description: string) => optional(Type.Boolean({ description }));
const texts = (description: string) =>
  optional(
    Type.Unsafe<object>({ type: 'object', additionalProperties: { type: 'string' }, description }),
  );

const user = {
  username: optionalText('Needed with a password'),
  password: optionalText('A secret'),
};

const tls = {
  caCertificate: optionalText('Of a private authority, in PEM'),
  clientCertificate: optionalText('In PEM; with clientKey'),
  clientKey: optionalText('In PEM, without a passphrase; a secret'),
};

const clientCredentials = Type.Object({
  tokenUrl: Type.String(),
  clientId: Type.String(),
  clientSecret: Type.String({ description: 'A secret' }),
  scope: optional(Type.String()),
});

const webhook = Type.Object({
  uri: text('http or https; a template whose scheme and host are fixed'),
  method: optional(oneOf(webhookMethods)),
  contentType: optional(oneOf(['JSON'])),
  headers: texts('Header to value; values are templates'),
  authType: optional(oneOf(webhookAuthTypes)),
  authHeaders: texts('For HEADER; secrets'),
  basicCredentials: optionalText('For BASIC: user:password; a secret'),
  bearerToken: optionalText('For BEARER; a secret'),
  oauth2: optional(clientCredentials),
  hmacSecret: optionalText('Signs every body; a secret'),
  hmacHeader: optionalText('Where the signature stands; X-Signature when absent'),
  caCertificate: optionalText('Of a private authority, in PEM'),
  customPayload: optionalText("A template in place of the connector's, as old clients send it"),
  useCustomPayload: flag('Use it'),
});

const downlink = Type.Object({
  targetDeviceIds: optional(
    Type.Array(Type.String(), { maxItems: 100, description: 'None: the device of the sample' }),
  ),
  downlinkType: optional(oneOf(['LORA', 'MQTT'])),
  port: optional(
    Type.Integer({ description: 'LORA: 1 to 223; the encoder chooses when absent, else 1' }),
  ),
  confirmed: flag('LORA'),
  topic: optionalText('Needed for MQTT'),
  dataFlowId: optional(Type.String()),
  raw: flag('Send without the encoder of the device type'),
  rawDownlinkPayload: optionalText('Needed when raw; a template, hexadecimal for LORA'),
  downlinkPayload: optional(object),
});

const recipientPhone = Type.Object({ prefix: Type.String(), phone: Type.String() });

const sqlColumn = Type.Object({
  column: Type.String(),
  path: Type.String({ description: 'Of the sample: data.temperature, timestamp, device.name ...' }),
  type: optional(oneOf(sqlColumnTypes)),
});

/** Every type's property object. */
export const outputPropertySchemas = {
  CUSTOM_DATABASE: Type.Object({
    topic: text('Of the written samples'),
    targetDeviceId: optionalText('Needed when useCurrentDevice is false'),
    useCurrentDevice: flag(
      'Writes to the device of the sample; the default without targetDeviceId',
    ),
  }),
  WEBHOOK: webhook,
  MAIL: Type.Object({
    subjectTemplate: text('A template'),
    messageTemplate: text('A template'),
    recipients: Type.Array(Type.String(), { minItems: 1, maxItems: 50 }),
  }),
  SMS: Type.Object({
    messageText: text('A template'),
    recipientPhones: Type.Array(recipientPhone, { minItems: 1, maxItems: 50 }),
  }),
  DOWNLINK: downlink,
  AZURE: Type.Object({
    connectionString: text(
      'Of an Event Hub: Endpoint=sb://host/;SharedAccessKeyName=name;SharedAccessKey=key;EntityPath=hub; a secret',
    ),
  }),
  GCP: Type.Object({
    pubSubTopic: text('projects/project/topics/topic'),
    serviceAccountKey: optionalText(
      "The JSON text of a service account key; the operator's when absent; a secret",
    ),
    endpoint: optionalText('Of a region'),
  }),
  AMAZON_KINESIS: Type.Object({
    iamAccessKeyId: Type.String(),
    iamSecretAccessKey: text('A secret'),
    kinesisArn: text('arn:aws:kinesis:region:account:stream/name'),
    endpoint: optionalText('A private one'),
  }),
  INFLUX_DB: Type.Object({
    uri: text('http://host:port or https://host:port'),
    version: optional(oneOf(influxVersions)),
    token: optionalText('Needed for V2; a secret'),
    orgId: optionalText('Needed for V2'),
    bucket: text('V1: database, or database/retention policy'),
    measurementName: text('A template'),
    ...user,
  }),
  KAFKA: Type.Object({
    kafkaTopic: Type.String(),
    kafkaBootstrapServers: text('host:port, several separated by commas'),
    securityProtocol: optional(oneOf(kafkaSecurityProtocols)),
    saslMechanism: optional(oneOf(kafkaSaslMechanisms)),
    saslJaasUsername: optionalText('Needed for SASL'),
    saslJaasPassword: optionalText('Needed for SASL; a secret'),
    ...tls,
  }),
  MS_TEAMS: Type.Object({ message: text('A template'), notificationUrl: text('A secret') }),
  SLACK: Type.Object({ message: text('A template'), webhookUrl: text('A secret') }),
  SQL: Type.Object({
    jdbcUrl: text('jdbc:postgresql://host:port/database, jdbc:mariadb://... or jdbc:mysql://...'),
    username: Type.String(),
    password: text('A secret'),
    tls: optional(oneOf(sqlTlsModes)),
    schema: optional(Type.String()),
    table: Type.String(),
    columns: Type.Array(sqlColumn, { minItems: 1, maxItems: 100 }),
    ignoreDuplicates: flag(
      'Whether a row whose unique key is there counts as delivered; true when absent',
    ),
    ...tls,
  }),
  MQTT: Type.Object({
    uri: text('mqtt://host:port or mqtts://host:port'),
    protocolVersion: optional(oneOf(mqttVersions)),
    clientId: optionalText('A random one when absent'),
    topic: text('A template'),
    qos: optional(Type.Unsafe<number>({ type: 'integer', enum: [...mqttQualities] })),
    retain: flag('Off when absent'),
    ...user,
    ...tls,
  }),
  AMQP: Type.Object({
    uri: text('amqp://host:port/vhost or amqps://host:port/vhost'),
    exchange: optionalText('The default exchange when absent'),
    routingKey: optionalText('A template; needed for the default exchange'),
    persistent: flag('true when absent'),
    mandatory: flag('A message that no queue takes is not delivered; true when absent'),
    ...user,
    ...tls,
  }),
  NATS: Type.Object({
    uri: text('nats://host:port or tls://host:port'),
    token: optionalText('A secret'),
    credentials: optionalText('The text of a credentials file; a secret'),
    subject: text('A template'),
    jetStream: flag('A stream must have stored the message'),
    ...user,
    ...tls,
  }),
} as const satisfies Readonly<Record<DescribedType, TObject>>;

export const describedOutputTypes = Object.keys(outputPropertySchemas) as readonly DescribedType[];
