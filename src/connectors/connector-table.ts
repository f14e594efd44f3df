// Every connector type that this program can deliver to: one row and one file each.
import type { OutputConnectorType } from '../model/connector.ts';
import { amazonKinesisConnector } from './amazon-kinesis.ts';
import { amqpConnector } from './amqp.ts';
import { azureConnector } from './azure-event-hubs.ts';
import { msTeamsConnector, slackConnector } from './chat.ts';
import type { OutboundConnector } from './connector.ts';
import { customDatabaseConnector, databaseConnector, type WriteSample } from './database.ts';
import { downlinkConnector, type OrderDownlink } from './downlink.ts';
import { gcpConnector } from './gcp-pub-sub.ts';
import { influxDbConnector } from './influx-db.ts';
import { kafkaConnector } from './kafka.ts';
import { mailConnector } from './mail.ts';
import type { MailSender } from './mail-sender.ts';
import { mqttConnector } from './mqtt.ts';
import { natsConnector } from './nats.ts';
import { smsConnector } from './sms.ts';
import { sqlConnector } from './sql.ts';
import { webhookConnector } from './webhook.ts';

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
