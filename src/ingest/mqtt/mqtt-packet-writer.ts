// MQTT packet writer: the bytes of the packets that the broker sends.
import { generate, type Packet, writeToStream } from 'mqtt-packet';
import type { ProtocolLevel } from './mqtt-packet-reader.ts';

// Otherwise the library keeps a buffer for each of 65,536 numbers.
writeToStream.cacheNumbers = false;

/** Return codes of CONNACK (MQTT 3.1.1, 3.2.2.3). */
export const returnCodes = {
  accepted: 0,
  unacceptableLevel: 1,
  identifierRejected: 2,
  serverUnavailable: 3,
  notAuthorized: 5,
} as const;

export type ReturnCode = (typeof returnCodes)[keyof typeof returnCodes];

const acknowledgementHeaders = { puback: 0x40, pubrec: 0x50, pubrel: 0x62, pubcomp: 0x70 } as const;

/** Code of a subscription that is refused (MQTT 3.1.1, 3.9.3). */
export const refusedSubscription = 128;

const pingResponse = Buffer.from([0xd0, 0]);

/** Bytes of one version of MQTT. */
export interface PacketWriter {
  connack(returnCode: ReturnCode, isResumed: boolean): Buffer;
  acknowledgement(cmd: keyof typeof acknowledgementHeaders, messageId: number): Buffer;
  suback(messageId: number, granted: number[]): Buffer;
  unsuback(messageId: number): Buffer;
  pingresp(): Buffer;
  publish(message: OutboundPublish): Buffer;
}

export interface OutboundPublish {
  readonly topic: string;
  readonly payload: Buffer;
  readonly qos: 0 | 1;
  readonly retain: boolean;
  /** With QoS 1. */
  readonly messageId?: number;
}

function createWriter(protocolVersion: ProtocolLevel): PacketWriter {
  const bytesOf = (packet: Packet): Buffer => generate(packet, { protocolVersion });
  return {
    connack: (returnCode, isResumed) => {
      // MQTT 3.1 reserves the flag.
      const sessionPresent = isResumed && protocolVersion > 3;
      return bytesOf({ cmd: 'connack', returnCode, sessionPresent });
    },
    // The most frequent packets: four bytes without the library's intermediate pieces.
    acknowledgement: (cmd, messageId) =>
      Buffer.from([acknowledgementHeaders[cmd], 2, messageId >> 8, messageId & 0xff]),
    suback: (messageId, granted) => bytesOf({ cmd: 'suback', messageId, granted }),
    unsuback: (messageId) => bytesOf({ cmd: 'unsuback', messageId, granted: [] }),
    pingresp: () => pingResponse,
    publish: (message) => bytesOf({ cmd: 'publish', dup: false, ...message }),
  };
}

const writers: Readonly<Record<ProtocolLevel, PacketWriter>> = {
  3: createWriter(3),
  4: createWriter(4),
};

export function packetWriter(level: ProtocolLevel): PacketWriter {
  return writers[level];
}
