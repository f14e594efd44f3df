// Downlink: a message to a device, from the command to its acknowledgment (interface 2.10, contract 17 and 35).
import type { Connectivity } from './connector.ts';
import { dayMs, type EpochMs } from './instant.ts';
import type { Json } from './json.ts';

export const downlinkStates = ['QUEUED', 'SENT', 'ACKNOWLEDGED', 'FAILED', 'EXPIRED'] as const;
export type DownlinkState = (typeof downlinkStates)[number];

/**
 * What travels: LoRa devices have port and hexadecimal payload, MQTT devices a topic with a JSON or
 * hexadecimal payload.
 */
export interface DownlinkContent {
  readonly port: number | null;
  readonly confirmed: boolean | null;
  readonly payloadHex: string | null;
  /** Below the device's own topic, without a slash at its beginning. */
  readonly topic: string | null;
  /** Null when the payload is hexadecimal. */
  readonly payload: Json;
}

export interface Downlink extends DownlinkContent {
  readonly id: string;
  /** Service device id. */
  readonly deviceId: string;
  readonly connectivity: Connectivity;
  readonly created: EpochMs;
  readonly updated: EpochMs | null;
  readonly state: DownlinkState;
  /** Why it failed, or why it still waits. */
  readonly error: string | null;
  /** Whether it takes the place of what waits before it, here and at the network server. */
  readonly replaces: boolean;
  readonly tries: number;
  /** Null when nothing but the device or a network server decides. */
  readonly nextTryAt: EpochMs | null;
  readonly expiresAt: EpochMs;
  /** The network server's own id of it. */
  readonly serverReference: string | null;
  /** Of the request, rule or uplink that caused it. */
  readonly correlationId: string;
}

/** The body of a downlink request (contract 17), also what a rule's action sends. */
export interface DownlinkCommand {
  readonly raw?: boolean | null | undefined;
  readonly loraDownlink?:
    | {
        readonly port?: number | null | undefined;
        readonly confirmed?: boolean | null | undefined;
        readonly payloadHex?: string | null | undefined;
        readonly payload?: Json | undefined;
        readonly clearQueue?: boolean | null | undefined;
      }
    | null
    | undefined;
  readonly mqttDownlink?:
    | {
        readonly topic?: string | null | undefined;
        readonly payload?: Json | undefined;
        readonly payloadHex?: string | null | undefined;
        readonly contentType?: string | null | undefined;
      }
    | null
    | undefined;
}

export const downlinkLimits = {
  /** A device that cannot be reached must not fill the disk; one more is refused. */
  waitingPerDeviceMax: 100,
  /** Ended ones beyond this are deleted, the oldest first. */
  keptPerDeviceMax: 500,
  keptMs: 30 * dayMs,
  /** What was not sent by then is no longer sent. */
  expiryMs: 7 * dayMs,
  loraBytesMax: 242,
  loraPortMin: 1,
  loraPortMax: 223,
  topicLengthMax: 500,
  payloadLengthMax: 256 * 1024,
} as const;
