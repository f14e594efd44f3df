// MQTT packet reader: complete packets of clients, read by the packet library and checked against the standard.
import type {
  IConnectPacket,
  IPublishPacket,
  ISubscribePacket,
  IUnsubscribePacket,
  Packet,
} from 'mqtt-packet';
import { parser } from 'mqtt-packet';
import { MalformedPacket } from './mqtt-packet-framer.ts';

/** Levels of the protocol: 3 is MQTT 3.1, 4 is 3.1.1, 5 is MQTT 5. */
export type ProtocolLevel = 3 | 4 | 5;

export type ConnectPacket = IConnectPacket & { readonly protocolVersion: ProtocolLevel };

/** A packet of QoS 1 or 2 has a number. */
export type PublishPacket = IPublishPacket;

interface Numbered<C extends string> {
  readonly cmd: C;
  readonly messageId: number;
  /** Of MQTT 5. */
  readonly reasonCode?: number;
}

/** The last packet of a client; MQTT 5 has a reason and properties. */
interface DisconnectPacket {
  readonly cmd: 'disconnect';
  readonly reasonCode?: number;
  readonly properties?: { readonly sessionExpiryInterval?: number };
}

/** Packets of a client that has logged in. */
type ClientPacket =
  | PublishPacket
  | (ISubscribePacket & Numbered<'subscribe'>)
  | (IUnsubscribePacket & Numbered<'unsubscribe'>)
  | Numbered<'puback' | 'pubrec' | 'pubrel' | 'pubcomp'>
  | { readonly cmd: 'pingreq' }
  | DisconnectPacket;

export type SubscribePacket = Extract<ClientPacket, { readonly cmd: 'subscribe' }>;
export type UnsubscribePacket = Extract<ClientPacket, { readonly cmd: 'unsubscribe' }>;

/** The client speaks another version of MQTT. */
export class UnsupportedLevel extends Error {}

const protocolNames = ['MQTT', 'MQIsdp'];
const qosMax = 2;
const duplicateFlag = 8;
/** First bytes of PUBREL, SUBSCRIBE and UNSUBSCRIBE. */
const repeatableHeaders = [0x62, 0x82, 0xa2];
const acknowledgementLength = 2;

/** One packet with its header is read at a time, so all connections of a level share a parser. */
type ReadOne = (bytes: Buffer) => Packet;

function createReader(settings?: object): ReadOne {
  let read: Packet | undefined;
  let fault: Error | undefined;
  const create = () =>
    parser(settings)
      .on('packet', (packet) => {
        read = packet;
      })
      .on('error', (error: Error) => {
        fault = error;
      });
  let shared = create();
  return (bytes) => {
    read = undefined;
    fault = undefined;
    try {
      shared.parse(bytes);
    } catch (error) {
      fault = error instanceof Error ? error : new Error(String(error));
    }
    const packet = read as Packet | undefined;
    read = undefined;
    if (fault === undefined && packet !== undefined) return packet;
    // What a broken packet leaves in a parser must not reach the next one.
    shared = create();
    throw new MalformedPacket(fault?.message ?? 'incomplete packet');
  };
}

const readers: Readonly<Record<ProtocolLevel, ReadOne>> = {
  3: createReader({ protocolVersion: 3 }),
  4: createReader({ protocolVersion: 4 }),
  5: createReader({ protocolVersion: 5 }),
};

/**
 * Reads the first packet of a connection. It must be a CONNECT. Throws UnsupportedLevel for another
 * version of MQTT, which is answered, and MalformedPacket, which is not.
 */
export function readConnect(bytes: Buffer): ConnectPacket {
  checkLevel(bytes);
  // A parser takes the settings of the CONNECT that it has read, so this one is used once.
  const packet = createReader()(bytes) as ConnectPacket;
  if ((packet.will?.qos ?? 0) > qosMax) throw new MalformedPacket('invalid will QoS 3');
  checkStrings(bytes, [packet.clientId, packet.username ?? '', packet.will?.topic ?? '']);
  return packet;
}

/** MQTT 3.1.2.2: the name of the protocol, and then the level. */
function checkLevel(bytes: Buffer): void {
  const nameAt = bytes.findIndex((byte, i) => i > 0 && byte < 0x80) + 3;
  const name = protocolNames.find((one) => bytes.toString('latin1', nameAt).startsWith(one));
  if (name === undefined) throw new MalformedPacket('invalid protocol name');
  // Bridges set the highest bit.
  const level = (bytes[nameAt + name.length] ?? 0) & 0x7f;
  if (!(level in readers)) throw new UnsupportedLevel(`protocol level ${level}`);
}

/** Throws MalformedPacket for what the standard does not permit to a client. */
export function readPacket(bytes: Buffer, level: ProtocolLevel): ClientPacket {
  if (level === 3) clearRepetition(bytes);
  const packet = readers[level](bytes);
  switch (packet.cmd) {
    case 'publish':
      if (packet.qos > 0) checkNumber(packet);
      // MQTT-3.3.2-2 and 4.7.3-1.
      if (packet.topic === '' || /[+#]/.test(packet.topic))
        throw new MalformedPacket('empty topic or wildcard in a publish topic');
      if (packet.properties?.topicAlias !== undefined)
        throw new MalformedPacket('topic aliases are not supported');
      checkStrings(bytes, [packet.topic]);
      return packet;
    case 'subscribe':
      checkFilters(packet.subscriptions.map(({ topic }) => topic));
      checkStrings(
        bytes,
        packet.subscriptions.map(({ topic }) => topic),
      );
      if (packet.properties?.subscriptionIdentifier !== undefined)
        throw new MalformedPacket('subscription identifiers are not supported');
      return checkNumber(packet);
    case 'unsubscribe':
      checkFilters(packet.unsubscriptions);
      checkStrings(bytes, packet.unsubscriptions);
      return checkNumber(packet);
    case 'puback':
    case 'pubrec':
    case 'pubrel':
    case 'pubcomp':
      // With a reason and properties they are longer.
      if (level < 5) checkLength(packet, acknowledgementLength);
      return checkNumber(packet);
    case 'pingreq':
      checkLength(packet, 0);
      return { cmd: packet.cmd };
    case 'disconnect':
      if (level < 5) checkLength(packet, 0);
      return packet;
    default:
      throw new MalformedPacket(`unexpected ${packet.cmd}`);
  }
}

/**
 * Reads a PUBLISH of which only the beginning was kept: without properties and payload. Throws
 * MalformedPacket.
 */
export function readPublishStart(bytes: Buffer): PublishPacket {
  const [header = 0] = bytes;
  const qos = (header >> 1) & 3;
  if (qos > qosMax) throw new MalformedPacket('the QoS of a publish is 3');
  const lengthAt = bytes.findIndex((byte, i) => i > 0 && byte < 0x80) + 1;
  const topicAt = lengthAt + 2;
  const numberAt = topicAt + bytes.readUInt16BE(lengthAt);
  if (numberAt + 2 > bytes.length) throw new MalformedPacket('the topic is longer than its packet');
  const topic = bytes.toString('utf8', topicAt, numberAt);
  const packet = {
    ...({ cmd: 'publish', topic, payload: '', qos: qos as 0 | 1 | 2 } as const),
    dup: (header & duplicateFlag) !== 0,
    retain: (header & 1) !== 0,
  } as const;
  if (qos === 0) return packet;
  return checkNumber({ ...packet, messageId: bytes.readUInt16BE(numberAt) });
}

/** Sets DUP of a PUBREL, SUBSCRIBE and UNSUBSCRIBE to 0, as in MQTT 3.1.1: MQTT 3.1 permits it. */
function clearRepetition(bytes: Buffer): void {
  const header = bytes[0]!;
  if (repeatableHeaders.includes(header & ~duplicateFlag)) bytes[0] = header & ~duplicateFlag;
}

/** MQTT-2.3.1-1: not zero. */
function checkNumber<P extends { messageId?: number }>(packet: P): P & { messageId: number } {
  const { messageId = 0 } = packet;
  if (messageId < 1) throw new MalformedPacket('missing packet identifier');
  return packet as P & { messageId: number };
}

function checkLength({ length }: { length?: number }, wanted: number): void {
  if (length !== wanted) throw new MalformedPacket('wrong length');
}

/** MQTT-3.8.3-3 and 3.10.3-2: at least one. MQTT 4.7.1: where wildcards may be. */
function checkFilters(filters: readonly string[]): void {
  if (filters.length === 0) throw new MalformedPacket('missing topic filter');
  for (const filter of filters) {
    if (filter === '') throw new MalformedPacket('empty topic filter');
    const misplaced = filter
      .split('/')
      .some((level, i, { length }) =>
        level.length > 1 ? /[+#]/.test(level) : level === '#' && i < length - 1,
      );
    if (misplaced) throw new MalformedPacket('misplaced wildcard');
  }
}

/** MQTT 1.5.3: UTF-8, without U+0000. */
function checkStrings(bytes: Buffer, strings: readonly string[]): void {
  for (const one of strings) {
    if (one.includes('\0')) throw new MalformedPacket('a string with U+0000');
    // The decoder replaces what is not UTF-8 with U+FFFD, which a packet may also contain itself.
    if (one.includes('\ufffd') && !bytes.includes('\ufffd'))
      throw new MalformedPacket('string is not valid UTF-8');
  }
}
