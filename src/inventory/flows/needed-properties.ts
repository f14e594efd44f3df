// Which properties an output connector of each type cannot do without, so that one answer names all that are missing (contract 9).
import type { OutputConnectorType } from '../../model/connector.ts';
import type { JsonObject } from '../../model/json.ts';

type Needed = (sent: JsonObject) => readonly string[];

/** The order is that in which they are named. */
export const neededMembers: Readonly<Partial<Record<OutputConnectorType, Needed>>> = {
  CUSTOM_DATABASE: ({ useCurrentDevice }) => [
    'topic',
    ...(useCurrentDevice === false ? ['targetDeviceId'] : []),
  ],
  WEBHOOK: ({ authType }) => ['uri', ...neededFor(authType, webhookCredentials)],
  MAIL: () => ['subjectTemplate', 'messageTemplate', 'recipients'],
  SMS: () => ['messageText', 'recipientPhones'],
  DOWNLINK: ({ downlinkType, raw }) => [
    ...(downlinkType === 'MQTT' ? ['topic'] : []),
    ...(raw === true ? ['rawDownlinkPayload'] : []),
  ],
  AZURE: () => ['connectionString'],
  GCP: () => ['pubSubTopic'],
  AMAZON_KINESIS: () => ['iamAccessKeyId', 'kinesisArn', 'iamSecretAccessKey'],
  INFLUX_DB: ({ version }) => [
    'uri',
    ...(version === 'V1' ? [] : ['token', 'orgId']),
    'bucket',
    'measurementName',
  ],
  KAFKA: ({ securityProtocol }) => [
    'kafkaTopic',
    'kafkaBootstrapServers',
    ...(securityProtocol === 'PLAINTEXT' || securityProtocol === 'SSL'
      ? []
      : ['saslJaasUsername', 'saslJaasPassword']),
  ],
  MS_TEAMS: () => ['message', 'notificationUrl'],
  SLACK: () => ['message', 'webhookUrl'],
  SQL: () => ['jdbcUrl', 'username', 'password', 'table', 'columns'],
  MQTT: () => ['uri', 'topic'],
  AMQP: ({ exchange }) => ['uri', ...(exchange ? [] : ['routingKey'])],
  NATS: () => ['uri', 'subject'],
};

const webhookCredentials: Readonly<Record<string, string>> = {
  BEARER: 'bearerToken',
  BASIC: 'basicCredentials',
  OAUTH2: 'oauth2',
};

function neededFor(value: unknown, table: Readonly<Record<string, string>>): readonly string[] {
  const name = typeof value === 'string' && Object.hasOwn(table, value) ? table[value] : undefined;
  return name === undefined ? [] : [name];
}
