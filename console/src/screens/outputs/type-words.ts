// Names of the output types, for lists, forms and rules.
import { wordSet } from '../../words/word-set.ts';

export const typeWords = wordSet(
  {
    DATABASE: 'Database',
    CUSTOM_DATABASE: 'Store a sample',
    WEBHOOK: 'Webhook',
    MAIL: 'E-mail',
    SMS: 'SMS',
    DOWNLINK: 'Command to a device',
    AZURE: 'Azure Event Hubs',
    GCP: 'Google Pub/Sub',
    AMAZON_KINESIS: 'Amazon Kinesis',
    INFLUX_DB: 'InfluxDB',
    KAFKA: 'Kafka',
    MS_TEAMS: 'Microsoft Teams',
    SLACK: 'Slack',
    SQL: 'SQL database',
    MQTT: 'MQTT',
    AMQP: 'AMQP',
    NATS: 'NATS',
    ALARM: 'Alarm',
  },
  {
    DATABASE: 'Datenbank',
    CUSTOM_DATABASE: 'Messwert speichern',
    WEBHOOK: 'Webhook',
    MAIL: 'E-Mail',
    SMS: 'SMS',
    DOWNLINK: 'Befehl an ein Gerät',
    AZURE: 'Azure Event Hubs',
    GCP: 'Google Pub/Sub',
    AMAZON_KINESIS: 'Amazon Kinesis',
    INFLUX_DB: 'InfluxDB',
    KAFKA: 'Kafka',
    MS_TEAMS: 'Microsoft Teams',
    SLACK: 'Slack',
    SQL: 'SQL-Datenbank',
    MQTT: 'MQTT',
    AMQP: 'AMQP',
    NATS: 'NATS',
    ALARM: 'Alarm',
  },
);

/** A type of another release is shown by its own name. */
export function typeNameOf(words: Readonly<Record<string, string>>, type: string): string {
  return words[type] ?? type;
}
