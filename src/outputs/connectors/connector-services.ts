// Connector services: what the installation gives to the connectors that it opens, and what these ask of it.
import type { DownlinkCommand } from '../../model/downlink.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import type { MailFile } from '../../model/mail.ts';
import type { EgressGuard } from '../egress/guard.ts';
import type { MailSender, MissingMailSetting } from './mail/mail-sender.ts';
import type { SendOutcome } from './target.ts';

export interface ConnectorServices {
  /** Every address of a target passes it, except those of the operator's own servers. */
  readonly egress: EgressGuard;
  /** The only clock of signatures and tokens. */
  readonly now: () => EpochMs;
  /** Needs `SMTP_URL` and `MAIL_FROM`. */
  readonly mails: MailSender | MissingMailSetting;
  /** The parts that mails of one report have in common; none when they are no longer kept. */
  readonly mailContent: (contentId: string) => Promise<readonly MailFile[]>;
  readonly smsGatewayUrl: string | undefined;
  /** The JSON string that connectors to Pub/Sub without a key of their own use. */
  readonly gcpServiceAccountKey: string | undefined;
  readonly writeSample: WriteSample;
  readonly orderDownlink: OrderDownlink;
}

// Written sample: what an output connector stores in the platform itself.

/** Passes the same checks as the sample of a device. */
export interface WrittenSample {
  readonly deviceId: string;
  readonly topic: string;
  readonly timestamp: number;
  readonly data: JsonObject;
  readonly meta?: JsonObject;
  readonly correlationId: string;
  readonly ruleHops: number;
  /** Whether rules evaluate the sample. */
  readonly invokeRules: boolean;
  /** The device of the trigger; only devices of its organization can be written to. */
  readonly from: string;
}

export type WriteSample = (sample: WrittenSample) => Promise<SendOutcome>;

// Downlink order: what a downlink connector asks the platform to send to a device.

export interface DownlinkOrder {
  /**
   * Service device id of the device that triggered the rule; only devices of its workspace can
   * receive the command.
   */
  readonly from: string;
  readonly to: string;
  readonly command: DownlinkCommand;
  readonly correlationId: string;
  /** An order with a known key is not queued again. */
  readonly idempotencyKey: string;
}

/** Queues the downlinks; throws a Problem for a command that cannot be sent. */
export type OrderDownlink = (order: DownlinkOrder) => Promise<void>;
