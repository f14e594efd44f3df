// Connector services: what the installation gives to the connectors that it opens.
import type { EgressGuard } from '../egress/guard.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { WriteSample } from './database/written-sample.ts';
import type { OrderDownlink } from './downlink/downlink-order.ts';
import type { MailSender, MissingMailSetting } from './mail/mail-sender.ts';

export interface ConnectorServices {
  /** Every address of a target passes it, except those of the operator's own servers. */
  readonly egress: EgressGuard;
  /** The only clock of signatures and tokens. */
  readonly now: () => EpochMs;
  /** Needs `SMTP_URL` and `MAIL_FROM`. */
  readonly mails: MailSender | MissingMailSetting;
  readonly smsGatewayUrl: string | undefined;
  /** The JSON string that connectors to Pub/Sub without a key of their own use. */
  readonly gcpServiceAccountKey: string | undefined;
  readonly writeSample: WriteSample;
  readonly orderDownlink: OrderDownlink;
}
