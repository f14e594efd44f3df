// Every connector type that this program can deliver to: one row and one file each.
import type { OutputConnectorType } from '../model/connector.ts';
import { amazonKinesisConnector } from './amazon-kinesis/amazon-kinesis-sender.ts';
import { amqpConnector } from './amqp/amqp-sender.ts';
import { azureConnector } from './azure-event-hubs/azure-event-hubs-sender.ts';
import { msTeamsConnector, slackConnector } from './chat-target.ts';
import type { OutboundConnector } from './target.ts';
import {
  customDatabaseConnector,
  databaseConnector,
  type WriteSample,
} from './database/database-sender.ts';
import { downlinkConnector, type OrderDownlink } from './downlink/downlink-sender.ts';
import { gcpConnector } from './gcp-pub-sub/gcp-pub-sub-sender.ts';
import { influxDbConnector } from './influx-db/influx-db-sender.ts';
import { kafkaConnector } from './kafka/kafka-sender.ts';
import { mailConnector } from './mail/mail.ts';
import type { MailSender } from './mail/mail-sender.ts';
import { mqttConnector } from './mqtt/mqtt-sender.ts';
import { natsConnector } from './nats/nats-sender.ts';
import { smsConnector } from './sms/sms.ts';
import { sqlConnector } from './sql/sql-sender.ts';
import { webhookConnector } from './webhook/webhook-sender.ts';

/** What types need that speak through the operator's servers or into the platform itself. */
export interface ConnectorSettings {
  /** Undefined without `SMTP_URL` and `MAIL_FROM`. */
  readonly mails: MailSender | undefined;
  readonly smsGatewayUrl: string | undefined;
  /** The JSON text that connectors to Pub/Sub without a key of their own use. */
  readonly gcpServiceAccountKey: string | undefined;
  readonly writeSample: WriteSample;
  readonly orderDownlink: OrderDownlink;
}

export type ConnectorTable = ReadonlyMap<OutputConnectorType, OutboundConnector>;

/** The types that can be delivered to with these settings. */
export function connectorTable(settings: ConnectorSettings): ConnectorTable {
  const { mails, smsGatewayUrl, gcpServiceAccountKey, writeSample, orderDownlink } = settings;
  const rows: readonly OutboundConnector[] = [
    webhookConnector,
    slackConnector,
    msTeamsConnector,
    mqttConnector,
    amqpConnector,
    natsConnector,
    kafkaConnector,
    influxDbConnector,
    sqlConnector,
    amazonKinesisConnector,
    azureConnector,
    gcpConnector(gcpServiceAccountKey),
    databaseConnector(writeSample),
    customDatabaseConnector(writeSample),
    downlinkConnector(orderDownlink),
    ...(mails === undefined ? [] : [mailConnector(mails)]),
    ...(smsGatewayUrl === undefined ? [] : [smsConnector(smsGatewayUrl)]),
  ];
  return new Map(rows.map((row) => [row.type, row]));
}
