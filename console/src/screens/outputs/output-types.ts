// Output types: the member with their properties, and the fields of the form for the common ones.
import type { components } from '../../../generated/interface-types.ts';

export type OutputConnector = components['schemas']['OutputConnector'];
export type Properties = Readonly<Record<string, unknown>>;

/** Place of a template, which decides how its values are written. */
export type TemplatePlace = 'json' | 'text' | 'url';

interface FieldBase {
  /** Path of the member below the property object, such as `oauth2.tokenUrl`. */
  readonly member: string;
  /** Only shown while another member has this value. */
  readonly when?: { readonly member: string; readonly value: string };
}

/**
 * How a member is edited. `lines` is a list with one element per line, `pairs` a map with
 * `name: value` per line, `phones` a list of `+41 791234567`.
 */
export type OutputField =
  | (FieldBase & { readonly kind: 'text' | 'secret' | 'flag' | 'lines' | 'pairs' | 'phones' })
  | (FieldBase & { readonly kind: 'device' | 'notify' | 'minutes' })
  | (FieldBase & {
      readonly kind: 'template';
      readonly place: TemplatePlace;
      readonly isLong?: boolean;
    })
  | (FieldBase & { readonly kind: 'choice'; readonly options: readonly (string | number)[] });

interface OutputType {
  readonly propertiesKey: string;
  /** Undefined: the properties are edited as JSON. */
  readonly fields?: readonly OutputField[];
  /** What a new one begins with; of types edited as JSON also the example. */
  readonly first: Properties;
  /** Place of the custom payload; absent where the type has its own templates. */
  readonly payloadPlace?: 'json' | 'text';
  readonly isRuleActionOnly?: boolean;
}

const authIs = (value: string) => ({ when: { member: 'authType', value } });

const webhookFields: readonly OutputField[] = [
  { member: 'uri', kind: 'template', place: 'url' },
  { member: 'method', kind: 'choice', options: ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'] },
  { member: 'headers', kind: 'pairs' },
  {
    member: 'authType',
    kind: 'choice',
    options: ['NONE', 'BEARER', 'BASIC', 'HEADER', 'OAUTH2'],
  },
  { member: 'bearerToken', kind: 'secret', ...authIs('BEARER') },
  { member: 'basicCredentials', kind: 'secret', ...authIs('BASIC') },
  { member: 'authHeaders', kind: 'pairs', ...authIs('HEADER') },
  { member: 'oauth2.tokenUrl', kind: 'text', ...authIs('OAUTH2') },
  { member: 'oauth2.clientId', kind: 'text', ...authIs('OAUTH2') },
  { member: 'oauth2.clientSecret', kind: 'secret', ...authIs('OAUTH2') },
  { member: 'oauth2.scope', kind: 'text', ...authIs('OAUTH2') },
  { member: 'hmacSecret', kind: 'secret' },
];

const mqttFields: readonly OutputField[] = [
  { member: 'uri', kind: 'text' },
  { member: 'topic', kind: 'template', place: 'text' },
  { member: 'username', kind: 'text' },
  { member: 'password', kind: 'secret' },
  { member: 'clientId', kind: 'text' },
  { member: 'qos', kind: 'choice', options: [1, 2] },
  { member: 'protocolVersion', kind: 'choice', options: ['V5', 'V3_1_1'] },
  { member: 'retain', kind: 'flag' },
];

const alarmFields: readonly OutputField[] = [
  { member: 'name', kind: 'template', place: 'text' },
  {
    member: 'severity',
    kind: 'choice',
    options: ['INFO', 'WARNING', 'MINOR', 'MAJOR', 'CRITICAL'],
  },
  { member: 'clearWhen', kind: 'choice', options: ['RULE_FALSE', 'NEVER'] },
  { member: 'clearAfter', kind: 'minutes' },
  { member: 'escalateAfter', kind: 'minutes' },
  { member: 'remindEvery', kind: 'minutes' },
  { member: 'key', kind: 'template', place: 'text' },
  { member: 'notify', kind: 'notify' },
];

const message: OutputField = { member: 'message', kind: 'template', place: 'text', isLong: true };
const hot = '{{device.name}}: {{data}}';

/** The types that a client can create, the most used first. */
export const outputTypes: Readonly<Record<string, OutputType>> = {
  WEBHOOK: {
    propertiesKey: 'webhookProperties',
    fields: webhookFields,
    first: { uri: 'https://', method: 'POST', authType: 'NONE' },
    payloadPlace: 'json',
  },
  MAIL: {
    propertiesKey: 'mailProperties',
    fields: [
      { member: 'recipients', kind: 'lines' },
      { member: 'subjectTemplate', kind: 'template', place: 'text' },
      { member: 'messageTemplate', kind: 'template', place: 'text', isLong: true },
    ],
    first: { recipients: [], subjectTemplate: '{{device.name}}', messageTemplate: hot },
  },
  SLACK: {
    propertiesKey: 'slackProperties',
    fields: [{ member: 'webhookUrl', kind: 'secret' }, message],
    first: { webhookUrl: '', message: hot },
  },
  MS_TEAMS: {
    propertiesKey: 'msTeamsProperties',
    fields: [{ member: 'notificationUrl', kind: 'secret' }, message],
    first: { notificationUrl: '', message: hot },
  },
  SMS: {
    propertiesKey: 'smsProperties',
    fields: [
      { member: 'recipientPhones', kind: 'phones' },
      { member: 'messageText', kind: 'template', place: 'text', isLong: true },
    ],
    first: { recipientPhones: [], messageText: hot },
  },
  MQTT: {
    propertiesKey: 'mqttProperties',
    fields: mqttFields,
    first: { uri: 'mqtts://', topic: 'heliograph/{{deviceId}}', qos: 1, retain: false },
    payloadPlace: 'text',
  },
  ALARM: {
    propertiesKey: 'alarmProperties',
    fields: alarmFields,
    first: { name: '{{rule.name}}: {{device.name}}', severity: 'MAJOR', clearWhen: 'RULE_FALSE' },
    isRuleActionOnly: true,
  },
  CUSTOM_DATABASE: {
    propertiesKey: 'customDatabaseProperties',
    fields: [
      { member: 'topic', kind: 'text' },
      { member: 'useCurrentDevice', kind: 'flag' },
      { member: 'targetDeviceId', kind: 'device' },
    ],
    first: { topic: 'derived', useCurrentDevice: true },
    payloadPlace: 'json',
  },
  DOWNLINK: {
    propertiesKey: 'downlinkProperties',
    first: { downlinkType: 'LORA', downlinkPayload: { on: true } },
    isRuleActionOnly: true,
  },
  AMQP: {
    propertiesKey: 'amqpProperties',
    first: { uri: 'amqps://broker.example.com/vhost', routingKey: 'samples' },
    payloadPlace: 'text',
  },
  NATS: {
    propertiesKey: 'natsProperties',
    first: { uri: 'tls://nats.example.com', subject: 'samples.{{topic}}', jetStream: true },
    payloadPlace: 'text',
  },
  KAFKA: {
    propertiesKey: 'kafkaProperties',
    first: { kafkaTopic: 'samples', kafkaBootstrapServers: 'kafka.example.com:9093' },
    payloadPlace: 'text',
  },
  INFLUX_DB: {
    propertiesKey: 'influxProperties',
    first: {
      uri: 'https://influx.example.com',
      token: '',
      orgId: '',
      bucket: '',
      measurementName: '{{topic}}',
    },
  },
  SQL: {
    propertiesKey: 'sqlProperties',
    first: {
      jdbcUrl: 'jdbc:postgresql://db.example.com/samples',
      username: '',
      password: '',
      table: 'samples',
      columns: [{ column: 'temperature', path: 'data.temperature' }],
    },
  },
  AZURE: {
    propertiesKey: 'azureProperties',
    first: { connectionString: 'Endpoint=sb://example.servicebus.windows.net/;' },
    payloadPlace: 'text',
  },
  GCP: {
    propertiesKey: 'gcpProperties',
    first: { pubSubTopic: 'projects/project-1/topics/samples' },
    payloadPlace: 'text',
  },
  AMAZON_KINESIS: {
    propertiesKey: 'amazonKinesisProperties',
    first: { iamAccessKeyId: '', iamSecretAccessKey: '', kinesisArn: 'arn:aws:kinesis:' },
    payloadPlace: 'text',
  },
};

/** The property object of a connector; empty for types without one. */
export function propertiesOf(connector: OutputConnector): Properties {
  const key = outputTypes[connector.type]?.propertiesKey ?? '';
  return ((connector as Readonly<Record<string, unknown>>)[key] ?? {}) as Properties;
}

/** Value at a path such as `oauth2.tokenUrl`; undefined where it is missing. */
export function valueAt(properties: Properties, member: string): unknown {
  let value: unknown = properties;
  for (const name of member.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Properties)[name];
  }
  return value;
}

/** A copy with another value at the path; an empty text leaves the member out. */
export function withValue(properties: Properties, member: string, value: unknown): Properties {
  const [first = '', ...rest] = member.split('.');
  if (rest.length > 0) {
    const inner = (properties[first] ?? {}) as Properties;
    return { ...properties, [first]: withValue(inner, rest.join('.'), value) };
  }
  return { ...properties, [first]: value === '' ? null : value };
}

// Targets of outputs in words: where an output sends to, in the space of a table cell.

type Said = (properties: Properties) => string;

const text = (value: unknown) => (typeof value === 'string' ? value : '');
const list = (value: unknown) => (Array.isArray(value) ? (value as readonly unknown[]) : []);

function hostOf(value: unknown): string {
  const url = URL.parse(text(value));
  return url === null ? text(value) : `${url.host}${url.pathname === '/' ? '' : url.pathname}`;
}

const targets: Readonly<Record<string, Said>> = {
  WEBHOOK: ({ method, uri }) => `${text(method) || 'POST'} ${decoded(hostOf(uri))}`,
  MAIL: ({ recipients }) => list(recipients).map(text).join(', '),
  SMS: ({ recipientPhones }) =>
    (list(recipientPhones) as Properties[])
      .map(({ prefix, phone }) => `${text(prefix)} ${text(phone)}`)
      .join(', '),
  MQTT: ({ uri, topic }) => `${text(topic)} @ ${hostOf(uri)}`,
  AMQP: ({ uri, routingKey }) => `${text(routingKey)} @ ${hostOf(uri)}`,
  NATS: ({ uri, subject }) => `${text(subject)} @ ${hostOf(uri)}`,
  KAFKA: ({ kafkaTopic, kafkaBootstrapServers }) =>
    `${text(kafkaTopic)} @ ${text(kafkaBootstrapServers)}`,
  INFLUX_DB: ({ uri, bucket }) => `${text(bucket)} @ ${hostOf(uri)}`,
  SQL: ({ jdbcUrl, table }) => `${text(table)} @ ${hostOf(text(jdbcUrl).replace(/^jdbc:/, ''))}`,
  GCP: ({ pubSubTopic }) => text(pubSubTopic),
  AMAZON_KINESIS: ({ kinesisArn }) => text(kinesisArn).split(':').at(-1) ?? '',
  CUSTOM_DATABASE: ({ topic }) => text(topic),
  DOWNLINK: ({ downlinkType, topic }) => [downlinkType, topic].map(text).filter(Boolean).join(' '),
  ALARM: ({ severity, name }) => `${text(severity)} ${text(name)}`,
};

/** Empty for types whose target is a secret or the platform itself. */
export function targetOf(connector: OutputConnector): string {
  return targets[connector.type]?.(propertiesOf(connector)) ?? '';
}

/** Templates in a URL read better without their escapes. */
function decoded(address: string): string {
  return address.replaceAll('%7B', '{').replaceAll('%7D', '}');
}
