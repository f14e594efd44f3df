// Targets of outputs in words: where an output sends to, in the space of a table cell.
import { type OutputConnector, propertiesOf, type Properties } from './output-types.ts';

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
