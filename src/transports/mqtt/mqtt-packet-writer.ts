// MQTT packet writer: the bytes of the packets that the broker sends.
import { generate, type IConnackPacket, type Packet, writeToStream } from 'mqtt-packet';
import type { MessageProperties } from './mqtt-properties.ts';
import type { ProtocolLevel } from './mqtt-packet-reader.ts';
import type { SetTimer } from '../../structures/timers.ts';
import { mqttLimits } from './mqtt-limits.ts';
import type { DeliveryOutcome, MqttSession } from './mqtt-session.ts';

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
class PacketWriter {
  readonly #protocolVersion: ProtocolLevel;

  constructor(protocolVersion: ProtocolLevel) {
    this.#protocolVersion = protocolVersion;
  }

  #bytesOf(packet: Packet): Buffer {
    return generate(packet, { protocolVersion: this.#protocolVersion });
  }

  /** Properties, reasons of acknowledgements and DISCONNECT are of MQTT 5. */
  connack(returnCode: ReturnCode, isResumed: boolean, properties?: ConnackProperties): Buffer {
    // MQTT 3.1 reserves the flag.
    const sessionPresent = isResumed && this.#protocolVersion > 3;
    if (this.#protocolVersion < 5)
      return this.#bytesOf({ cmd: 'connack', returnCode, sessionPresent });
    const reasonCode = connackReasons[returnCode];
    return this.#bytesOf({
      cmd: 'connack',
      reasonCode,
      sessionPresent,
      ...(properties && { properties }),
    });
  }

  acknowledgement(
    cmd: keyof typeof acknowledgementHeaders,
    messageId: number,
    reasonCode = 0,
  ): Buffer {
    const number = [messageId >> 8, messageId & 0xff];
    if (reasonCode === 0) return Buffer.from([acknowledgementHeaders[cmd], 2, ...number]);
    return Buffer.from([acknowledgementHeaders[cmd], 3, ...number, reasonCode]);
  }

  suback(messageId: number, granted: number[]): Buffer {
    return this.#bytesOf({ cmd: 'suback', messageId, granted });
  }

  unsuback(messageId: number, granted: number[]): Buffer {
    return this.#bytesOf({
      cmd: 'unsuback',
      messageId,
      granted: this.#protocolVersion < 5 ? [] : granted,
    });
  }

  disconnect(reasonCode: number): Buffer {
    return this.#bytesOf({ cmd: 'disconnect', reasonCode });
  }

  pingresp(): Buffer {
    return pingResponse;
  }

  publish({
    properties,
    ...message
  }: {
    readonly topic: string;
    readonly payload: Buffer;
    readonly qos: 0 | 1;
    readonly retain: boolean;
    /** With QoS 1. */
    readonly messageId?: number;
    /** Only MQTT 5 sends them. */
    readonly properties?: MessageProperties | undefined;
  }): Buffer {
    return this.#bytesOf({
      cmd: 'publish',
      dup: false,
      ...message,
      ...(properties && { properties }),
    });
  }
}

const writers: Readonly<Record<ProtocolLevel, PacketWriter>> = {
  3: new PacketWriter(3),
  4: new PacketWriter(4),
  5: new PacketWriter(5),
};

export function packetWriter(level: ProtocolLevel): PacketWriter {
  return writers[level];
}

// MQTT message writer: sends one message to one session, and waits for its acknowledgement (MQTT 4.3).

/**
 * Resolves with `offline` when the connection is closed, or when too many messages or bytes wait
 * for the client.
 */
export type WriteMessage = (
  session: MqttSession,
  topic: string,
  message: {
    readonly payload: Buffer;
    readonly qos: 0 | 1;
    readonly retain: boolean;
    readonly properties?: MessageProperties | undefined;
  },
) => Promise<DeliveryOutcome>;

/** MQTT 1.5.3. */
const topicBytesMax = 65_535;

export function createMessageWriter(setTimer: SetTimer): WriteMessage {
  return async (session, topic, message) => {
    const { output, level } = session;
    const isPossible =
      session.isOpen() && !output.isOverfull && Buffer.byteLength(topic) <= topicBytesMax;
    if (!isPossible) return 'offline';
    const writer = packetWriter(level);
    if (message.qos === 0) {
      const bytes = writer.publish({ topic, ...message });
      // MQTT-3.1.2-24 of MQTT 5: it is not sent.
      if (bytes.length > session.packetBytesMax) return 'offline';
      output.write(bytes);
      await output.written();
      if (!session.isOpen()) return 'offline';
      return 'sent';
    }
    const messageId = session.nextNumber();
    if (messageId === undefined) return 'offline';
    const bytes = writer.publish({ topic, ...message, messageId });
    if (bytes.length > session.packetBytesMax) return 'offline';
    const outcome = acknowledgementOf(session, messageId, setTimer);
    output.write(bytes);
    return outcome;
  };
}

/** Resolves with `sent` when the client takes too long. */
function acknowledgementOf(
  session: MqttSession,
  number: number,
  setTimer: SetTimer,
): Promise<DeliveryOutcome> {
  const outcome = Promise.withResolvers<DeliveryOutcome>();
  const unacknowledged = (session.unacknowledged ??= new Map());
  const settle = (reached: DeliveryOutcome): void => {
    stopWaiting();
    unacknowledged.delete(number);
    if (unacknowledged.size === 0 && session.unacknowledged === unacknowledged)
      session.unacknowledged = undefined;
    outcome.resolve(reached);
  };
  const stopWaiting = setTimer(() => settle('sent'), mqttLimits.acknowledgedWithinMs);
  unacknowledged.set(number, settle);
  return outcome.promise;
}
