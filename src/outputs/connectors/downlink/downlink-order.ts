// Downlink order: what a downlink connector asks the platform to send to a device.
import type { DownlinkCommand } from '../../../model/downlink.ts';

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
