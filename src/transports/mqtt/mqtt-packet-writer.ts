// MQTT packet writer: the bytes of the packets that the broker sends.
import { generate, type IConnackPacket, type Packet, writeToStream } from 'mqtt-packet';
import type { MessageProperties } from './mqtt-properties.ts';
import type { ProtocolLevel } from './mqtt-packet-reader.ts';

// Otherwise the library keeps a buffer for each of 65,536 numbers.
writeToStream.cacheNumbers = false;

/** Return codes of CONNACK (MQTT 3.1.1, 3.2.2.3). */
export const returnCodes = {
  accepted: 0,
  unacceptableLevel: 1,
  identifierRejected: 2,
  serverUnavailable: 3,
  /** MQTT 3.1.1 has the return code for a user name or password of a wrong form. */
  badAuthentication: 4,
  notAuthorized: 5,
} as const;

export type ReturnCode = (typeof returnCodes)[keyof typeof returnCodes];

const acknowledgementHeaders = { puback: 0x40, pubrec: 0x50, pubrel: 0x62, pubcomp: 0x70 } as const;

/** Code of a subscription that is refused (MQTT 3.1.1, 3.9.3). */
export const refusedSubscription = 128;

/** Reasons of MQTT 5, 2.4. */
export const reasonCodes = {
  noSubscription: 0x11,
  unspecified: 0x80,
  malformed: 0x81,
  implementationSpecific: 0x83,
  notAuthorized: 0x87,
  stopping: 0x8b,
  badAuthentication: 0x8c,
  keepAliveTimeout: 0x8d,
  takenOver: 0x8e,
  topicInvalid: 0x90,
  packetTooLarge: 0x95,
  quotaExceeded: 0x97,
  administrative: 0x98,
  sharedSubscriptions: 0x9e,
} as const;

/** Reasons of a CONNACK of MQTT 5, by return code. */
const connackReasons: Readonly<Record<ReturnCode, number>> = {
  [returnCodes.accepted]: 0,
  [returnCodes.unacceptableLevel]: 0x84,
  [returnCodes.identifierRejected]: 0x85,
  [returnCodes.serverUnavailable]: 0x88,
  [returnCodes.badAuthentication]: reasonCodes.badAuthentication,
  [returnCodes.notAuthorized]: reasonCodes.notAuthorized,
};

/** Properties of a CONNACK of MQTT 5. */
export type ConnackProperties = NonNullable<IConnackPacket['properties']>;

const pingResponse = Buffer.from([0xd0, 0]);

/** Bytes of one version of MQTT. */
interface PacketWriter {
  /** Properties, reasons of acknowledgements and DISCONNECT are of MQTT 5. */
  connack(returnCode: ReturnCode, isResumed: boolean, properties?: ConnackProperties): Buffer;
  acknowledgement(
    cmd: keyof typeof acknowledgementHeaders,
    messageId: number,
    reasonCode?: number,
  ): Buffer;
  suback(messageId: number, granted: number[]): Buffer;
  unsuback(messageId: number, reasons: number[]): Buffer;
  disconnect(reasonCode: number): Buffer;
  pingresp(): Buffer;
  publish(message: OutboundPublish): Buffer;
}

interface OutboundPublish {
  readonly topic: string;
  readonly payload: Buffer;
  readonly qos: 0 | 1;
  readonly retain: boolean;
  /** With QoS 1. */
  readonly messageId?: number;
  /** Only MQTT 5 sends them. */
  readonly properties?: MessageProperties | undefined;
}

function createWriter(protocolVersion: ProtocolLevel): PacketWriter {
  const bytesOf = (packet: Packet): Buffer => generate(packet, { protocolVersion });
  return {
    connack: (returnCode, isResumed, properties) => {
      // MQTT 3.1 reserves the flag.
      const sessionPresent = isResumed && protocolVersion > 3;
      if (protocolVersion < 5) return bytesOf({ cmd: 'connack', returnCode, sessionPresent });
      const reasonCode = connackReasons[returnCode];
      return bytesOf({
        cmd: 'connack',
        reasonCode,
        sessionPresent,
        ...(properties && { properties }),
      });
    },
    // The most frequent packets: four bytes without the library's intermediate pieces.
    acknowledgement: (cmd, messageId, reasonCode = 0) => {
      const number = [messageId >> 8, messageId & 0xff];
      if (reasonCode === 0) return Buffer.from([acknowledgementHeaders[cmd], 2, ...number]);
      return Buffer.from([acknowledgementHeaders[cmd], 3, ...number, reasonCode]);
    },
    suback: (messageId, granted) => bytesOf({ cmd: 'suback', messageId, granted }),
    unsuback: (messageId, granted) =>
      bytesOf({ cmd: 'unsuback', messageId, granted: protocolVersion < 5 ? [] : granted }),
    disconnect: (reasonCode) => bytesOf({ cmd: 'disconnect', reasonCode }),
    pingresp: () => pingResponse,
    publish: ({ properties, ...message }) =>
      bytesOf({ cmd: 'publish', dup: false, ...message, ...(properties && { properties }) }),
  };
}

const writers: Readonly<Record<ProtocolLevel, PacketWriter>> = {
  3: createWriter(3),
  4: createWriter(4),
  5: createWriter(5),
};

export function packetWriter(level: ProtocolLevel): PacketWriter {
  return writers[level];
}
