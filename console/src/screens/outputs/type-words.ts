// Names of the output types, for lists, forms and rules.
import { wordSet } from '../../words/word-set.ts';

export const typeWords = wordSet(
  {
    DATABASE: 'Database',
    CUSTOM_DATABASE: 'Store sample',
    WEBHOOK: 'Webhook',
    MAIL: 'Email',
    SMS: 'SMS',
    DOWNLINK: 'Device command',
    AZURE: 'Azure Event Hubs',
    GCP: 'Google Cloud Pub/Sub',
    AMAZON_KINESIS: 'Amazon Kinesis Data Streams',
    INFLUX_DB: 'InfluxDB',
    KAFKA: 'Kafka',
    MS_TEAMS: 'Microsoft Teams',
    SLACK: 'Slack',
    SQL: 'SQL database',
    MQTT: 'MQTT',
    AMQP: 'AMQP',
    NATS: 'NATS',
    ALARM: 'Alarm',
    INSTALLATION_MAIL: 'Email',
  },
  {
    DATABASE: 'Datenbank',
    CUSTOM_DATABASE: 'Messwert speichern',
    WEBHOOK: 'Webhook',
    MAIL: 'E-Mail',
    SMS: 'SMS',
    DOWNLINK: 'Gerätebefehl',
    AZURE: 'Azure Event Hubs',
    GCP: 'Google Cloud Pub/Sub',
    AMAZON_KINESIS: 'Amazon Kinesis Data Streams',
    INFLUX_DB: 'InfluxDB',
    KAFKA: 'Kafka',
    MS_TEAMS: 'Microsoft Teams',
    SLACK: 'Slack',
    SQL: 'SQL-Datenbank',
    MQTT: 'MQTT',
    AMQP: 'AMQP',
    NATS: 'NATS',
    ALARM: 'Alarm',
    INSTALLATION_MAIL: 'E-Mail',
  },
);

/** A type of another release is shown by its own name. */
export function typeNameOf(words: Readonly<Record<string, string>>, type: string): string {
  return words[type] ?? type;
}
